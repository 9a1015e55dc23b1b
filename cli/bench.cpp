#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "bench/halo.hpp"
#include "bench/read_matrix.hpp"
#include "bench/spmv.hpp"
#include "bench/stream.hpp"
#include "cli/command.hpp"
#include "cli/machine_profile.hpp"
#include "cli/problem.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string matrix = "poisson3d-27:n=100";
  std::string json;
  std::vector<std::string> kernels;
  std::vector<std::string> halos;
  std::string partition = "contiguous";
  std::string profile = "none";
  std::int64_t elements = 20'000'000;
  int repetitions = 20;
  int threads = 0;
};

Json spread_json(const Spread& spread, double unit = 1) {
  return {{"min", spread.min / unit}, {"median", spread.median / unit}, {"max", spread.max / unit}};
}

Json rate_json(const Spread& rate) {
  return spread_json(rate, 1e9);
}

void print_stream(const bench::StreamResult& result) {
  fmt::print(stderr, "{:<10} {:>10} {:>10} {:>10}   GB/s\n", "stream", "median", "min", "max");
  const auto row = [](const char* name, const Spread& rate) {
    fmt::print(stderr, "{:<10} {:>10.2f} {:>10.2f} {:>10.2f}\n", name, rate.median * 1e-9, rate.min * 1e-9,
               rate.max * 1e-9);
  };
  row("copy", result.copy);
  row("scale", result.scale);
  row("add", result.add);
  row("triad", result.triad);
}

Json stream_json(const bench::StreamResult& result) {
  return {{"copy", rate_json(result.copy)},
          {"scale", rate_json(result.scale)},
          {"add", rate_json(result.add)},
          {"triad", rate_json(result.triad)}};
}

/// Collective. Rank 0 writes, all learn of a failure.
void write_json(const comm::Comm& world, const std::string& path, const Json& json) {
  comm::agree(world, [&] {
    if (world.rank() == 0 && !path.empty()) write_file(path, json.dump(2) + "\n");
  });
}

int run_stream(const comm::Comm& world, const Arguments& arguments) {
  const int threads = comm::set_threads(world, arguments.threads);
  const auto result = bench::stream(world, arguments.elements, arguments.repetitions);
  if (world.rank() == 0) print_stream(result);
  Json json{{"schema", "ayatori.bench-stream/1"},
            {"ranks", world.size()},
            {"threads", threads},
            {"elements", arguments.elements}};
  json["gigabytes_per_second"] = stream_json(result);
  write_json(world, arguments.json, json);
  return 0;
}

/// What was asked for; every kernel with the default halo where nothing was, and on several ranks every halo
/// strategy with the default kernel. Throws InputError.
std::vector<sparse::ProductOptions> combinations(int ranks, const Arguments& arguments) {
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
  fmt::print(stderr, "\n{:<16} {:<26} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "kernel", "halo", "median ms",
             "min ms", "max ms", "GB/s", "of triad");
  for (const auto& product : report.products) {
    const double rate = product.bytes / product.seconds.median;
    fmt::print(stderr, "{:<16} {:<26} {:>10.3f} {:>10.3f} {:>10.3f} {:>8.2f} {:>9.0f}%\n",
               product.options.kernel, product.options.halo, 1e3 * product.seconds.median,
               1e3 * product.seconds.min, 1e3 * product.seconds.max, rate * 1e-9,
               100 * rate / report.stream.triad.median);
  }
  for (const auto& skipped : report.skipped) fmt::print(stderr, "skipped: {}\n", skipped.why);
  const Spread& facts = report.facts_seconds;
  fmt::print(stderr, "facts of the pattern: {:.3f} ms ({:.3f} - {:.3f})\n", 1e3 * facts.median,
             1e3 * facts.min, 1e3 * facts.max);
}

int run_spmv(const comm::Comm& world, const Arguments& arguments) {
  const auto products = combinations(world.size(), arguments);
  const int threads = comm::set_threads(world, arguments.threads);
  const auto problem = load_problem(world, arguments.matrix, PartitionKind::contiguous);
  const auto report = bench::spmv(world, problem.parts, products, arguments.repetitions, arguments.elements);
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
                                {"seconds", spread_json(product.seconds)},
                                {"bytes", product.bytes},
                                {"gigabytes_per_second", 1e-9 * product.bytes / product.seconds.median},
                                {"largest_error", product.largest_error}});
  }
  for (const auto& skipped : report.skipped) {
    json["skipped"].push_back(
        {{"kernel", skipped.options.kernel}, {"halo", skipped.options.halo}, {"why", skipped.why}});
  }
  write_json(world, arguments.json, json);
  return 0;
}

void print_halos(const std::vector<bench::HaloTiming>& timings) {
  fmt::print(stderr, "{:<18} {:>10} {:>10} {:>10}  {}\n", "halo", "us", "model", "replay",
             "messages (KiB) by level, near first");
  for (const auto& timing : timings) {
    fmt::print(stderr, "{:<18} {:>10.2f}", timing.strategy, 1e6 * timing.seconds);
    if (timing.forecast) {
      fmt::print(stderr, " {:>10.2f} {:>10.2f} ", 1e6 * timing.forecast->model_seconds,
                 1e6 * timing.forecast->replay_seconds);
      for (const auto& level : timing.forecast->levels)
        fmt::print(stderr, " {} ({:.1f})", level.messages, static_cast<double>(level.bytes) / 1024);
    }
    fmt::print(stderr, "\n");
  }
}

