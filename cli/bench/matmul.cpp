#include <fmt/core.h>

#include "ayatori/base/find_named.hpp"
#include "ayatori/comm/threads.hpp"
#include "bench/kernels/local_matmul.hpp"
#include "bench/papers/matmul.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/phases_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct MatmulArguments {
  bench::MatmulOptions options;
  std::vector<std::string> locals;
  BenchOptions bench;
};

void print_matmul(const bench::MatmulResult& result) {
  fmt::print(stderr, "{} x {} ranks, panels of {}\n", result.grid.rows, result.grid.columns, result.panel);
  for (const auto& timing : result.timings) {
    print_phases(timing.local.c_str(), timing.phases);
    fmt::print(stderr, "{:.2f} Gflop/s; C v = A (B v) within {:.2g} n epsilon |A| |B| |v|\n",
               1e-9 * timing.flops_per_second, timing.error);
  }
  for (std::size_t i = 1; i < result.timings.size(); ++i)
    fmt::print(stderr, "{} is {:.2f} times as fast as {}\n", result.timings[0].local,
               result.timings[0].flops_per_second / result.timings[i].flops_per_second,
               result.timings[i].local);
}

int run_matmul(const comm::Comm& world, const MatmulArguments& arguments) {
  const int threads = comm::set_threads(world, arguments.bench.threads);
  bench::MatmulOptions options = arguments.options;
  options.repetitions = arguments.bench.repetitions;
  if (!arguments.locals.empty()) options.locals = arguments.locals;
  const auto result = bench::time_matmul(world, options);
  if (world.rank() == 0) print_matmul(result);
  Json json{{"schema", "ayatori.bench-matmul/1"},
            {"ranks", world.size()},
            {"threads", threads},
            {"n", options.n},
            {"form", options.form},
            {"panel", result.panel},
            {"grid", {result.grid.rows, result.grid.columns}},
            {"products", Json::array()}};
  for (const auto& timing : result.timings) {
    json["products"].push_back({{"local", timing.local},
                                {"seconds", phases_json(timing.phases)},
                                {"flops_per_second", timing.flops_per_second},
                                {"error_over_bound", timing.error}});
  }
  write_json(world, arguments.bench.json, json);
  return 0;
}

void add_options(Command& command, bench::MatmulOptions& options) {
  command.add_option("--n", options.n, "Rows and columns")->capture_default_str();
  command.add_option("--form", options.form, "How panels travel: " + names_of(bench::matmul_forms()))
      ->capture_default_str();
  command.add_option("--panel", options.panel, "Columns of A sent at once; 0: a quarter of a rank's")
      ->capture_default_str();
}

}  // namespace

void add_bench_matmul(Command& bench, Run& run) {
  auto arguments = std::make_shared<MatmulArguments>();
  Command* command = bench.add_subcommand("matmul", "Dense matrix product over all ranks (SUMMA)");
  command->examples(
      {{"ayatori bench matmul --n 100 --repetitions 2", "our local product and BLAS's in turns"},
       {"mpirun -n 2 ayatori bench matmul --n 100 --repetitions 2 --local own --form one-sided",
        "panels by one-sided messages"}});
  add_options(*command, arguments->options);
  command->add_option("--local", arguments->locals,
                      "Local product: " + names_of(bench::local_products()) +
                          "; may be repeated: then in turns (own and blas if none is named)");
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_matmul);
}

GridSetup grid_matmul(Command& command) {
  auto options = std::make_shared<bench::MatmulOptions>();
  auto local = std::make_shared<std::string>("own");
  add_options(command, *options);
  command.add_option("--local", *local, "Local product: " + names_of(bench::local_products()))
      ->capture_default_str();
  add_grid_repetitions(command, options->repetitions);
  return {[options, local] {
            find_named(bench::matmul_forms(), options->form, "form");
            find_named(bench::local_products(), *local, "local product");
            options->locals = {*local};
            return fmt::format("matmul, n = {}, {}", options->n, options->form);
          },
          [options](const comm::Comm& comm) {
            const auto result = bench::time_matmul(comm, *options);
            const auto& timing = result.timings.front();
            const double elements = static_cast<double>(options->n) * static_cast<double>(options->n);
            return bench::GridSample{timing.phases[0].seconds.median, 1e-9 * timing.flops_per_second,
                                     3 * sizeof(double) * elements, grid_phases(timing.phases, {"exchange"}),
                                     fmt::format("{} x {} ranks, panels of {}, {}", result.grid.rows,
                                                 result.grid.columns, result.panel, timing.local)};
          },
          "Gflop/s"};
}

}  // namespace ayatori::cli
