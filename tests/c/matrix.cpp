#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "systems.hpp"

namespace ayatori::c {
namespace {

template <class Index>
class Matrix : public testing::Test {};
using Indices = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Matrix, Indices);

TYPED_TEST(Matrix, IsSolvedWithAndProved) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<TypeParam>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  auto result = new_result();
  ASSERT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), &result), AYATORI_OK);
  EXPECT_EQ(result.size, sizeof(ayatori_result));
  EXPECT_EQ(result.status, AYATORI_CONVERGED);
  EXPECT_STREQ(ayatori_status_text(result.status), "converged");
  EXPECT_LE(result.relative_residual + result.residual_error_bound, 1e-8);
  EXPECT_GT(result.residual_error_bound, 0);
  EXPECT_GT(result.seconds, 0);
  EXPECT_GE(result.seconds, result.setup_seconds);
  const auto wanted = rows.x();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], wanted[i], 1e-6);
}

TYPED_TEST(Matrix, ColumnsMayStandInAnyOrderAndTwice) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<TypeParam>(everyone(), usual_rows(), 4, 0, true);
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);
}

TYPED_TEST(Matrix, NumbersMayBeginWithOne) {
  const auto solver = make_solver();
  ASSERT_EQ(ayatori_set_index_base(solver.get(), 1), AYATORI_OK);
  const auto rows = tridiagonal<TypeParam>(everyone(), usual_rows(), 4, 1);
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);
  const auto from_zero = tridiagonal<TypeParam>(everyone(), usual_rows());
  EXPECT_EQ(set_matrix(solver.get(), from_zero), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_index_base(solver.get(), 2), AYATORI_BAD_INPUT);
}

TEST(Matrix, RanksMayHaveNoRows) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), rank_in(everyone()) == 0 ? 70 : 0);
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);
}

TEST(Matrix, NewValuesGoOnWithTheSetUpThatIsThere) {
  const auto solver = make_solver();
  ayatori_set_option(solver.get(), "method", "gmres");
  ayatori_set_option(solver.get(), "preconditioner", "ilu");
  // Multiples, for which the old preconditioner takes no iteration more, and so stays.
  for (const double factor : {1.0, 2.0, 4.0}) {
    auto rows = tridiagonal<std::int64_t>(everyone(), usual_rows());
    rows.multiply(factor);
    ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
    expect_solves(solver.get(), rows);
  }
  EXPECT_TRUE(contains(ayatori_reuse(solver.get()), "1 set-up served 3 solves"))
      << ayatori_reuse(solver.get());
}

TEST(Matrix, OfOtherRowsBeginsAnew) {
  const auto solver = make_solver();
  for (const std::int64_t more : {0, 5}) {
    const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows() + more);
    ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
    expect_solves(solver.get(), rows);
  }
}

TEST(Matrix, ThatIsRefusedLeavesTheOldOne) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  auto wrong = rows;
  if (is_last(everyone())) wrong.column[0] = -1;
  EXPECT_EQ(set_matrix(solver.get(), wrong), AYATORI_BAD_INPUT);
  expect_solves(solver.get(), rows);
}

TEST(Matrix, ThatTheCallerLaterOverwritesStays) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  {
    auto lent = rows;
    ASSERT_EQ(set_matrix(solver.get(), lent), AYATORI_OK);
    std::fill(lent.value.begin(), lent.value.end(), 0.0);
  }
  expect_solves(solver.get(), rows);
}

