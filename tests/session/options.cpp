#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ayatori/base/error.hpp"
#include "ayatori/session/eigen/eigen_request.hpp"
#include "ayatori/session/map/map_request.hpp"
#include "ayatori/session/predict/predict_request.hpp"
#include "ayatori/session/probe/probe.hpp"
#include "ayatori/session/solve/solve_request.hpp"

namespace ayatori::session {
namespace {

const Option<SolveRequest>& option(const std::string& name) {
  for (const auto& one : solve_options())
    if (one.name == name) return one;
  throw std::logic_error("there is no option " + name);
}

std::span<const Option<SolveRequest>> table_of(const SolveRequest&) {
  return solve_options();
}
std::span<const Option<EigenRequest>> table_of(const EigenRequest&) {
  return eigen_options();
}
std::span<const Option<ProbeRequest>> table_of(const ProbeRequest&) {
  return probe_options();
}
std::span<const Option<PredictRequest>> table_of(const PredictRequest&) {
  return predict_options();
}
std::span<const Option<MapRequest>> table_of(const MapRequest&) {
  return map_options();
}

TEST(Options, AreRenamedWhereATextCallsThemByTheirNamesOnTheCommandLine) {
  std::string text = "--every says how often: name the file with --checkpoint; --everything, --fill";
  rename_options(solve_options(), text, [](const auto& one) { return "<" + one.name + ">"; });
  EXPECT_EQ(text, "<every> says how often: name the file with <checkpoint>; --everything, <fill>");
}

template <class Request>
class OptionsOf : public testing::Test {};
using Requests = testing::Types<SolveRequest, EigenRequest, ProbeRequest, PredictRequest, MapRequest>;
TYPED_TEST_SUITE(OptionsOf, Requests);

TYPED_TEST(OptionsOf, EachHasANameOfItsOwnAndHelp) {
  std::set<std::string> names;
  for (const auto& one : table_of(TypeParam())) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(one.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos) << one.name;
    EXPECT_FALSE(one.help.empty()) << one.name;
    EXPECT_TRUE(!one.only_words || !one.words.empty()) << one.name;
    EXPECT_FALSE(is_given(one, TypeParam())) << one.name;
  }
}

TYPED_TEST(OptionsOf, EachHasAPlaceOfItsOwn) {
  for (const auto& set : table_of(TypeParam())) {
    TypeParam request;
    std::visit(
        [&](auto place) {
          auto& value = place(request);
          using T = std::remove_reference_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::vector<std::string>>)
            value = {"changed"};
          else if constexpr (std::is_same_v<T, std::string>)
            value = "changed";
          else if constexpr (std::is_same_v<T, bool>)
            value = !value;
          else if constexpr (std::is_same_v<T, std::optional<double>> ||
                             std::is_same_v<T, std::optional<int>>)
            value = 7;
          else
            value += 7;
        },
        set.place);
    for (const auto& other : table_of(TypeParam()))
      EXPECT_EQ(is_given(other, request), other.name == set.name) << set.name << " and " << other.name;
  }
}

TYPED_TEST(OptionsOf, NumbersOutOfTheirRangesAreRefused) {
  for (const auto& set : table_of(TypeParam())) {
    if (!set.range) continue;
    EXPECT_GE(set.range->first, 0) << set.name;
    TypeParam request;
    std::visit(
        [&](auto place) {
          auto& value = place(request);
          using T = std::remove_reference_t<decltype(value)>;
          if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::optional<double>> ||
                        std::is_same_v<T, std::optional<int>>)
            value = -7;
        },
        set.place);
    EXPECT_TRUE(complaint(set, request).starts_with("-7: want ")) << set.name;
    EXPECT_THROW(check_values(table_of(request), request), InputError) << set.name;
  }
}

