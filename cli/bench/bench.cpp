#include "cli/bench/bench.hpp"

#include <array>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::cli {

namespace {

/// `ayatori bench NAME`: a new one is a file and a line here.
constexpr std::array<AddCommand, 9> benches{add_bench_stream,     add_bench_spmv,    add_bench_halo,
                                            add_bench_read,       add_bench_laplace, add_bench_matmul,
                                            add_bench_radix_sort, add_bench_npb_cg,  add_bench_grid};

}  // namespace

void add_bench(Command& app, Run& run) {
  Command* bench =
      app.add_subcommand("bench", "Measure kernels; results are checked before a figure is printed");
  bench->examples(
      {{"ayatori bench stream --elements 1000000", "the memory's bandwidth"},
       {"ayatori bench spmv A.mtx --elements 1000000", "products with a matrix of one's own beside it"}});
  bench->require_subcommand(1);
  for (const AddCommand add : benches) add(*bench, run);
}

void add_bench_options(Command& command, BenchOptions& options) {
  command.add_option("--repetitions", options.repetitions, "Timed repetitions")
      ->check(positive())
      ->capture_default_str();
  command.add_option("--threads", options.threads, "Threads per rank; 0: all cores")
      ->check(non_negative())
      ->capture_default_str();
  command.add_option("--json", options.json, "Write the result here");
}

void add_stream_elements(Command& command, std::int64_t& elements) {
  command.add_option("--elements", elements, "Doubles per STREAM vector and rank")
      ->check(positive())
      ->capture_default_str();
}

nlohmann::ordered_json spread_json(const Spread& spread, double unit) {
  return {{"min", spread.min / unit}, {"median", spread.median / unit}, {"max", spread.max / unit}};
}

void write_json(const comm::Comm& world, const std::string& path, const nlohmann::ordered_json& json) {
  comm::agree(world, [&] {
    if (world.rank() == 0 && !path.empty()) write_file(path, json.dump(2) + "\n");
  });
}

}  // namespace ayatori::cli
