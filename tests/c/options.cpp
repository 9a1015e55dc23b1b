#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "systems.hpp"

namespace ayatori::c {
namespace {

std::vector<const ayatori_option*> all_options() {
  std::vector<const ayatori_option*> options;
  for (int i = 0; const auto* const option = ayatori_option_at(i); ++i) options.push_back(option);
  return options;
}

std::string another_value(const ayatori_option& option) {
  const std::string type = option.type;
  if (type == "number") return "0.25";
  if (type == "integer") return "3";
  if (type == "boolean") return std::strcmp(option.initial, "true") == 0 ? "false" : "true";
  if (type == "list") return "cg,mgs";
  const std::string words = option.words;
  const auto first = words.substr(0, words.find(','));
  const auto last = words.substr(words.rfind(',') + 1);
  return words.empty() ? "somewhere" : first == option.initial ? last : first;
}

TEST(Options, AreThoseOfTheTable) {
  std::set<std::string> names;
  for (const auto* const option : all_options()) {
    names.insert(option->name);
    EXPECT_GT(std::strlen(option->help), 5U) << option->name;
    EXPECT_FALSE(contains(option->help, "--")) << option->help;
  }
  EXPECT_EQ(names.size(), all_options().size());
  for (const char* name :
       {"rtol", "max-iterations", "method", "exclude", "deterministic", "every", "threads"})
    EXPECT_EQ(names.count(name), 1U) << name;
  EXPECT_EQ(ayatori_option_at(-1), nullptr);
}

TEST(Options, AllTakeWhatTheyGive) {
  const auto solver = make_solver();
  for (const auto* const option : all_options()) {
    ASSERT_STREQ(ayatori_get_option(solver.get(), option->name), option->initial);
    EXPECT_EQ(ayatori_set_option(solver.get(), option->name, option->initial), AYATORI_OK)
        << option->name << ": " << ayatori_error_text(solver.get());
    const auto value = another_value(*option);
    EXPECT_EQ(ayatori_set_option(solver.get(), option->name, value.c_str()), AYATORI_OK)
        << option->name << ": " << ayatori_error_text(solver.get());
    EXPECT_STREQ(ayatori_get_option(solver.get(), option->name), value.c_str());
    EXPECT_STRNE(value.c_str(), option->initial) << option->name;
  }
}

TEST(Options, AreAlsoNamedAsInPython) {
  const auto solver = make_solver();
  EXPECT_EQ(ayatori_set_option(solver.get(), "max_iterations", "12"), AYATORI_OK);
  EXPECT_STREQ(ayatori_get_option(solver.get(), "max-iterations"), "12");
}

TEST(Options, LibrariesMeasureAndWriteNothingUnasked) {
  const auto solver = make_solver();
  EXPECT_STREQ(ayatori_get_option(solver.get(), "profile"), "none");
  EXPECT_STREQ(ayatori_get_option(solver.get(), "knowledge"), "none");
}

TEST(Options, UnknownOnesAreRefusedWithTheNamesThatThereAre) {
  const auto solver = make_solver();
  EXPECT_EQ(ayatori_set_option(solver.get(), "rtoll", "1e-3"), AYATORI_BAD_INPUT);
  const std::string text = ayatori_error_text(solver.get());
  EXPECT_TRUE(contains(text, "rtoll") && contains(text, "rtol, ")) << text;
  EXPECT_EQ(ayatori_get_option(solver.get(), "rtoll"), nullptr);
  EXPECT_EQ(ayatori_set_option(solver.get(), nullptr, "1"), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_option(solver.get(), "rtol", nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_get_option(solver.get(), nullptr), nullptr);
}

TEST(Options, WrongValuesAreRefusedAndChangeNothing) {
  const auto solver = make_solver();
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"rtol", "small"},          {"rtol", ""},         {"rtol", "1e-8x"},         {"rtol", "nan"},
      {"time-limit", "inf"},      {"time-limit", "-1"}, {"max-iterations", "1.5"}, {"max-iterations", "-3"},
      {"overlap", "11"},          {"overlap", "-1"},    {"degree", "101"},         {"threads", "99999999999"},
      {"deterministic", "maybe"}, {"ordering", "amd"},  {"every", "soon"},         {"use-ranks", "some"},
      {"partition", "half"}};
  for (const auto& [name, value] : wrong) {
    const std::string before = ayatori_get_option(solver.get(), name);
    EXPECT_EQ(ayatori_set_option(solver.get(), name, value), AYATORI_BAD_INPUT) << name << " " << value;
    const std::string text = ayatori_error_text(solver.get());
    EXPECT_EQ(text.rfind(std::string(name) + ": ", 0), 0U) << text;
    EXPECT_EQ(ayatori_get_option(solver.get(), name), before);
  }
}

TEST(Options, WhatMeansNothingIsRefusedWithTheMatrixOnAllRanks) {
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  using Setting = std::pair<const char*, const char*>;
  for (const auto& [name, value] :
       {Setting{"method", "magic"}, Setting{"preconditioner", "magic"}, Setting{"restart", "long"},
        Setting{"fill", "2"}, Setting{"threads", "1000000"}, Setting{"every", "5"}}) {
    const auto solver = make_solver();
    ASSERT_EQ(ayatori_set_option(solver.get(), name, value), AYATORI_OK) << name;
    EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_BAD_INPUT) << name;
    const std::string text = ayatori_error_text(solver.get());
    EXPECT_TRUE(!text.empty() && !contains(text, "--")) << text;
  }
}

TEST(Options, HaveToBeTheSameOnAllRanks) {
  if (size_of(everyone()) == 1) return;
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  if (is_last(everyone())) ayatori_set_option(solver.get(), "rtol", "1e-3");
  EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(solver.get()), "option rtol is '0.001'"))
      << ayatori_error_text(solver.get());
  ayatori_set_option(solver.get(), "rtol", "1e-9");
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  if (rank_in(everyone()) == 0) ayatori_set_option(solver.get(), "method", "cg");
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  EXPECT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), nullptr), AYATORI_BAD_INPUT);
  ayatori_set_option(solver.get(), "method", "cg");
  expect_solves(solver.get(), rows);
}

TEST(Options, HoldFromTheNextSolveOn) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows(), 2.05);
  ayatori_set_option(solver.get(), "method", "cg");
  ayatori_set_option(solver.get(), "preconditioner", "none");
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  const auto b = rows.b();
  std::map<std::string, std::int64_t> iterations;
  for (const char* rtol : {"1e-2", "1e-12"}) {
    ASSERT_EQ(ayatori_set_option(solver.get(), "rtol", rtol), AYATORI_OK);
    std::vector<double> x(b.size(), 0.0);
    auto result = new_result();
    ASSERT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), &result), AYATORI_OK)
        << ayatori_error_text(solver.get());
    EXPECT_EQ(result.converged, 1);
    EXPECT_LE(result.relative_residual, std::stod(rtol));
    iterations[rtol] = result.iterations;
  }
  EXPECT_LT(iterations["1e-2"], iterations["1e-12"]);
}

TEST(Options, OfHowRowsAreSpreadWantTheMatrixAnew) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  ayatori_set_option(solver.get(), "partition", "graph");
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  EXPECT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), nullptr), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(solver.get()), "give it anew"));
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);
}

}  // namespace
}  // namespace ayatori::c
