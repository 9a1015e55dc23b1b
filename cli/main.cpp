#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "ayatori/base/blas_kernels.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/printable.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/mpi_algorithms.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/session/build_info.hpp"
#include "cli/command.hpp"

namespace {

using namespace ayatori;

constexpr std::array<cli::AddCommand, 13> commands{
    cli::add_solve,   cli::add_eigen,    cli::add_probe,     cli::add_collectives, cli::add_map,
    cli::add_predict, cli::add_generate, cli::add_bench,     cli::add_knowledge,   cli::add_report,
    cli::add_help,    cli::add_man,      cli::add_completion};

/// An exit status that the command line promises: a broken invariant of ours counts as a failed environment.
int status_of(ErrorKind kind) {
  return kind == ErrorKind::bad_input ? 2 : 3;
}

/// Longest text of an error, one line: names and values from files stand in it.
constexpr std::size_t longest_message = 4000;

/// Reports an error once. Where the other ranks do not know of it, they wait for this one: then the job has
/// to end.
int report(const comm::Comm& world, const char* text, int status, bool agreed) {
  if (!agreed || world.rank() == 0) fmt::print(stderr, "ayatori: {}\n", printable(text, longest_message));
  if (!agreed && world.size() > 1) comm::abort_job(status);
  return status;
}

/// What a wrong command line gets: what is wrong with it, and, if it is empty, the help.
cli::Run refuse(const CLI::App& app, const cli::CommandFacts& root, const std::vector<std::string>& words,
                const std::string& error) {
  std::string text = cli::explain_names(root, words);
  if (text.empty()) text = words.empty() ? "say what to do, for example: ayatori solve A.mtx" : error;
  const cli::CommandFacts& command = cli::last_command(root, words);
  const std::string where =
      fmt::format("{} --help lists the {}", command.path, command.commands.empty() ? "options" : "commands");
  const std::string help = words.empty() ? app.help() : "";
  return [=](const comm::Comm& world) {
    if (world.rank() == 0) {
      fmt::print("{}", help);
      fmt::print(stderr, "ayatori: {} ({})\n", text, where);
    }
    return status_of(ErrorKind::bad_input);
  };
}

/// Rewords what the parser says of a word that is no number: "Could not convert: --rtol = abc".
std::string in_our_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view unconverted = "Could not convert: ";
  const auto equals = text.find(" = ");
  if (!text.starts_with(unconverted) || equals == std::string::npos) return text;
  return fmt::format("{} {}: want a number", text.substr(unconverted.size(), equals - unconverted.size()),
                     text.substr(equals + 3));
}

/// What the command line asks for. Every rank parses the same words; where they fail, rank 0 says so.
cli::Run parse(CLI::App& app, cli::Command& root, int argc, char** argv) {
  cli::Run run;
  bool verbose = false;
  auto* in_detail = app.add_flag("--verbose", verbose, "With --version: how and with what this was built");
  in_detail->needs(app.set_version_flag("--version", version, "Say the version and exit"));
  app.require_subcommand(1);
  for (const cli::AddCommand add : commands) add(root, run);
  root.show_words();
  root.examples(
      {{"ayatori solve A.mtx -o x.mtx", "solves A x = (1, ..., 1) and writes x; also .npz, .mat, .rua, ..."},
       {"mpirun -n 4 ayatori solve A.npz --rhs b.npy -o x.npy",
        "the same on four ranks, with a b of one's own"},
       {"ayatori solve poisson3d-7:n=80 --explain", "a generated matrix, and why the method was chosen"}});
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    return [verbose](const comm::Comm& world) {
      const std::string text = verbose ? to_text(session::build_info()) : fmt::format("{}\n", version);
      if (world.rank() == 0) fmt::print("{}", text);
      return 0;
    };
  } catch (const CLI::Success& asked_for_help) {
    return [&app, asked_for_help](const comm::Comm& world) {
      return world.rank() == 0 ? app.exit(asked_for_help) : 0;
    };
  } catch (const CLI::ParseError& error) {
    return refuse(app, root.facts(), {argv + 1, argv + argc}, in_our_words(error));
  }
  return run;
}

/// Starts the program once more where OpenBLAS, which reads the environment when it is loaded, would compute
/// by kernels of old processors. If that fails, they will do.
void use_better_blas_kernels([[maybe_unused]] char** argv) {
#ifndef AYATORI_SMPI  // simulated ranks share a process
  const std::string better = better_blas_kernels();
  if (better.empty() || setenv("OPENBLAS_CORETYPE", better.c_str(), 0) != 0) return;
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);  // which keeps its name so
  if (failed) return;
  comm::unbind_calling_thread();  // else OpenMP would take its place for all that there is
  execv(program.c_str(), argv);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  try {
    use_better_blas_kernels(argv);
    CLI::App app("Parallel linear algebra that measures, chooses, verifies and explains.", "ayatori");
    cli::Command root(app);
    const cli::Run run = parse(app, root, argc, argv);
    comm::let_algorithms_be_forced();  // `collectives bench` and `tune` do
    const comm::Environment environment(argc, argv);
    const auto world = comm::Comm::world();
    try {
      return run(world);
    } catch (const Error& error) {
      return report(world, error.what(), status_of(error.kind()), error.agreed());
    } catch (const std::bad_alloc&) {
      return report(world, "out of memory: use more nodes, or a smaller problem", 3, false);
    } catch (const std::exception& error) {
      return report(world, error.what(), 3, false);
    }
  } catch (const cli::Answer& answer) {
    fmt::print("{}", answer.text);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ayatori: {}\n", error.what());
    return 3;
  }
}
