#include <fmt/core.h>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/session/problem/problem.hpp"
#include "bench/kernels/spmv.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/stream_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct SpmvArguments {
  std::string matrix = "poisson3d-27:n=100";
  std::vector<std::string> kernels;
  std::vector<std::string> halos;
  bool floats = false;
  std::int64_t elements = 20'000'000;
  BenchOptions bench;
};

/// What was asked for; every kernel with the default halo where nothing was, and on several ranks every halo
/// strategy with the default kernel. Throws InputError.
std::vector<sparse::ProductOptions> combinations(int ranks, const SpmvArguments& arguments) {
  const sparse::ProductOptions defaults;
  std::vector<sparse::ProductOptions> list;
  if (arguments.kernels.empty() && arguments.halos.empty()) {
    for (const auto& kernel : sparse::kernels()) list.push_back({std::string(kernel.name), defaults.halo});
    if (ranks == 1) return list;
    for (const auto& halo : sparse::halo_strategies()) {
      for (const char* suffix : {"", "+overlap"}) {
        const std::string name = std::string(halo.name) + suffix;
        if (name != defaults.halo) list.push_back({defaults.kernel, name});
      }
    }
    return list;
  }
  const auto kernels = arguments.kernels.empty() ? std::vector{defaults.kernel} : arguments.kernels;
  const auto halos = arguments.halos.empty() ? std::vector{defaults.halo} : arguments.halos;
  for (const auto& kernel : kernels) {
    sparse::kernel(kernel);
    for (const auto& halo : halos) {
      sparse::halo_strategy(halo);
      list.push_back({kernel, halo});
    }
  }
  return list;
}

void print_spmv(const bench::SpmvReport& report) {
  print_stream(report.stream);
  fmt::print(stderr, "\n{:<22} {:<26} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "kernel", "halo", "median ms",
             "min ms", "max ms", "GB/s", "of triad");
  for (const auto& product : report.products) {
    const double rate = product.bytes / product.seconds.median;
    fmt::print(stderr, "{:<22} {:<26} {:>10.3f} {:>10.3f} {:>10.3f} {:>8.2f} {:>9.0f}%\n",
               product.options.kernel + (product.in_float ? " float" : ""), product.options.halo,
               1e3 * product.seconds.median, 1e3 * product.seconds.min, 1e3 * product.seconds.max,
               rate * 1e-9, 100 * rate / report.stream.triad.median);
  }
  for (const auto& skipped : report.skipped) fmt::print(stderr, "skipped: {}\n", skipped.why);
  const Spread& facts = report.facts_seconds;
  fmt::print(stderr, "facts of the pattern: {:.3f} ms ({:.3f} - {:.3f})\n", 1e3 * facts.median,
             1e3 * facts.min, 1e3 * facts.max);
}

int run_spmv(const comm::Comm& world, const SpmvArguments& arguments) {
  const auto products = comm::agree(world, [&] { return combinations(world.size(), arguments); });
  const int threads = comm::set_threads(world, arguments.bench.threads);
  const auto problem = session::load_problem(world, arguments.matrix, session::PartitionKind::contiguous);
  const auto report = bench::spmv(world, problem.parts, products, arguments.floats,
                                  arguments.bench.repetitions, arguments.elements);
  if (world.rank() == 0) print_spmv(report);
  Json json{{"schema", "ayatori.bench-spmv/2"},
            {"matrix", problem.source.name},
            {"ranks", world.size()},
            {"threads", threads},
            {"stream_gigabytes_per_second", stream_json(report.stream)},
            {"facts_seconds", spread_json(report.facts_seconds)},
            {"products", Json::array()},
            {"skipped", Json::array()}};
  for (const auto& product : report.products) {
    json["products"].push_back({{"kernel", product.options.kernel},
                                {"halo", product.options.halo},
                                {"precision", product.in_float ? "float" : "double"},
                                {"seconds", spread_json(product.seconds)},
                                {"bytes", product.bytes},
                                {"gigabytes_per_second", 1e-9 * product.bytes / product.seconds.median},
                                {"largest_error", product.largest_error}});
  }
  for (const auto& skipped : report.skipped) {
    json["skipped"].push_back(
        {{"kernel", skipped.options.kernel}, {"halo", skipped.options.halo}, {"why", skipped.why}});
  }
  write_json(world, arguments.bench.json, json);
  return 0;
}

}  // namespace

void add_bench_spmv(Command& bench, Run& run) {
  auto arguments = std::make_shared<SpmvArguments>();
  Command* command =
      bench.add_subcommand("spmv", "Matrix-vector products beside STREAM: kernels, halo strategies");
  command->examples({{"ayatori bench spmv A.mtx --elements 1000000", "all kernels that suit the matrix"},
                     {"mpirun -n 2 ayatori bench spmv poisson3d-27:n=16 --kernel csr --elements 1000000",
                      "one kernel, all halo strategies"}});
  command->add_option("matrix", arguments->matrix, "Matrix file or generator spec")->capture_default_str();
  command->add_option("--kernel", arguments->kernels, "Only this kernel; may be repeated");
  command->add_option("--halo", arguments->halos, "Only this halo strategy; may be repeated");
  command->add_flag("--float", arguments->floats,
                    "Also every kernel in single precision that has such a form");
  add_stream_elements(*command, arguments->elements);
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_spmv);
}

}  // namespace ayatori::cli
