#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "ayatori/base/json.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/collectives/words/plan_json.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/environment.hpp"
#include "bench/collectives/collectives.hpp"
#include "cli/collectives/collectives.hpp"

namespace ayatori::cli {

namespace {

struct CollectivesBenchArguments {
  std::string schedules;
  std::vector<std::string> operations;
  std::string sizes;
  bool all_finalists = false;
  bool with_algorithms = true;
  bench::CollectiveOptions timing = {.seconds = 60};
  std::string side = "both";
  std::string json;
};

struct Cases {
  std::vector<bench::CollectiveRace> races;  ///< races of at most one schedule
  std::vector<int> finalist;                 ///< which of its size a schedule is
};

/// What --operations and --sizes ask for.
class Wanted {
 public:
  explicit Wanted(const CollectivesBenchArguments& arguments)
      : operations_(operations_of(arguments.operations)) {
    if (!arguments.sizes.empty()) sizes_ = parse_size_range(arguments.sizes);
  }
  bool has(collectives::Operation operation, std::int64_t bytes) const {
    return std::ranges::count(operations_, operation) > 0 && sizes_.first <= bytes && bytes <= sizes_.last;
  }

 private:
  std::vector<collectives::Operation> operations_;
  SizeRange sizes_{0, std::numeric_limits<std::int64_t>::max()};
};

/// An operation that was named but is not there is an error, and so is nothing at all.
void check_found(const CollectivesBenchArguments& arguments, const Cases& cases) {
  const std::string sizes = arguments.sizes.empty() ? "" : fmt::format(" of --sizes {}", arguments.sizes);
  for (const auto& name : arguments.operations) {
    const auto operation = collectives::operation(name);
    if (std::ranges::count(cases.races, operation, &bench::CollectiveRace::operation) == 0)
      throw InputError(fmt::format("there is no {}{}", name, sizes));
  }
  if (cases.races.empty() && !sizes.empty()) throw InputError(fmt::format("there is nothing{}", sizes));
}

/// What `search` or `tune` has written: the best for every size, or all finalists.
Cases load_cases(const CollectivesBenchArguments& arguments) {
  const Wanted wanted(arguments);
  const std::string& path = arguments.schedules;
  return naming(path, [&] {
    const auto json = read_json(path);
    Cases cases;
    const auto add = [&](collectives::Operation operation, const nlohmann::json& bytes,
                         const nlohmann::json& plan, int finalist) {
      auto known = collectives::plan_of(plan);
      cases.races.push_back({operation, bytes, {std::move(known)}, bench::all_algorithms()});
      cases.finalist.push_back(finalist);
    };
    for (const auto& search : json.is_array() ? json : nlohmann::json::array({json})) {
      if (search.at("schema") != collectives::schedules_schema)
        throw InputError("not what `collectives search --json` or `tune` writes");
      const auto operation = collectives::operation(search.at("operation").get<std::string>());
      for (const auto& best : search.at("best")) {
        if (!wanted.has(operation, best.at("bytes"))) continue;
        int finalist = 0;
        if (arguments.all_finalists) {
          for (const auto& candidate : best.at("finalists"))
            add(operation, best.at("bytes"), candidate.at("plan"), finalist++);
        } else if (!best.at("plan").is_null()) {
          add(operation, best.at("bytes"), best.at("plan"), finalist);
        } else {
          cases.races.push_back({operation, best.at("bytes"), {}, bench::all_algorithms()});
          cases.finalist.push_back(finalist);
        }
      }
    }
    check_found(arguments, cases);
    return cases;
  });
}

nlohmann::ordered_json json_of(const machine::Estimate& seconds) {
  return {{"median", seconds.median}, {"low", seconds.low}, {"high", seconds.high}};
}

/// Means of ratios.
class GeometricMean {
 public:
  void add(double ratio) {
    logarithms_ += std::log(ratio);
    ++count_;
  }
  std::string text() const {
    return count_ == 0 ? "-" : fmt::format("{:.2f}", std::exp(logarithms_ / count_));
  }

