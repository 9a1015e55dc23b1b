#include <fmt/core.h>

#include "ayatori/comm/threads.hpp"
#include "bench/kernels/stream.hpp"
#include "cli/bench/bench.hpp"
#include "cli/bench/stream_report.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct StreamArguments {
  std::int64_t elements = 20'000'000;
  BenchOptions bench;
};

int run_stream(const comm::Comm& world, const StreamArguments& arguments) {
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

void add_bench_stream(Command& bench, Run& run) {
  auto arguments = std::make_shared<StreamArguments>();
  Command* command = bench.add_subcommand("stream", "Memory bandwidth: copy, scale, add, triad");
  command->examples(
      {{"ayatori bench stream --elements 1000000 --repetitions 5", "shorter vectors, fewer repetitions"},
       {"mpirun -n 2 ayatori bench stream --elements 1000000 --threads 1 --json stream.json",
        "two ranks of one thread, kept"}});
  add_stream_elements(*command, arguments->elements);
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_stream);
}

GridSetup grid_stream(Command& command) {
  struct TotalStreamArguments {
    std::int64_t total = 20'000'000;
    int repetitions = 0;
  };
  auto arguments = std::make_shared<TotalStreamArguments>();
  command.add_option("--total", arguments->total, "Doubles per vector, all ranks together")
      ->check(positive())
      ->capture_default_str();
  add_grid_repetitions(command, arguments->repetitions);
  return {[arguments] { return fmt::format("STREAM, vectors of {} doubles", arguments->total); },
          [arguments](const comm::Comm& comm) {
            const std::int64_t elements = (arguments->total - 1) / comm.size() + 1;  // elements of one rank
            const auto rates = bench::stream(comm, elements, arguments->repetitions);
            const double doubles = static_cast<double>(elements) * comm.size();
            bench::GridSample sample{0, 1e-9 * rates.triad.median, 3 * sizeof(double) * doubles, {}, ""};
            const auto add = [&](const char* name, double bytes, const Spread& rate) {
              sample.phases.push_back({name, bytes * doubles / rate.median, false});
              sample.seconds += sample.phases.back().seconds;
            };
            add("copy", 16, rates.copy);
            add("scale", 16, rates.scale);
            add("add", 24, rates.add);
            add("triad", 24, rates.triad);
            return sample;
          },
          "GB/s"};
}

}  // namespace ayatori::cli
