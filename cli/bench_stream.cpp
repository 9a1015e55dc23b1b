#include <fmt/core.h>

#include "ayatori/comm/threads.hpp"
#include "bench/stream.hpp"
#include "cli/bench.hpp"
#include "cli/stream_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::int64_t elements = 20'000'000;
  BenchOptions bench;
};

int run_stream(const comm::Comm& world, const Arguments& arguments) {
  const int threads = comm::set_threads(world, arguments.bench.threads);
  const auto result = bench::stream(world, arguments.elements, arguments.bench.repetitions);
  if (world.rank() == 0) print_stream(result);
  Json json{{"schema", "ayatori.bench-stream/1"},
            {"ranks", world.size()},
            {"threads", threads},
            {"elements", arguments.elements}};
  json["gigabytes_per_second"] = stream_json(result);
  write_json(world, arguments.bench.json, json);
  return 0;
}

}  // namespace

void add_bench_stream(CLI::App& bench, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = bench.add_subcommand("stream", "Memory bandwidth: copy, scale, add, triad");
  command->add_option("--elements", arguments->elements, "Doubles per STREAM vector and rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_stream);
}

}  // namespace ayatori::cli