 private:
  double logarithms_ = 0;
  int count_ = 0;
};

std::string microseconds(const machine::Estimate* seconds) {
  return seconds == nullptr ? "-" : fmt::format("{:.2f}", 1e6 * seconds->median);
}

std::string ratio_text(const machine::Estimate* mpi, const machine::Estimate* ours, GeometricMean& mean) {
  if (mpi == nullptr || ours == nullptr) return "-";
  mean.add(mpi->median / ours->median);
  return fmt::format("{:.2f}", mpi->median / ours->median);
}

/// A table for people, and the same as JSON.
nlohmann::ordered_json report(const Cases& cases, std::span<const bench::RaceTimes> times,
                              const bench::CollectiveOptions& options) {
  auto timings = nlohmann::ordered_json::array();
  fmt::print(stderr, "{:<14}{:>11}  {:<32}{:>12}  {:<32}{:>12}{:>12}{:>8}{:>8}\n", "collective", "bytes",
             "schedule", "ours, us", "MPI's best algorithm", "it, us", "MPI, us", "it/ours", "ratio");
  GeometricMean to_default;
  GeometricMean to_forced;
  int left_out = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& race = cases.races[i];
    const auto& [mpi, plans, forced, of_race_left_out] = times[i];
    left_out += of_race_left_out;
    const std::string text = race.plans.empty() ? "the MPI's own" : describe(race.plans.front());
    const auto* const ours_seconds = options.ours && !plans.empty() ? &plans.front() : nullptr;
    const auto* const mpi_seconds = options.mpi ? &mpi : nullptr;
    const auto* const forced_seconds = forced ? &forced->seconds : nullptr;
    const auto name = collectives::type_of(race.operation).name;
    fmt::print(stderr, "{:<14}{:>11}  {:<32}{:>12}  {:<32}{:>12}{:>12}{:>8}{:>8}\n", name, race.bytes,
               shortened(text, 31), microseconds(ours_seconds),
               forced ? shortened(forced->algorithm.text(), 31) : "-", microseconds(forced_seconds),
               microseconds(mpi_seconds), ratio_text(forced_seconds, ours_seconds, to_forced),
               ratio_text(mpi_seconds, ours_seconds, to_default));
    nlohmann::ordered_json timing{
        {"operation", name}, {"bytes", race.bytes}, {"finalist", cases.finalist[i]}, {"text", text}};
    if (mpi_seconds != nullptr) timing["mpi_seconds"] = json_of(*mpi_seconds);
    if (ours_seconds != nullptr) timing["schedule_seconds"] = json_of(*ours_seconds);
    if (forced) {
      timing["mpi_algorithm"] = forced->algorithm.text();
      timing["mpi_algorithm_seconds"] = json_of(forced->seconds);
    }
    if (of_race_left_out > 0) timing["mpi_algorithms_left_out"] = of_race_left_out;
    timings.push_back(std::move(timing));
  }
  fmt::print(stderr,
             "geometric means of MPI/ours: {}, of its best algorithm/ours: {}; all results are the MPI's\n",
             to_default.text(), to_forced.text());
  if (left_out > 0)
    fmt::print(stderr, "left out, since --seconds {:g} is too short: {} of the MPI's algorithms\n",
               options.seconds, left_out);
  return timings;
}

int run_bench(const comm::Comm& world, const CollectivesBenchArguments& arguments) {
  const auto cases = comm::agree(world, [&] {
    if (!(arguments.timing.seconds > 0))
      throw InputError(fmt::format("--seconds {}: not a number of seconds", arguments.timing.seconds));
    if (world.rank() == 0 && !arguments.json.empty()) check_writable(arguments.json);
    return load_cases(arguments);
  });
  auto options = arguments.timing;
  options.mpi = arguments.side != "ours";
  options.ours = arguments.side != "mpi";
  const bool in_turns = options.calls == 0;
  std::optional<bench::ForcedComms> forced;
  if (in_turns && options.mpi && arguments.with_algorithms && world.size() > 1) forced.emplace(world);
  const auto times = time_collectives(world, cases.races, options, forced ? &*forced : nullptr);
  if (world.rank() != 0) return 0;
  const nlohmann::ordered_json json{{"schema", "ayatori.bench-collectives/2"},
                                    {"mpi", comm::mpi_version()},
                                    {"ranks", world.size()},
                                    {"timings", report(cases, times, options)}};
  if (!arguments.json.empty()) write_file(arguments.json, json.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_collectives_bench(Command& collectives, Run& run) {
  auto arguments = std::make_shared<CollectivesBenchArguments>();
  auto* racing =
      collectives.add_subcommand("bench", "Time schedules against the MPI's own operation, in this job");
  racing->examples(
      {{"mpirun -n 2 ayatori collectives bench --table table.json --seconds 1",
        "the table's schedules beside the MPI"},
       {"mpirun -n 2 ayatori collectives bench --table table.json --side ours --seconds 1 --json times.json",
        "these alone, kept"}});
  racing->add_option("--schedules,--table", arguments->schedules, "What search --json or tune has written")
      ->required();
  racing->add_option("--operations", arguments->operations, "Only these of the table")->delimiter(',');
  racing->add_option("--sizes", arguments->sizes, "Only these of the table: bytes of the buffer, from:to");
  racing->add_flag("--finalists", arguments->all_finalists,
                   "All that the search has replayed, not the best only");
  racing->add_flag(
      "--algorithms,!--no-algorithms", arguments->with_algorithms,
      "Also the best of the algorithms that the MPI can be made to use (default: yes, without --calls)");
  racing
      ->add_option("--seconds", arguments->timing.seconds,
                   "For all together: what there is no time for is left out, and said")
      ->check(range(0.1, 3600.0))
      ->capture_default_str();
  racing
      ->add_option("--calls", arguments->timing.calls,
                   "How many of each instead, for simulators (default: 0)")
      ->check(range(0, 1000));
  racing->add_option("--side", arguments->side, "both, mpi or ours: what is timed")
      ->check(one_of({"both", "mpi", "ours"}))
      ->capture_default_str();
  racing->add_option("--json", arguments->json, "Write the result here (schema ayatori.bench-collectives/2)");
  racing->callback([&run, arguments] {
    run = [arguments](const comm::Comm& world) { return run_bench(world, *arguments); };
  });
}

}  // namespace ayatori::cli
