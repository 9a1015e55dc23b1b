#include "ayatori/forecast/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "ayatori/base/find_named.hpp"
#include "ayatori/forecast/scaling.hpp"
#include "grids.hpp"
#include "machines.hpp"

namespace ayatori::forecast {
namespace {

const IterationWork& cg() {
  return find_named(iteration_works(), "cg", "method");
}
const VectorPreconditioner& none() {
  return vector_preconditioners().front();
}

Forecast forecast_of(const Pattern& pattern, const machine::Profile& profile, const JobShape& shape) {
  const JobMachine machine(profile, "profile", shape);
  const auto parts = partitions().front().parts(pattern, shape.ranks());
  return predict(spread(pattern, parts, shape.ranks()), cg(), none(), machine);
}

/// A diagonal matrix: no messages but reductions.
Pattern diagonal(std::int32_t rows) {
  Pattern pattern;
  for (std::int32_t row = 0; row < rows; ++row) {
    pattern.column.push_back(row);
    pattern.row_start.push_back(row + 1);
  }
  return pattern;
}

TEST(Predict, ADiagonalMatrixIsMemoryAndReductions) {
  constexpr int rows = 6400;
  for (const int nodes : {1, 2, 8, 64}) {
    const auto forecast = forecast_of(diagonal(rows), two_rank_nodes(), {nodes, 1, 1});
    const double here = static_cast<double>(rows) / nodes;
    EXPECT_NEAR(forecast[Phase::product], (12 * here + 8 * (here + 1) + 24 * here) * 1e-9, 1e-15);
    EXPECT_NEAR(forecast[Phase::vectors], 8 * (14 + 2) * here * 1e-9, 1e-15);
    EXPECT_NEAR(forecast[Phase::imbalance], 0, 1e-12);
    EXPECT_EQ(forecast[Phase::halo_latency] + forecast[Phase::halo_bandwidth], 0);
    int rounds = 0;
    while (1 << rounds < nodes) ++rounds;
    EXPECT_NEAR(forecast[Phase::reductions], rounds * (10e-6 + 6 * 8 * 1e-8), 1e-12);
  }
}

/// A reduction that goes on during a product leaves what is longer than the product.
TEST(Predict, PipelinedReductionsHideBehindProducts) {
  const auto& pipelined = find_named(iteration_works(), "pipelined-cg", "method");
  for (const int rows : {640, 6400000}) {
    const JobMachine machine(two_rank_nodes(), "profile", {64, 1, 1});
    const auto matrix = spread(diagonal(rows), partitions().front().parts(diagonal(rows), 64), 64);
    const auto forecast = predict(matrix, pipelined, none(), machine);
    const double whole = machine.allreduce_seconds(8 * pipelined.summed);
    EXPECT_NEAR(forecast[Phase::reductions], std::max(0.0, whole - forecast[Phase::product]), 1e-15);
    EXPECT_EQ(forecast[Phase::reductions] > 0, rows == 640);
  }
}

TEST(Predict, AChainIsOneElementToEachSide) {
  Pattern chain;
  constexpr int rows = 400;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (const std::int32_t column : {row - 1, row, row + 1})
      if (column >= 0 && column < rows) chain.column.push_back(column);
    chain.row_start.push_back(static_cast<std::int64_t>(chain.column.size()));
  }
  const auto forecast = forecast_of(chain, two_rank_nodes(), {4, 1, 1});
  EXPECT_EQ(forecast.messages, 6);
  EXPECT_EQ(forecast.bytes, 6 * 8);
  EXPECT_NEAR(forecast[Phase::halo_latency], 10e-6, 1e-9) << "messages are under way at once";
  EXPECT_NEAR(forecast[Phase::halo_bandwidth], 2 * 8 * 1e-8, 1e-9) << "two elements in and two out";
}

TEST(Predict, AFasterMachineIsNeverSlower) {
  const auto pattern = pattern_of("poisson2d-5:n=40");
  const auto base = two_rank_nodes();
  auto bandwidth = base;
  auto latency = base;
  auto memory = base;
  for (auto& level : bandwidth.levels)
    for (auto& curve : level.curves) curve.model.pieces[0].beta /= 2;
  for (auto& level : latency.levels) {
    for (auto& curve : level.curves) curve.model.pieces[0].alpha /= 2;
    level.structure.typical_seconds = level.curves.front().model.seconds(8);
  }
  for (auto& figure : memory.memory) figure.bytes_per_second.median *= 2;
  for (const JobShape shape : {JobShape{2, 2, 1}, JobShape{16, 1, 1}, JobShape{12, 2, 1}}) {
    const auto before = forecast_of(pattern, base, shape);
    for (const auto& [profile, resource] : {std::pair(bandwidth, Resource::bandwidth),
                                            {latency, Resource::latency},
                                            {memory, Resource::memory}}) {
      const auto after = forecast_of(pattern, profile, shape);
      EXPECT_LT(after.total(), before.total());
      // What gain() says by halving phases is what the machine gives; of a rank's uneven part not all is
      // counted as memory's, of a reduction's bytes none as bandwidth's.
      EXPECT_NEAR(before.total() / after.total(), before.gain(resource), 0.06);
    }
  }
}

TEST(Predict, UnevenPartsAreSeen) {
  const auto pattern = diagonal(3);
  const JobMachine machine(two_rank_nodes(), "profile", {2, 1, 1});
  const auto forecast =
      predict(spread(pattern, std::vector<std::int32_t>{0, 0, 1}, 2), cg(), none(), machine);
  const double row = (12 + 8 + 24 + 8 * 16) * 1e-9;
  EXPECT_NEAR(forecast[Phase::imbalance], row / 2, 1e-15) << "two rows where the mean is one and a half";
}

TEST(Conclude, CrossoversAndWhatBounds) {
  const auto pattern = pattern_of("poisson2d-5:n=64");
  std::vector<Forecast> forecasts;
  for (const int nodes : {1, 2, 4, 8, 16})
    forecasts.push_back(forecast_of(pattern, two_rank_nodes(), {nodes, 1, 1}));
  const auto conclusion = conclude(forecasts);
  // Reductions: 10 us and log2 of them; products: 4096 rows at 1 GB/s are 0.4 ms, and less with more nodes.
  int first = 0;
  for (const auto& forecast : forecasts)
    if (first == 0 && forecast[Phase::reductions] > forecast[Phase::product]) first = forecast.shape.nodes;
  ASSERT_GT(first, 1);
  const auto expected = "from " + std::to_string(first) + " nodes on reductions take more than products";
  EXPECT_NE(std::ranges::find(conclusion.crossovers, expected), conclusion.crossovers.end());
  EXPECT_EQ(forecasts.front().bound(), Phase::vectors);
  EXPECT_EQ(forecasts.back().bound(), Phase::reductions);
  EXPECT_NE(conclusion.sentence.find("latency, by the reductions, not bandwidth"), std::string::npos)
      << conclusion.sentence;
}

TEST(Conclude, HalfTheBandwidthAtTheSameLatencyBoundsByBandwidth) {
  // A full matrix: everybody needs everything, as nearly in the benchmark of Nishida's figures.
  Pattern full;
  constexpr std::int32_t rows = 600;
  for (std::int32_t row = 0; row < rows; ++row) {
    for (std::int32_t column = 0; column < rows; column += 7) full.column.push_back(column);
    full.row_start.push_back(static_cast<std::int64_t>(full.column.size()));
  }
  auto profile = two_rank_nodes();
  for (auto& curve : profile.levels.back().curves) curve.model.pieces[0].beta *= 10;
  for (auto& figure : profile.memory) figure.bytes_per_second.median *= 10;
  const std::vector<Forecast> forecasts{forecast_of(full, profile, {8, 1, 1})};
  EXPECT_EQ(forecasts.front().bound(), Phase::halo_bandwidth);
  EXPECT_GT(forecasts.front().gain(Resource::bandwidth), forecasts.front().gain(Resource::latency));
  EXPECT_NE(conclude(forecasts).sentence.find("bandwidth, by the halo exchange, not latency"),
            std::string::npos);
}

TEST(Conclude, SaysWhichSideOfTheNetworkAlsoWhereMemoryBounds) {
  const auto sentence_of = [](double latency, double bandwidth) {
    Forecast forecast{.shape = {8, 1, 1}};
    forecast.seconds = {9, 2, 0, latency / 2, bandwidth, latency / 2};
    return conclude(std::vector{forecast}).sentence;
  };
  const auto bandwidth = sentence_of(1, 3);
  EXPECT_NE(bandwidth.find("memory, by the product"), std::string::npos) << bandwidth;
  EXPECT_NE(bandwidth.find("of the network it is bandwidth, not latency"), std::string::npos) << bandwidth;
  const auto latency = sentence_of(3, 1);
  EXPECT_NE(latency.find("of the network it is latency, not bandwidth"), std::string::npos) << latency;
  EXPECT_EQ(sentence_of(0, 0).find("of the network it is"), std::string::npos);
  // The longest phase waits for bandwidth, all phases together for latency.
  const auto both = sentence_of(14, 9.5);
  EXPECT_NE(both.find("bandwidth, by the halo exchange ("), std::string::npos) << both;
  EXPECT_NE(both.find("of the network it is latency, not bandwidth"), std::string::npos) << both;
}

TEST(Scaling, OneJsonForCommandAndPackage) {
  const auto pattern = pattern_of("poisson2d-5:n=20");
  std::vector<JobMachine> machines;
  for (const int nodes : {1, 4}) machines.emplace_back(two_rank_nodes(), "profile", JobShape{nodes, 1, 1});
  const auto scaling = predict_scaling(pattern, partitions().front(), cg(), none(), machines);
  ASSERT_EQ(scaling.forecasts.size(), 2U);
  const auto json = to_json(scaling);
  EXPECT_EQ(json["points"][1]["speed_up"], scaling.speed_up(scaling.forecasts[1]));
  EXPECT_EQ(json["points"][1]["efficiency"], scaling.speed_up(scaling.forecasts[1]) / 4);
  EXPECT_EQ(json["points"][0]["network_bound"], nullptr);
  EXPECT_EQ(json["points"][1]["network_bound"], "latency");
  EXPECT_EQ(json["conclusion"], scaling.conclusion.sentence);
}

}  // namespace
}  // namespace ayatori::forecast
