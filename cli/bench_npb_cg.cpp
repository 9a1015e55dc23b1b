#include <fmt/core.h>

#include "ayatori/comm/threads.hpp"
#include "bench/npb_cg.hpp"
#include "cli/bench.hpp"
#include "cli/stream_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string size = "A";
  bench::NpbCgOptions cg;
  std::int64_t elements = 4'000'000;
  BenchOptions bench;
};

/// The middle one by time.
const bench::NpbCgRun& median_run(std::vector<bench::NpbCgRun>& runs) {
  std::ranges::sort(runs, {}, &bench::NpbCgRun::seconds);
  return runs[runs.size() / 2];
}

Json breakdown_json(const bench::CgBreakdown& breakdown) {
  return {{"product", breakdown.product},
          {"exchange", breakdown.exchange},
          {"vectors", breakdown.vectors},
          {"reductions", breakdown.reductions}};
}

int run_npb_cg(const comm::Comm& world, const Arguments& arguments) {
  const auto& size = bench::npb_class(arguments.size);
  check(arguments.cg);
  const int threads = comm::set_threads(world, arguments.bench.threads);
  const auto stream = bench::stream(world, arguments.elements, arguments.bench.repetitions);
  bench::NpbCg cg(world, size, arguments.cg);
  std::vector<bench::NpbCgRun> runs;
  for (int k = 0; k < arguments.bench.repetitions; ++k) runs.push_back(cg.run());
  const auto& run = median_run(runs);
  std::vector<double> seconds;
  for (const auto& each : runs) seconds.push_back(each.seconds);
  const Spread spread_seconds = spread(seconds);
  const auto matrix_bytes = cg.matrix_bytes();
  const auto exchanged_bytes = cg.exchanged_bytes();
  if (world.rank() == 0) {
    for (const auto& e : cg.race())
      fmt::print(stderr, "{:<11} {:<28} {:.3f} ms\n", e.item, e.name, 1e3 * e.seconds);
    fmt::print(stderr,
               "make {:.3f} race {:.3f} s; {:.4f} ({:.4f}) s {:.0f} Mop/s zeta {:.13f} res {:.3g}; product "
               "{:.4f} ex {:.4f} vec {:.4f} red {:.4f} {} {}\n",
               cg.making_seconds(), cg.racing_seconds(), spread_seconds.median, spread_seconds.min, run.mops,
               run.zeta, run.residual_norm, run.breakdown.product, run.breakdown.exchange,
               run.breakdown.vectors, run.breakdown.reductions, cg.product().kernel, cg.product().halo);
    fmt::print(stderr, "{:.2f} GB/s {:.2f} triad {} {}\n",
               1e-9 * double(matrix_bytes) * double(cg.products()) / run.breakdown.product,
               1e-9 * stream.triad.median, threads, exchanged_bytes);
  }
  (void)breakdown_json;
  return 0;
}

}  // namespace

void add_bench_npb_cg(CLI::App& bench, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  arguments->bench.repetitions = 3;
  CLI::App* command =
      bench.add_subcommand("npb-cg", "CG of the NAS parallel benchmarks, verified, with a breakdown");
  command->add_option("--class", arguments->size, "S, W, A, B, C or D")->capture_default_str();
  command->add_option("--kernel", arguments->cg.kernel, "Matrix-vector kernel, or auto")
      ->capture_default_str();
  command->add_option("--halo", arguments->cg.halo, "Halo strategy, or auto")->capture_default_str();
  command->add_option("--reductions", arguments->cg.reductions, "1 or 2 in an iteration, or auto")
      ->capture_default_str();
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_npb_cg);
}

}  // namespace ayatori::cli
