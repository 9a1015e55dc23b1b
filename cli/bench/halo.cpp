#include <fmt/core.h>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "ayatori/session/problem/problem.hpp"
#include "bench/kernels/halo.hpp"
#include "cli/bench/bench.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

struct HaloArguments {
  std::string matrix = "poisson3d-27:n=100";
  std::vector<std::string> halos;
  std::string partition = "contiguous";
  std::string profile = "none";
  BenchOptions bench;
};

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
  if (const auto* choice = bench::choose_by_forecast(timings))
    fmt::print(stderr, "by the forecasts: {}\n", choice->strategy);
}

int run_halo(const comm::Comm& world, const HaloArguments& arguments) {
  std::vector<std::string> strategies = arguments.halos;
  if (strategies.empty()) {
    for (const auto& type : sparse::halo_strategies()) strategies.emplace_back(type.name);
  }
  const auto partition = comm::agree(world, [&] {
    for (const auto& name : strategies) sparse::halo_strategy(name);
    return session::partition_kind(arguments.partition);
  });
  comm::set_threads(world, arguments.bench.threads);
  const auto found = session::find_profile(world, arguments.profile);
  const auto problem = session::load_problem(world, arguments.matrix, partition);
  std::vector<std::string> left_out;
  const auto timings = bench::time_halos(world, *problem.parts, strategies, arguments.bench.repetitions,
                                         found.profile.get(), arguments.halos.empty() ? &left_out : nullptr);
  if (world.rank() == 0) {
    for (const auto& reason : left_out) fmt::print(stderr, "left out: {}\n", reason);
    print_halos(timings);
  }
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
  if (const auto* choice = bench::choose_by_forecast(timings)) json["choice"] = choice->strategy;
  write_json(world, arguments.bench.json, json);
  return 0;
}

}  // namespace

void add_bench_halo(Command& bench, Run& run) {
  auto arguments = std::make_shared<HaloArguments>();
  Command* command =
      bench.add_subcommand("halo", "Halo exchanges alone, from appointed times, beside forecasts");
  command->examples(
      {{"mpirun -n 2 ayatori bench halo poisson3d-27:n=12 --repetitions 3", "all strategies"},
       {"mpirun -n 2 ayatori bench halo A.mtx --partition graph --profile altix3700bx2 --repetitions 3",
        "beside a forecast"}});
  command->add_option("matrix", arguments->matrix, "Matrix file or generator spec")->capture_default_str();
  command->add_option("--halo", arguments->halos, "Only this halo strategy; may be repeated");
  command->add_option("--partition", arguments->partition, "contiguous or graph (METIS, PT-Scotch)")
      ->capture_default_str();
  command
      ->add_option("--profile", arguments->profile, "Forecast with this profile, or by a published machine's")
      ->capture_default_str();
  add_bench_options(*command, arguments->bench);
  set_run(*command, run, arguments, run_halo);
}

}  // namespace ayatori::cli
