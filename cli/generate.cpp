#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "cli/command.hpp"
#include "cli/hold_signals.hpp"

namespace ayatori::cli {

namespace {

struct GenerateRequest {
  std::string spec;
  std::string output;
  bool list = false;
  int threads = 0;
};

std::string_view kind_of(const io::Generator& generator) {
  if (generator.is_complex) return generator.symmetric ? "  (Hermitian)" : "  (complex)";
  return generator.symmetric ? "  (symmetric)" : "";
}

/// What was asked for, hence on stdout.
void print_list() {
  for (const auto& generator : io::generators()) {
    fmt::print("{}{}\n    {}\n", generator.name, kind_of(generator), generator.description);
    for (const auto& p : generator.parameters) {
      fmt::print("    {}={:.12g}  {} ({:.12g} to {:.12g}{})\n", p.key, p.default_value, p.description, p.min,
                 p.max, p.integer ? ", whole" : "");
    }
  }
}

int run_generate(const comm::Comm& world, const GenerateRequest& arguments) {
  if (arguments.list) {
    if (world.rank() == 0) print_list();
    return 0;
  }
  comm::agree(world, [&] { io::check_matrix_output(arguments.output); });
  comm::set_threads(world, arguments.threads);
  const auto block = io::generate(world, arguments.spec);
  const bool is_complex = io::generator_of(arguments.spec).is_complex;
  const auto nonzeros = world.allreduce(block.nonzeros(), comm::ReduceOp::sum);
  {
    const HoldSignals hold(world);
    io::save_matrix(world, arguments.output, block, is_complex);
  }
  if (world.rank() == 0) {
    fmt::print(stderr, "{}: {}{} rows, {} nonzeros -> {}\n", arguments.spec,
               block.global_rows / (is_complex ? 2 : 1), is_complex ? " complex" : "",
               nonzeros / (is_complex ? 4 : 1), arguments.output);
  }
  return 0;
}

}  // namespace

void add_generate(Command& app, Run& run) {
  auto arguments = std::make_shared<GenerateRequest>();
  auto* command = app.add_subcommand("generate", "Write a test matrix to a file");
  command->examples({{"ayatori generate --list", "the generators, with parameters and defaults"},
                     {"ayatori generate convection3d:n=16,peclet=50 -o C.mtx", "writes a matrix"},
                     {"ayatori generate poisson2d-5:n=30 -o - | ayatori solve - -q", "hands it on"}});
  auto* list =
      command->add_flag("--list", arguments->list, "The generators with their parameters and defaults");
  auto* spec =
      command->add_option("SPEC", arguments->spec, "name:key=value,key=value, for example poisson3d-7:n=80");
  auto* output = command->add_option(
      "-o,--output", arguments->output,
      "File to write: .mtx, .mtx.gz (or .bz2, .xz, .zst), .npz or .petsc; -: standard output");
  command
      ->add_option("--threads", arguments->threads, "Threads per rank; 0: the cores of the node, shared out")
      ->check(non_negative());
  spec->needs(output);
  output->needs(spec);
  list->excludes(spec, output);
  command->callback([arguments, &run] {
    if (!arguments->list && arguments->spec.empty()) {
      throw_missing("generate: SPEC -o FILE, or --list,");
    }
    run = [arguments](const comm::Comm& world) { return run_generate(world, *arguments); };
  });
}

}  // namespace ayatori::cli
