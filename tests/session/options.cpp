#include <gtest/gtest.h>

#include <set>

#include "ayatori/base/error.hpp"
#include "ayatori/session/solve/solve_request.hpp"

namespace ayatori::session {
namespace {

const Option<SolveRequest>& option(const std::string& name) {
  for (const auto& one : solve_options())
    if (one.name == name) return one;
  throw std::logic_error("there is no option " + name);
}

TEST(SolveOptions, EachHasANameOfItsOwnAndHelp) {
  std::set<std::string> names;
  for (const auto& one : solve_options()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(one.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string::npos) << one.name;
    EXPECT_FALSE(one.help.empty()) << one.name;
    EXPECT_TRUE(!one.only_words || !one.words.empty()) << one.name;
    EXPECT_FALSE(is_given(one, SolveRequest())) << one.name;
  }
}

TEST(SolveOptions, EachHasAPlaceOfItsOwn) {
  for (const auto& set : solve_options()) {
    SolveRequest request;
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
    for (const auto& other : solve_options())
      EXPECT_EQ(is_given(other, request), other.name == set.name) << set.name << " and " << other.name;
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

}  // namespace
}  // namespace ayatori::session