TYPED_TEST(OptionsOf, WordsThatThereAreNotAreRefused) {
  for (const auto& set : table_of(TypeParam())) {
    if (!set.only_words) continue;
    TypeParam request;
    const auto give = [&](const std::string& word) {
      std::visit(
          [&](auto place) {
            if constexpr (std::is_same_v<std::remove_reference_t<decltype(place(request))>, std::string>)
              place(request) = word;
          },
          set.place);
      return complaint(set, request);
    };
    for (const auto& word : set.words) EXPECT_EQ(give(word), "") << set.name;
    const std::string& last = set.words.back();
    EXPECT_TRUE(give(last + "x").starts_with(last + "x: did you mean " + last + "? There are ")) << set.name;
    EXPECT_THROW(check_values(table_of(request), request), InputError) << set.name;
  }
}

TEST(SolveOptions, WhatNobodyObeysIsRefused) {
  SolveRequest request{.preconditioner = "amg"};
  request.fill = 2;
  EXPECT_THROW(check(request), InputError);
  request.preconditioner = "ilut";
  EXPECT_NO_THROW(check(request));
  EXPECT_TRUE(is_given(option("fill"), request));
  EXPECT_FALSE(is_given(option("drop"), request));
}

TEST(SolveOptions, AReplayBringsItsOwnDecisions) {
  SolveRequest request{.replay = "result.json"};
  EXPECT_NO_THROW(check(request));
  request.kernel = "csr";
  EXPECT_THROW(check(request), InputError);
}

TEST(SolveOptions, WhatMeansNothingIsRefused) {
  EXPECT_THROW(check(SolveRequest{.time_limit = -1}), InputError);
  EXPECT_THROW(check(SolveRequest{.restart = "often"}), InputError);
  EXPECT_THROW(check(SolveRequest{.partition = "odd"}), InputError);
  EXPECT_THROW(check(SolveRequest{.every = 5}), InputError);
  EXPECT_THROW(check(SolveRequest{.threads = -1}), InputError);
  SolveRequest request{.preconditioner = "ilut"};
  request.overlap = 11;
  EXPECT_THROW(check(request), InputError);
}

TEST(SolveOptions, DevicesAreThoseThatThereAre) {
  EXPECT_EQ(tuning_options(SolveRequest()).device, "auto");
  for (const std::string word : {"auto", "none", "host"}) {
    const SolveRequest request{.device = word};
    EXPECT_NO_THROW(check(request)) << word;
    EXPECT_EQ(tuning_options(request).device, word);
  }
  try {
    check(SolveRequest{.device = "magic"});
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "--device magic: want auto, none or cuda");
  }
}

TEST(ProbeOptions, HowLongIsMeasured) {
  EXPECT_EQ(measure_options({}).seconds, 20);
  EXPECT_EQ(measure_options({.quick = true}).seconds, machine::quick_measuring.seconds);
  EXPECT_EQ(measure_options({.quick = true, .seconds = 0.5}).seconds, 0.5);
  EXPECT_TRUE(measure_options({.quick = true, .seconds = 0.5}).quick);
  EXPECT_THROW(check(ProbeRequest{.seconds = std::nan("")}), InputError);
}

TEST(PredictOptions, WhatMeansNothingIsRefused) {
  EXPECT_NO_THROW(check(PredictRequest()));
  EXPECT_THROW(check(PredictRequest{.nodes = "8..2"}), InputError);
  EXPECT_THROW(check(PredictRequest{.nodes = "1048576", .ranks_per_node = 2}), InputError);
  EXPECT_THROW(check(PredictRequest{.nodes = "5", .network = "torus:2x2"}), InputError);
  EXPECT_THROW(check(PredictRequest{.method = "sor"}), InputError);
  EXPECT_EQ(node_counts("3..20,2"), (std::set{2, 3, 4, 8, 16, 20}));
}

TEST(MapOptions, WhatMeansNothingIsRefused) {
  EXPECT_NO_THROW(check(MapRequest()));
  EXPECT_THROW(check(MapRequest{.objective = "beauty"}), InputError);
  EXPECT_THROW(check(MapRequest{.launcher = "catapult"}), InputError);
}

}  // namespace
}  // namespace ayatori::session
