#include <fmt/core.h>

#include <algorithm>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/topology.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "bench/papers/grid.hpp"
#include "cli/bench/bench.hpp"

namespace ayatori::cli {

namespace {

using Json = nlohmann::ordered_json;

/// A kernel that can be run over a grid: a new one is a line in the list.
struct GridEntry {
  const char* name;
  const char* description;
  GridSetup (*add)(Command& command);
};

constexpr std::array kernels{
    GridEntry{"npb-cg", "CG of the NAS parallel benchmarks", grid_npb_cg},
    GridEntry{"laplace", "Jacobi sweeps of the 5-point Laplace operator", grid_laplace},
    GridEntry{"matmul", "Dense matrix product (SUMMA)", grid_matmul},
    GridEntry{"radix-sort", "Sort of integers", grid_radix_sort},
    GridEntry{"stream", "Memory bandwidth", grid_stream}};

struct GridArguments {
  std::string profile = "auto";
  GridSetup kernel;
  bench::GridOptions grid;
  std::string json;
  std::string svg;
};

/// Last-level caches of this node.
double cache_bytes() {
  const auto node = machine::find_node();
  double bytes = 0;
  for (const auto& cache : node.caches) {
    const int count = std::max(1, node.processing_units / std::max(1, cache.sharers));
    bytes = static_cast<double>(cache.bytes) * count;  // the last is the last level
  }
  return bytes;
}

void print_grid(const std::vector<bench::GridPoint>& points, const std::vector<bench::Finding>& findings,
                const std::string& unit) {
  fmt::print(stderr, "{:>5} {:>7} {:>10} {:>10} {:>8} {:>10} {:>6} {:>7}", "ranks", "threads", "seconds",
             unit, "speed-up", "efficiency", "comm.", "triad");
  for (const auto& phase : points.front().sample.phases) fmt::print(stderr, " {:>10}", phase.name);
  fmt::print(stderr, "\n");
  for (const auto& point : points) {
    const auto [speed_up, efficiency] = bench::scaling(points, point);
    fmt::print(stderr, "{:>5} {:>7} {:>10.4f} {:>10.0f} {:>8.2f} {:>10.2f} {:>5.1f}% {:>7.1f}", point.ranks,
               point.threads, point.sample.seconds, point.sample.rate, speed_up, efficiency,
               100 * point.sample.communication_share(), 1e-9 * point.triad);
    for (const auto& phase : point.sample.phases) fmt::print(stderr, " {:>10.4f}", phase.seconds);
    fmt::print(stderr, "  {}\n", point.sample.note);
  }
  for (const auto& finding : findings)
    fmt::print(stderr, "{} ({}): {}\n", finding.name,
               finding.agrees ? "as in the paper" : "not as in the paper", finding.sentence);
}

Json point_json(const std::vector<bench::GridPoint>& points, const bench::GridPoint& point) {
  const auto [speed_up, efficiency] = bench::scaling(points, point);
  Json json{{"ranks", point.ranks},
            {"threads", point.threads},
            {"nodes", point.nodes},
            {"seconds", point.sample.seconds},
            {"rate", point.sample.rate},
            {"speed_up", speed_up},
            {"efficiency", efficiency},
            {"communication_share", point.sample.communication_share()},
            {"data_bytes", point.sample.data_bytes},
            {"triad_gigabytes_per_second", 1e-9 * point.triad},
            {"chosen", point.sample.note},
            {"phases", Json::object()}};
  for (const auto& phase : point.sample.phases) json["phases"][phase.name] = phase.seconds;
  return json;
}

/// On rank 0. What the points tell, and the machine's profile, if there is one, of many nodes.
std::vector<bench::Finding> find_all(const GridArguments& arguments,
                                     const std::vector<bench::GridPoint>& points,
                                     const machine::Profile* profile) {
  auto findings = bench::check_findings(points, cache_bytes());
  const int cores = machine::find_node().processing_units;
  if (!arguments.kernel.all_to_all_bytes || profile == nullptr || cores < 2) return findings;
  const double bytes = arguments.kernel.all_to_all_bytes();
  findings.push_back(
      bench::all_to_all_finding(bench::forecast_all_to_all(*profile, cores, bytes), cores, bytes));
  return findings;
}

int run_grid(const comm::Comm& world, const GridArguments& arguments) {
  const std::string title = comm::agree(world, arguments.kernel.check);
  std::shared_ptr<const machine::Profile> profile;
  if (arguments.kernel.all_to_all_bytes) profile = session::find_profile(world, arguments.profile).profile;
  const auto points = bench::run_grid(world, arguments.grid, arguments.kernel.run);
  const auto findings = comm::agree(world, [&] {
    return world.rank() == 0 ? find_all(arguments, points, profile.get()) : std::vector<bench::Finding>{};
  });
  if (world.rank() == 0) print_grid(points, findings, arguments.kernel.unit);
  Json json{{"schema", "ayatori.bench-grid/1"},
            {"kernel", title},
            {"rate_unit", arguments.kernel.unit},
            {"points", Json::array()},
            {"findings", Json::array()}};
  if (world.rank() == 0) {
    for (const auto& point : points) json["points"].push_back(point_json(points, point));
    for (const auto& [name, agrees, sentence] : findings)
      json["findings"].push_back({{"name", name}, {"agrees", agrees}, {"sentence", sentence}});
  }
  write_json(world, arguments.json, json);
  comm::agree(world, [&] {
    if (world.rank() == 0 && !arguments.svg.empty())
      write_file(arguments.svg, bench::draw_grid(points, title));
  });
  return 0;
}

}  // namespace

void add_grid_repetitions(Command& command, int& repetitions) {
  repetitions = grid_repetitions;
  command.add_option("--repetitions", repetitions, "Runs that a point is the median of")
      ->check(positive())
      ->capture_default_str();
}

void add_bench_grid(Command& bench, Run& run) {
  Command* grid = bench.add_subcommand("grid", "A kernel with every number of ranks and threads that fits");
  grid->examples(
      {{"ayatori bench grid npb-cg --class S --ranks 1 --threads 1 --svg grid.svg", "a picture of speed-ups"},
       {"mpirun -n 2 ayatori bench grid laplace --n 64 --sweeps 8 --threads 1 --repetitions 2 --elements "
        "10000",
        "one and two ranks"}});
  grid->require_subcommand(1);
  for (const GridEntry& entry : kernels) {
    auto arguments = std::make_shared<GridArguments>();
    Command* command = grid->add_subcommand(entry.name, entry.description);
    arguments->kernel = entry.add(*command);
    command->add_option("--ranks", arguments->grid.ranks, "Numbers of ranks; else 1, 2, 4, ... and all")
        ->delimiter(',');
    command
        ->add_option("--threads", arguments->grid.threads,
                     "Per rank; else 1, 2, 4, ... and the share of cores")
        ->delimiter(',');
    add_stream_elements(*command, arguments->grid.stream_elements);
    if (arguments->kernel.all_to_all_bytes)
      command
          ->add_option(
              "--profile", arguments->profile,
              "Machine profile, for all-to-all on many nodes: auto, none, a file, or a published one")
          ->capture_default_str();
    command->add_option("--json", arguments->json, "Write the result here");
    command->add_option("--svg", arguments->svg, "Draw speed-ups and phases here");
    set_run(*command, run, arguments, run_grid);
  }
}

}  // namespace ayatori::cli