int run_halo(const comm::Comm& world, const Arguments& arguments) {
  std::vector<std::string> strategies = arguments.halos;
  for (const auto& name : strategies) sparse::halo_strategy(name);
  if (strategies.empty()) {
    for (const auto& type : sparse::halo_strategies()) strategies.emplace_back(type.name);
  }
  const auto partition = partition_kind(arguments.partition);
  comm::set_threads(world, arguments.threads);
  const auto found = find_profile(world, arguments.profile);
  const auto problem = load_problem(world, arguments.matrix, partition);
  const auto timings =
      bench::time_halos(world, *problem.parts, strategies, arguments.repetitions, found.profile.get());
  if (world.rank() == 0) print_halos(timings);
  Json json{{"schema", "ayatori.bench-halo/1"},
            {"matrix", problem.source.name},
            {"ranks", world.size()},
            {"partition", arguments.partition},
            {"halos", Json::array()}};
  for (const auto& timing : timings) {
    Json& entry = json["halos"].emplace_back(Json{{"halo", timing.strategy}, {"seconds", timing.seconds}});
    if (!timing.forecast) continue;
    entry["model_seconds"] = timing.forecast->model_seconds;
    entry["replay_seconds"] = timing.forecast->replay_seconds;
    entry["levels"] = Json::array();
    for (const auto& level : timing.forecast->levels)
      entry["levels"].push_back({{"messages", level.messages}, {"bytes", level.bytes}});
  }
  write_json(world, arguments.json, json);
  return 0;
}

int run_read(const comm::Comm& world, const Arguments& arguments) {
  const int threads = comm::set_threads(world, arguments.threads);
  const auto timing = bench::time_read(world, arguments.matrix, arguments.repetitions);
  const Spread seconds = spread(timing.seconds);
  if (world.rank() == 0) {
    const double megabytes = 1e-6 * static_cast<double>(timing.file_bytes);
    fmt::print(stderr, "{}: {} x {}, {} nonzeros, {:.1f} MB\n", arguments.matrix, timing.rows, timing.columns,
               timing.nonzeros, megabytes);
    fmt::print(stderr, "median {:.3f} s, min {:.3f}, max {:.3f}: {:.0f} MB/s\n", seconds.median, seconds.min,
               seconds.max, megabytes / seconds.median);
  }
  write_json(world, arguments.json,
             {{"schema", "ayatori.bench-read/1"},
              {"matrix", arguments.matrix},
              {"ranks", world.size()},
              {"threads", threads},
              {"file_bytes", timing.file_bytes},
              {"rows", timing.rows},
              {"columns", timing.columns},
              {"nonzeros", timing.nonzeros},
              {"sum", timing.sum},
              {"checksum", fmt::format("{:016x}", timing.checksum)},
              {"seconds", timing.seconds}});
  return 0;
}

void add_common_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--repetitions", arguments.repetitions, "Timed repetitions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--threads", arguments.threads, "Threads per rank; 0: all cores")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--json", arguments.json, "Write the result here");
}

void add_stream_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--elements", arguments.elements, "Doubles per STREAM vector and rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_common_options(command, arguments);
}

}  // namespace

void add_bench(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* bench =
      app.add_subcommand("bench", "Measure kernels; results are checked before a figure is printed");
  bench->require_subcommand(1);

  CLI::App* stream = bench->add_subcommand("stream", "Memory bandwidth: copy, scale, add, triad");
  add_stream_options(*stream, *arguments);
  stream->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_stream(world, *arguments); };
  });

  CLI::App* spmv =
      bench->add_subcommand("spmv", "Matrix-vector products beside STREAM: kernels, halo strategies");
  spmv->add_option("matrix", arguments->matrix, "Matrix file or generator spec")->capture_default_str();
  spmv->add_option("--kernel", arguments->kernels, "Only this kernel; may be repeated");
  spmv->add_option("--halo", arguments->halos, "Only this halo strategy; may be repeated");
  add_stream_options(*spmv, *arguments);
  spmv->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_spmv(world, *arguments); };
  });

  CLI::App* halo =
      bench->add_subcommand("halo", "Halo exchanges alone, from appointed times, beside forecasts");
  halo->add_option("matrix", arguments->matrix, "Matrix file or generator spec")->capture_default_str();
  halo->add_option("--halo", arguments->halos, "Only this halo strategy; may be repeated");
  halo->add_option("--partition", arguments->partition, "contiguous or graph (METIS)")->capture_default_str();
  halo->add_option("--profile", arguments->profile, "Forecast with this profile, or by a published machine's")
      ->capture_default_str();
  add_common_options(*halo, *arguments);
  halo->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_halo(world, *arguments); };
  });

  CLI::App* read = bench->add_subcommand("read", "Reading a matrix, from the file to compressed rows");
  read->add_option("matrix", arguments->matrix, "Matrix file")->required();
  add_common_options(*read, *arguments);
  read->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_read(world, *arguments); };
  });
}

}  // namespace ayatori::cli
