#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "ayatori/base/statistics.hpp"
#include "bench/grid.hpp"
#include "cli/command.hpp"

// What the subcommands of `ayatori bench` share; each is in the file of its name.

namespace ayatori::cli {

/// Like AddCommand: adds a subcommand to `bench`.
void add_bench_stream(CLI::App& bench, Run& run);
void add_bench_spmv(CLI::App& bench, Run& run);
void add_bench_halo(CLI::App& bench, Run& run);
void add_bench_read(CLI::App& bench, Run& run);
void add_bench_laplace(CLI::App& bench, Run& run);
void add_bench_matmul(CLI::App& bench, Run& run);
void add_bench_radix_sort(CLI::App& bench, Run& run);
void add_bench_npb_cg(CLI::App& bench, Run& run);
void add_bench_grid(CLI::App& bench, Run& run);

/// A kernel for `bench grid`, with what its options say.
struct GridSetup {
  std::function<std::string()> check;  ///< throws InputError; else gives the title
  bench::GridKernel run;
  std::string unit;  ///< of its rate
};

/// Each adds its kernel's options to `command`.
GridSetup grid_npb_cg(CLI::App& command);
GridSetup grid_laplace(CLI::App& command);
GridSetup grid_matmul(CLI::App& command);
GridSetup grid_radix_sort(CLI::App& command);
GridSetup grid_stream(CLI::App& command);

/// Runs that a point of a grid is the median of.
inline constexpr int grid_repetitions = 5;
void add_grid_repetitions(CLI::App& command, int& repetitions);

/// Options that every subcommand has.
struct BenchOptions {
  std::string json;
  int repetitions = 20;
  int threads = 0;
};

void add_bench_options(CLI::App& command, BenchOptions& options);

/// What `command` does when chosen: run_bench(world, arguments).
template <class Arguments>
void set_run(CLI::App& command, Run& run, std::shared_ptr<Arguments> arguments,
             int (*run_bench)(const comm::Comm&, const Arguments&)) {
  command.callback([&run, run_bench, arguments = std::move(arguments)] {
    run = [run_bench, arguments](const comm::Comm& world) { return run_bench(world, *arguments); };
  });
}

/// {min, median, max}, divided by `unit`.
nlohmann::ordered_json spread_json(const Spread& spread, double unit = 1);

/// Collective. Rank 0 writes, all learn of a failure. Does nothing for an empty path.
void write_json(const comm::Comm& world, const std::string& path, const nlohmann::ordered_json& json);

}  // namespace ayatori::cli
