#include <fmt/core.h>

#include "ayatori/base/find_named.hpp"
#include "ayatori/comm/threads.hpp"
#include "bench/papers/laplace.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/phases_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct LaplaceArguments {
  bench::LaplaceOptions options;
  BenchOptions bench;
};

void print_laplace(const bench::LaplaceResult& result) {
  fmt::print(stderr, "{} x {} ranks, {} sweeps per pass through memory\n", result.grid.rows,
             result.grid.columns, result.depth);
  print_phases("laplace", result.phases);
  print_phases("one sweep per pass", result.unblocked);
  fmt::print(stderr, "{:.1f} million updates per second, {:.1f} with one sweep per pass",
             1e-6 * result.updates_per_second, 1e-6 * result.unblocked_updates_per_second);
  if (result.stream_updates_per_second > 0)
    fmt::print(stderr, "; {:.2f} times the STREAM copy bound of {:.1f}",
               result.updates_per_second / result.stream_updates_per_second,
               1e-6 * result.stream_updates_per_second);
  fmt::print(stderr, "\nverified: bits of plain sweeps on a small grid, {:.2g} off the eigenmode\n",
             result.error);
}

int run_laplace(const comm::Comm& world, const LaplaceArguments& arguments) {
  const int threads = comm::set_threads(world, arguments.bench.threads);
  bench::LaplaceOptions options = arguments.options;
  options.repetitions = arguments.bench.repetitions;
  const auto result = bench::time_laplace(world, options);
  if (world.rank() == 0) print_laplace(result);
  Json json{{"schema", "ayatori.bench-laplace/1"},
            {"ranks", world.size()},
            {"threads", threads},
            {"n", options.n},
            {"sweeps", options.sweeps},
            {"form", options.form},
            {"depth", result.depth},
            {"grid", {result.grid.rows, result.grid.columns}},
            {"seconds", phases_json(result.phases)},
            {"unblocked_seconds", phases_json(result.unblocked)},
            {"updates_per_second", result.updates_per_second},
            {"unblocked_updates_per_second", result.unblocked_updates_per_second},
            {"largest_error", result.error}};
  if (options.stream_elements > 0) json["stream_updates_per_second"] = result.stream_updates_per_second;
  write_json(world, arguments.bench.json, json);
  return 0;
}

void add_options(Command& command, bench::LaplaceOptions& options) {
  command.add_option("--n", options.n, "Rows and columns of points")->capture_default_str();
  command.add_option("--sweeps", options.sweeps, "Sweeps in a repetition")->capture_default_str();
  command
      .add_option(
          "--depth", options.depth,
          "Sweeps from exchange to exchange, in one pass through memory; 0: the fastest of 1, 2, 4, ...")
      ->capture_default_str();
  command.add_option("--form", options.form, "Exchange: " + names_of(bench::laplace_forms()))
      ->capture_default_str();
}

}  // namespace

void add_bench_laplace(Command& bench, Run& run) {
  auto arguments = std::make_shared<LaplaceArguments>();
  auto& options = arguments->options;
  options.stream_elements = 4'000'000;
  Command* command = bench.add_subcommand("laplace", "Jacobi sweeps of the 5-point Laplace operator");
  command->examples(
      {{"ayatori bench laplace --n 64 --sweeps 8 --elements 1000 --repetitions 2", "a small grid"},
       {"mpirun -n 2 ayatori bench laplace --n 64 --sweeps 8 --elements 1000 --form overlap --repetitions 2",
        "messages during the sweep"}});
  add_options(*command, options);
  command
      ->add_option("--elements", options.stream_elements,
                   "Doubles per vector and rank of a STREAM run in turns; 0: none")
      ->capture_default_str();
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_laplace);
}

GridSetup grid_laplace(Command& command) {
  auto options = std::make_shared<bench::LaplaceOptions>();
  add_options(command, *options);
  add_grid_repetitions(command, options->repetitions);
  return {[options] {
            find_named(bench::laplace_forms(), options->form, "form");
            return fmt::format("laplace, n = {}, {}", options->n, options->form);
          },
          [options](const comm::Comm& comm) {
            const auto result = bench::time_laplace(comm, *options);
            const double points = static_cast<double>(options->n) * static_cast<double>(options->n);
            return bench::GridSample{result.phases[0].seconds.median, 1e-6 * result.updates_per_second,
                                     2 * sizeof(double) * points, grid_phases(result.phases, {"exchange"}),
                                     fmt::format("{} x {} ranks, {} sweeps a pass", result.grid.rows,
                                                 result.grid.columns, result.depth)};
          },
          "M upd./s"};
}

}  // namespace ayatori::cli
