#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/search/adapt.hpp"
#include "ayatori/collectives/words/plan_json.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/machine_profile.hpp"
#include "cli/collectives/collectives.hpp"

namespace ayatori::cli {

namespace {

struct AdaptRequest {
  std::string table;
  std::string output;
  std::string profile = "auto";
  std::vector<int> ranks;
};

int adapt(const comm::Comm& world, const AdaptRequest& arguments) {
  const auto table = comm::agree(
      world, [&] { return collectives::ScheduleTable(collectives::read_schedules(arguments.table)); });
  const auto found = session::find_profile(world, arguments.profile);
  comm::agree(world, [&] {
    if (found.profile == nullptr)
      throw InputError(
          fmt::format("--profile: a machine is needed to search for{}", session::reason_of(found)));
    if (world.rank() != 0) return;
    fmt::print(stderr, "machine: {}\n", found.description);
    auto adapted = nlohmann::ordered_json::array();
    for (const int ranks : arguments.ranks) {
      for (const auto& type : collectives::operations()) {
        const auto entries = adapt(table, type.operation, ranks, machine::through_memory(*found.profile));
        if (entries.empty()) continue;
        auto best = nlohmann::ordered_json::array();
        for (const auto& entry : entries) {
          best.push_back({{"bytes", entry.bytes},
                          {"plan", entry.plan ? json_of(*entry.plan) : nlohmann::ordered_json()}});
          if (entry.blocks_by_memory) best.back()["blocks"] = collectives::blocks_by(*entry.blocks_by_memory);
        }
        const int from = *table.nearest_ranks(type.operation, ranks);
        const auto plans =
            std::ranges::count_if(entries, [](const auto& entry) { return entry.plan.has_value(); });
        fmt::print(stderr, "{:<14} on {} ranks, from {}: {} sizes by schedules, {} by the MPI\n", type.name,
                   ranks, from, plans, std::ssize(entries) - plans);
        adapted.push_back({{"schema", collectives::schedules_schema},
                           {"operation", type.name},
                           {"ranks", ranks},
                           {"adapted_from_ranks", from},
                           {"best", best}});
      }
    }
    write_file(arguments.output, adapted.dump(1) + "\n");
  });
  return 0;
}

}  // namespace

void add_collectives_adapt(Command& collectives, Run& run) {
  auto arguments = std::make_shared<AdaptRequest>();
  auto* adapting = collectives.add_subcommand(
      "adapt", "Make a table for other numbers of ranks, by the machine's profile, without a race");
  adapting->examples({{"ayatori collectives adapt table.json --ranks 3,4 --profile altix3700bx2 -o more.json",
                       "for 3 and 4 ranks"},
                      {"ayatori collectives adapt table.json --ranks 64 --profile altix3700bx2 -o -",
                       "to standard output"}});
  adapting->add_option("table", arguments->table, "What tune or search --json has written")->required();
  adapting->add_option("--ranks", arguments->ranks, "Such as 2,4,6")
      ->delimiter(',')
      ->required()
      ->check(range(1, 65536));
  add_table(*adapting, arguments->output);
  add_profile(*adapting, arguments->profile);
  adapting->callback(
      [&run, arguments] { run = [arguments](const comm::Comm& world) { return adapt(world, *arguments); }; });
}

}  // namespace ayatori::cli
