#include "ayatori/collectives/table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/collectives/search/adapt.hpp"
#include "ayatori/collectives/words/plan_json.hpp"

namespace ayatori::collectives {
namespace {

nlohmann::json search_result(Operation operation, int ranks, const std::vector<std::int64_t>& sizes) {
  nlohmann::json best = nlohmann::json::array();
  const auto plan = make_plan(operation, ranks, parse_word("C"), DigitOrder::near_first, std::vector{ranks});
  for (const std::int64_t bytes : sizes)
    best.push_back({{"bytes", bytes}, {"plan", json_of(plan)}, {"finalists", nlohmann::json::array()}});
  return {
      {"schema", schedules_schema}, {"operation", type_of(operation).name}, {"ranks", ranks}, {"best", best}};
}

TEST(ScheduleTable, FindsByOperationAndRanks) {
  const ScheduleTable table(nlohmann::json::array({search_result(Operation::broadcast, 4, {64, 8}),
                                                   search_result(Operation::reduce, 3, {8}),
                                                   search_result(Operation::broadcast, 4, {16})}));
  EXPECT_FALSE(table.is_empty());
  EXPECT_TRUE(table.has(3));
  EXPECT_TRUE(table.has(4));
  EXPECT_FALSE(table.has(2));
  EXPECT_FALSE(table.has(5));
  EXPECT_TRUE(table.entries(Operation::broadcast, 3).empty());
  const auto entries = table.entries(Operation::broadcast, 4);
  ASSERT_EQ(entries.size(), 3);
  EXPECT_EQ(entries[0].bytes, 8);
  EXPECT_EQ(entries[1].bytes, 16);
  EXPECT_EQ(entries[2].bytes, 64);
  EXPECT_TRUE(ScheduleTable().is_empty());
}

TEST(ScheduleTable, BlocksGoAsTheRaceHasItElseWithTheSchedule) {
  auto search = search_result(Operation::gather, 2, {8, 16, 32, 64});
  search["best"][1]["blocks"] = "messages";
  search["best"][2]["plan"] = nullptr;
  search["best"][2]["blocks"] = "memory";
  search["best"][3]["plan"] = nullptr;
  const ScheduleTable table(nlohmann::json::array({search}));
  std::vector<bool> by_memory;
  for (const auto& entry : table.entries(Operation::gather, 2))
    by_memory.push_back(entry.sends_blocks_by_memory());
  EXPECT_EQ(by_memory, (std::vector{true, false, true, false}));
  search["best"][0]["blocks"] = "carrier pigeon";
  EXPECT_THROW(ScheduleTable(nlohmann::json::array({search})), InputError);
}

TEST(ScheduleTable, NearestRanksAsARatio) {
  const ScheduleTable table(nlohmann::json::array({search_result(Operation::broadcast, 4, {8}),
                                                   search_result(Operation::reduce, 12, {8}),
                                                   search_result(Operation::broadcast, 16, {8})}));
  EXPECT_EQ(table.nearest_ranks(Operation::broadcast, 2), 4);
  EXPECT_EQ(table.nearest_ranks(Operation::broadcast, 8), 4);
  EXPECT_EQ(table.nearest_ranks(Operation::broadcast, 9), 16);
  EXPECT_EQ(table.nearest_ranks(Operation::broadcast, 16), 16);
  EXPECT_EQ(table.nearest_ranks(Operation::gather, 4), std::nullopt);
}

TEST(Adapt, KeepsWhatTheMpiIsBestFor) {
  auto tuned = search_result(Operation::broadcast, 4, {8, 64, 1024});
  tuned["best"][1]["plan"] = nullptr;
  const ScheduleTable table(nlohmann::json::array({tuned}));
  const auto profile = machine::load_profile("pc-cluster-gbe");
  const auto entries = adapt(table, Operation::broadcast, 6, profile);
  ASSERT_EQ(entries.size(), 3);
  EXPECT_EQ(entries[2].bytes, 1024);
  EXPECT_FALSE(entries[1].plan);
  ASSERT_TRUE(entries[2].plan);
  EXPECT_EQ(entries[2].plan->ranks, 6);
  const auto found = search(Operation::broadcast, 6, profile, std::vector<std::int64_t>{8, 1024});
  EXPECT_EQ(entries[0].plan, found[0].best().plan);
  EXPECT_EQ(entries[2].plan, found[1].best().plan);
  EXPECT_EQ(adapt(table, Operation::broadcast, 4, profile)[0].plan,
            table.entries(Operation::broadcast, 4)[0].plan);
  EXPECT_TRUE(adapt(table, Operation::reduce, 6, profile).empty());
}

TEST(ScheduleTable, NearestSizeAsARatio) {
  const ScheduleTable table(
      nlohmann::json::array({search_result(Operation::broadcast, 4, {8, 64, 64, 1024})}));
  const auto entries = table.entries(Operation::broadcast, 4);
  const auto place = [&](std::int64_t bytes) { return nearest(entries, bytes) - entries.data(); };
  EXPECT_EQ(place(1), 0);
  EXPECT_EQ(place(22), 0);
  EXPECT_EQ(place(23), 1);  // beyond sqrt(8 * 64); of equal sizes the first
  EXPECT_EQ(place(64), 1);
  EXPECT_EQ(place(200), 1);
  EXPECT_EQ(place(300), 3);
  EXPECT_EQ(place(2049), 3);
  EXPECT_EQ(nearest(entries, 2050), nullptr);
  EXPECT_EQ(nearest({}, 8), nullptr);
}

/// Where tuning has found nothing better.
TEST(ScheduleTable, TheMpisOwnMayBeBest) {
  auto tuned = search_result(Operation::broadcast, 4, {8, 64});
  tuned["best"][1]["plan"] = nullptr;
  const ScheduleTable table(nlohmann::json::array({tuned}));
  const auto entries = table.entries(Operation::broadcast, 4);
  EXPECT_TRUE(nearest(entries, 8)->plan);
  EXPECT_FALSE(nearest(entries, 100)->plan);
}

TEST(ScheduleTable, ReadsSeveralFiles) {
  const std::string folder = testing::TempDir();
  const auto one = search_result(Operation::broadcast, 4, {8});
  write_file(folder + "/one.json", one.dump());
  write_file(folder + "/two.json",
             nlohmann::json::array({one, search_result(Operation::reduce, 4, {8})}).dump());
  const auto all = read_schedules(folder + "/one.json:" + folder + "/two.json");
  EXPECT_EQ(all.size(), 3);
  EXPECT_FALSE(all[0]["best"][0].contains("finalists"));
  EXPECT_EQ(ScheduleTable(all).entries(Operation::broadcast, 4).size(), 2);
  write_file(folder + "/bad.json", "[7]");
  EXPECT_THROW(read_schedules(folder + "/one.json:" + folder + "/bad.json"), InputError);
  EXPECT_THROW(read_schedules(folder + "/none.json"), InputError);
  EXPECT_TRUE(read_schedules("").empty());
}

}  // namespace
}  // namespace ayatori::collectives
