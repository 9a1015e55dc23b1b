#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "bench/read_matrix.hpp"
#include "bench/spmv.hpp"
#include "bench/stream.hpp"
#include "cli/command.hpp"
#include "cli/problem.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string matrix = "poisson3d-27:n=100";
  std::string json;
  std::int64_t elements = 20'000'000;
  int repetitions = 20;
  int threads = 0;
};

Json rate_json(const Spread& rate) {
  return {{"min", rate.min * 1e-9}, {"median", rate.median * 1e-9}, {"max", rate.max * 1e-9}};
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

/// Every kernel with the default halo, and on several ranks every halo strategy with the default kernel.
std::vector<sparse::ProductOptions> combinations(int ranks, const sparse::Csr& interior) {
  std::vector<sparse::ProductOptions> list;
  const sparse::ProductOptions defaults;
  const auto facts = sparse::pattern_facts(interior);
  for (const auto& kernel : sparse::kernels()) {
    if (kernel.predicted_bytes(facts)) list.push_back({std::string(kernel.name), defaults.halo});
  }
  if (ranks == 1) return list;
  for (const auto& halo : sparse::halo_strategies()) {
    for (const char* suffix : {"", "+overlap"}) {
      const std::string name = std::string(halo.name) + suffix;
      if (name != defaults.halo) list.push_back({defaults.kernel, name});
    }
  }
  return list;
}

int run_spmv(const comm::Comm& world, const Arguments& arguments) {
  const int threads = comm::set_threads(world, arguments.threads);
  const auto problem = load_problem(world, arguments.matrix, PartitionKind::contiguous);
  const auto stream = bench::stream(world, arguments.elements, arguments.repetitions);
  const auto results = bench::spmv(world, problem.parts, combinations(world.size(), problem.parts->interior),
                                   arguments.repetitions);
  Json json{{"schema", "ayatori.bench-spmv/1"},
            {"matrix", problem.source.name},
            {"ranks", world.size()},
            {"threads", threads},
            {"stream_gigabytes_per_second", stream_json(stream)},
            {"products", Json::array()}};
  if (world.rank() == 0) {
    print_stream(stream);
    fmt::print(stderr, "\n{:<16} {:<26} {:>10} {:>10} {:>10} {:>8} {:>10}\n", "kernel", "halo", "median ms",
               "min ms", "max ms", "GB/s", "of triad");
  }
  for (const auto& result : results) {
    const double rate = result.bytes / result.seconds.median;
    if (world.rank() == 0) {
      fmt::print(stderr, "{:<16} {:<26} {:>10.3f} {:>10.3f} {:>10.3f} {:>8.2f} {:>9.0f}%\n",
                 result.options.kernel, result.options.halo, 1e3 * result.seconds.median,
                 1e3 * result.seconds.min, 1e3 * result.seconds.max, rate * 1e-9,
                 100 * rate / stream.triad.median);
    }
    json["products"].push_back(
        {{"kernel", result.options.kernel},
         {"halo", result.options.halo},
         {"seconds",
          {{"min", result.seconds.min}, {"median", result.seconds.median}, {"max", result.seconds.max}}},
         {"bytes", result.bytes},
         {"gigabytes_per_second", rate * 1e-9},
         {"largest_error", result.largest_error}});
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
      bench->add_subcommand("spmv", "Matrix-vector products beside STREAM, every kernel and halo strategy");
  spmv->add_option("matrix", arguments->matrix, "Matrix file or generator spec")->capture_default_str();
  add_stream_options(*spmv, *arguments);
  spmv->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_spmv(world, *arguments); };
  });

  CLI::App* read = bench->add_subcommand("read", "Reading a matrix, from the file to compressed rows");
  read->add_option("matrix", arguments->matrix, "Matrix file")->required();
  add_common_options(*read, *arguments);
  read->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_read(world, *arguments); };
  });
}

}  // namespace ayatori::cli
