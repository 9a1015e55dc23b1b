#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "ayatori/base/statistics.hpp"
#include "bench/papers/grid.hpp"
#include "cli/command.hpp"
#include "cli/parser/command_line.hpp"

// What the subcommands of `ayatori bench` share; each is in the file of its name.

namespace ayatori::cli {

/// Like AddCommand: adds a subcommand to `bench`.
void add_bench_stream(Command& bench, Run& run);
void add_bench_spmv(Command& bench, Run& run);
void add_bench_halo(Command& bench, Run& run);
void add_bench_read(Command& bench, Run& run);
void add_bench_laplace(Command& bench, Run& run);
void add_bench_matmul(Command& bench, Run& run);
void add_bench_radix_sort(Command& bench, Run& run);
void add_bench_npb_cg(Command& bench, Run& run);
void add_bench_grid(Command& bench, Run& run);

/// A kernel for `bench grid`, with what its options say.
struct GridSetup {
  std::function<std::string()> check;  ///< throws InputError; else gives the title
  bench::GridKernel run;
  std::string unit;                               ///< unit of its rate
  std::function<double()> all_to_all_bytes = {};  ///< that all ranks send from all to all; empty: none
};

/// Each adds its kernel's options to `command`.
GridSetup grid_npb_cg(Command& command);
GridSetup grid_laplace(Command& command);
GridSetup grid_matmul(Command& command);
GridSetup grid_radix_sort(Command& command);
GridSetup grid_stream(Command& command);

/// Runs that a point of a grid is the median of.
inline constexpr int grid_repetitions = 5;
void add_grid_repetitions(Command& command, int& repetitions);

/// Options that every subcommand has.
struct BenchOptions {
  std::string json;
  int repetitions = 20;
  int threads = 0;
};

void add_bench_options(Command& command, BenchOptions& options);

/// Where STREAM is measured beside a kernel.
void add_stream_elements(Command& command, std::int64_t& elements);

/// What `command` does when chosen: run_bench(world, arguments).
template <class Arguments>
void set_run(Command& command, Run& run, std::shared_ptr<Arguments> arguments,
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