TEST(Matrix, SeveralRightHandSides) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  constexpr int count = 11;
  std::vector<std::vector<double>> b(count, rows.b());
  std::vector<std::vector<double>> x(count, std::vector<double>(rows.size(), 0.0));
  std::array<const double*, count> all_b{};
  std::array<double*, count> all_x{};
  std::array<ayatori_result, count> results{};
  results[0] = new_result();
  for (int k = 0; k < count; ++k) {
    for (double& element : b[k]) element *= k;
    all_b[k] = b[k].data();
    all_x[k] = x[k].data();
  }
  ASSERT_EQ(ayatori_solve_many(solver.get(), count, all_b.data(), all_x.data(), results.data()), AYATORI_OK)
      << ayatori_error_text(solver.get());
  const auto wanted = rows.x();
  for (int k = 0; k < count; ++k) {
    EXPECT_EQ(results[k].size, sizeof(ayatori_result));
    EXPECT_EQ(results[k].converged, 1);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(x[k][i], k * wanted[i], 1e-5);
  }
  EXPECT_EQ(nlohmann::json::parse(ayatori_report_json(solver.get())).size(), count);
  const std::string summary = ayatori_summary(solver.get());
  EXPECT_EQ(std::count(summary.begin(), summary.end(), '\n'), count) << summary;

  EXPECT_EQ(ayatori_solve_many(solver.get(), 0, nullptr, nullptr, nullptr), AYATORI_OK);
  EXPECT_EQ(ayatori_solve_many(solver.get(), 1, all_b.data(), all_x.data(), nullptr), AYATORI_OK);
}

/// As a program that was compiled with a later header has them.
TEST(Matrix, ResultsMayBeLongerThanOurs) {
  struct Longer {
    ayatori_result known;
    double unknown;
  };
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  std::vector<double> y(b.size(), 0.0);
  const std::array<const double*, 2> all_b{b.data(), b.data()};
  const std::array<double*, 2> all_x{x.data(), y.data()};
  std::array<Longer, 2> results{};
  results[0].known.size = sizeof(Longer);
  results[0].unknown = results[1].unknown = 7;
  ASSERT_EQ(ayatori_solve_many(solver.get(), 2, all_b.data(), all_x.data(), &results[0].known), AYATORI_OK);
  for (const auto& result : results) {
    EXPECT_EQ(result.known.size, sizeof(Longer));
    EXPECT_EQ(result.known.converged, 1);
    EXPECT_EQ(result.unknown, 7);
  }
}

TEST(Matrix, IsReportedInTextAndJson) {
  const auto solver = make_solver();
  EXPECT_STREQ(ayatori_report_json(solver.get()), "");
  EXPECT_STREQ(ayatori_summary(solver.get()), "");
  EXPECT_STREQ(ayatori_explanation(solver.get()), "");
  EXPECT_STREQ(ayatori_reuse(solver.get()), "");
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  EXPECT_STREQ(ayatori_reuse(solver.get()), "");
  expect_solves(solver.get(), rows);
  const auto report = nlohmann::json::parse(ayatori_report_json(solver.get()));
  EXPECT_EQ(report["schema"], "ayatori.solve/1");
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["ranks"], size_of(everyone()));
  EXPECT_TRUE(contains(ayatori_summary(solver.get()), "converged"));
  EXPECT_GT(std::strlen(ayatori_explanation(solver.get())), 20U);
}

/// Two unknowns of each node of a line.
TEST(Matrix, MayHaveCoordinatesOfItsNodes) {
  const auto solver = make_solver();
  const std::int64_t local = 40;
  const auto rows = tridiagonal<std::int32_t>(everyone(), local);
  std::vector<double> coordinates(3 * local, 0.0);
  for (std::int64_t i = 0; i < local; ++i) coordinates[3 * i] = static_cast<double>((rows.first + i) / 2);
  ayatori_set_option(solver.get(), "preconditioner", "amg");
  ASSERT_EQ(ayatori_set_coordinates(solver.get(), local, coordinates.data()), AYATORI_OK);
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  expect_solves(solver.get(), rows);

  ASSERT_EQ(ayatori_set_coordinates(solver.get(), local - 2, coordinates.data()), AYATORI_OK);
  EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(solver.get()), "coordinates"));
  ASSERT_EQ(ayatori_set_coordinates(solver.get(), 0, nullptr), AYATORI_OK);
  EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
}

}  // namespace
}  // namespace ayatori::c
