#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/collectives/words/plan_json.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/machine/measure.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "bench/collectives/mpi_rules.hpp"
#include "bench/collectives/tuned_table.hpp"
#include "cli/collectives/collectives.hpp"

namespace ayatori::cli {

namespace {

struct TuneRequest {
  std::vector<std::string> operations;
  std::string table;
  std::string open_mpi_rules;
  std::string sizes = "8:4M";
  std::string profile = "auto";
  double seconds = 60;
};

/// Collective. The profile to tune by: one that knows all ranks of this job.
std::shared_ptr<const machine::Profile> profile_to_tune_by(const comm::Comm& world, const std::string& word) {
  auto found = session::find_profile(world, word);
  auto& profile = found.profile;
  if (word == "none") throw InputError("--profile none: tuning goes by the machine's profile");
  if (profile == nullptr || (word == "auto" && profile->ranks < world.size())) {
    profile = std::make_shared<const machine::Profile>(
        machine::measure(world, {.quick = true, .seconds = machine::quick_measuring.seconds}));
    found.description = "measured just now";
  }
  if (world.rank() == 0) fmt::print(stderr, "machine: {}\n", found.description);
  return profile;
}

nlohmann::ordered_json json_of(const machine::Estimate& seconds) {
  return {{"median", seconds.median}, {"low", seconds.low}, {"high", seconds.high}};
}

/// What `tune` writes of an operation.
nlohmann::ordered_json json_of(const bench::TunedOperation& tuned, int ranks, bool can_copy_once) {
  auto best = nlohmann::ordered_json::array();
  for (const auto& size : tuned.sizes) {
    best.push_back({{"bytes", size.bytes},
                    {"plan", size.plan ? json_of(*size.plan) : nlohmann::ordered_json()},
                    {"mpi_seconds", json_of(size.mpi)},
                    {"schedule_seconds", json_of(size.ours)}});
    if (size.forced) {
      best.back()["mpi_algorithm"] = size.forced->algorithm.text();
      best.back()["mpi_algorithm_seconds"] = json_of(size.forced->seconds);
    }
    if (size.blocks) {
      best.back()["blocks"] = collectives::blocks_by(size.blocks_by_memory);
      best.back()["blocks_mpi_seconds"] = json_of(size.blocks->mpi);
      best.back()["blocks_memory_seconds"] = json_of(size.blocks->memory);
    }
    for (const auto& [guideline, factor] : size.violations)
      best.back()["violated_guidelines"].push_back({{"guideline", guideline}, {"factor", factor}});
  }
  return {{"schema", collectives::schedules_schema},
          {"operation", collectives::type_of(tuned.operation).name},
          {"ranks", ranks},
          {"mpi", comm::mpi_version()},
          {"single_copy", can_copy_once ? "raced" : "not possible"},
          {"best", best}};
}

void print(const bench::TunedOperation& tuned) {
  const auto name = collectives::type_of(tuned.operation).name;
  for (const auto& size : tuned.sizes) {
    const std::string text = size.plan     ? describe(*size.plan)
                             : size.forced ? "the MPI's " + size.forced->algorithm.text()
                                           : "the MPI's own";
    fmt::print(stderr, "{:<14}{:>11}  {:<40}{:>14.2f}{:>14.2f}{:>14}{:>8.2f}\n", name, size.bytes,
               shortened(text, 39), 1e6 * size.ours.median, 1e6 * size.mpi.median,
               size.forced ? fmt::format("{:.2f}", 1e6 * size.forced->seconds.median) : "-",
               size.mpi.median / size.ours.median);
    if (size.blocks)
      fmt::print(stderr, "{:<14}{:>11}  {:<40}{:>14.2f}{:>14.2f}{:>14}{:>8.2f}\n", fmt::format("{}v", name),
                 "", size.blocks_by_memory ? "blocks through memory" : "the MPI's own",
                 1e6 * size.blocks->memory.median, 1e6 * size.blocks->mpi.median, "-",
                 size.blocks->mpi.median / size.blocks->memory.median);
    for (const auto& [guideline, factor] : size.violations)
      fmt::print(stderr, "{:<14}{:>11}  violated guideline: {}, factor {:.2f}\n", "", "", guideline, factor);
  }
}

int tune(const comm::Comm& world, const TuneRequest& arguments) {
  const auto operations = comm::agree(world, [&] {
    if (!arguments.open_mpi_rules.empty() && std::string_view(comm::mpi_version()).find("Open MPI") != 0)
      throw InputError(fmt::format("--openmpi-rules: this is {}", comm::mpi_version()));
    for (const auto& path : {arguments.table, arguments.open_mpi_rules}) {
      if (world.rank() == 0 && !path.empty()) check_writable(path);
    }
    return operations_of(arguments.operations);
  });
  const auto sizes = comm::agree(world, [&] { return parse_sizes(arguments.sizes); });
  bench::TuneOptions options;
  options.seconds = arguments.seconds;
  options.rules = !arguments.open_mpi_rules.empty();
  const auto profile = profile_to_tune_by(world, arguments.profile);
  const auto tuned = bench::tune_collectives(world, *profile, operations, sizes, options);
  const bool can_copy_once = bench::can_copy_once(world);
  comm::agree(world, [&] {
    if (world.rank() != 0) return;
    auto table = nlohmann::ordered_json::array();
    fmt::print(stderr, "{:<14}{:>11}  {:<40}{:>14}{:>14}{:>14}{:>8}\n", "collective", "bytes", "best",
               "ours, us", "MPI, us", "by rules, us", "ratio");
    for (const auto& operation : tuned) {
      print(operation);
      table.push_back(json_of(operation, world.size(), can_copy_once));
    }
    if (!can_copy_once)
      fmt::print(stderr,
                 "inside a node messages are copied twice: the kernel lets no rank read another's memory\n");
    int left_out = 0;
    for (const auto& operation : tuned) {
      for (const auto& size : operation.sizes) left_out += size.left_out;
    }
    if (left_out > 0)
      fmt::print(stderr, "left out, since --seconds {:g} is too short: {} of the MPI's algorithms\n",
                 arguments.seconds, left_out);
    write_file(arguments.table, table.dump(1) + "\n");
    if (options.rules) write_file(arguments.open_mpi_rules, open_mpi_rules(tuned, world.size()));
  });
  return 0;
}

}  // namespace

void add_collectives_tune(Command& collectives, Run& run) {
  auto arguments = std::make_shared<TuneRequest>();
  auto* tuning = collectives.add_subcommand(
      "tune", "Race schedules against the MPI's own operations, and keep what wins");
  tuning->examples(
      {{"mpirun -n 2 ayatori collectives tune --operations allreduce --sizes 1K:4K --seconds 1 -o table.json",
        "of some sizes"},
       {"mpirun -n 2 ayatori collectives tune --operations bcast --sizes 8:64 --seconds 1 --profile "
        "altix3700bx2 -o table.json",
        "candidates by a published machine's profile"}});
  add_table(*tuning, arguments->table);
  tuning->add_option("--openmpi-rules", arguments->open_mpi_rules,
                     "Race Open MPI's algorithms, too, and write the best as its rules "
                     "(coll_tuned_dynamic_rules_filename)");
  tuning->add_option("--operations", arguments->operations, "Default: all")->delimiter(',');
  add_sizes(*tuning, arguments->sizes);
  add_profile(*tuning, arguments->profile);
  tuning->add_option("--seconds", arguments->seconds, "Of races")
      ->check(range(0.1, 36000.0))
      ->capture_default_str();
  tuning->callback(
      [&run, arguments] { run = [arguments](const comm::Comm& world) { return tune(world, *arguments); }; });
}

}  // namespace ayatori::cli
