#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "ayatori/comm/mpi/native.hpp"
#include "systems.hpp"

// What is wrong on one rank is the error of all: nobody waits.

namespace ayatori::c {
namespace {

TEST(Errors, NoSolver) {
  auto result = new_result();
  double x = 0;
  EXPECT_EQ(ayatori_create(nullptr, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_create_f(comm::to_fortran(MPI_COMM_SELF), nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_option(nullptr, "rtol", "1"), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_matrix_i32(nullptr, 0, 0, nullptr, nullptr, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_matrix_i64(nullptr, 0, 0, nullptr, nullptr, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_index_base(nullptr, 0), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_local_rows(nullptr), 0);
  EXPECT_EQ(ayatori_refuse_next(nullptr, "no"), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_coordinates(nullptr, 0, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_operator(nullptr, 0, nullptr, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_progress(nullptr, nullptr, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_set_stop(nullptr, nullptr, nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_solve(nullptr, &x, &x, &result), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_solve_many(nullptr, 0, nullptr, nullptr, &result), AYATORI_BAD_INPUT);
  EXPECT_STREQ(ayatori_report_json(nullptr), "");
  EXPECT_STREQ(ayatori_summary(nullptr), "");
  EXPECT_STREQ(ayatori_explanation(nullptr), "");
  EXPECT_STREQ(ayatori_reuse(nullptr), "");
  EXPECT_EQ(ayatori_get_option(nullptr, "rtol"), nullptr);
  EXPECT_STREQ(ayatori_error_text(nullptr), "the solver is NULL");
  ayatori_destroy(nullptr);
}

TEST(Errors, TextGoesWithTheNextCallThatSucceeds) {
  const auto solver = make_solver();
  EXPECT_STREQ(ayatori_error_text(solver.get()), "");
  ayatori_set_option(solver.get(), "nothing", "");
  EXPECT_STRNE(ayatori_error_text(solver.get()), "");
  ayatori_set_option(solver.get(), "rtol", "0.1");
  EXPECT_STREQ(ayatori_error_text(solver.get()), "");
}

TEST(Errors, StatusAndVersionAlwaysHaveText) {
  EXPECT_STREQ(ayatori_status_text(AYATORI_LIMITED_BY_ROUNDING), "limited by rounding");
  EXPECT_STREQ(ayatori_status_text(-1), "unknown");
  EXPECT_STREQ(ayatori_status_text(99), "unknown");
  EXPECT_STREQ(ayatori_version(), "0.2.0");
  EXPECT_NE(std::string(ayatori_build_info()).find(R"("version":"0.2.0")"), std::string::npos);
}

using Change = std::function<void(Rows<std::int64_t>&)>;

/// What all ranks get where the last one's rows are changed.
void expect_refused(const char* what, const Change& change, const char* text) {
  const auto solver = make_solver();
  auto rows = tridiagonal<std::int64_t>(everyone(), usual_rows());
  if (is_last(everyone())) change(rows);
  EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_BAD_INPUT) << what;
  EXPECT_TRUE(contains(ayatori_error_text(solver.get()), text))
      << what << ": " << ayatori_error_text(solver.get());
}

TEST(Errors, OfAMatrixOnOneRank) {
  expect_refused(
      "column", [](auto& rows) { rows.column[3] = rows.all; }, "both counted from 1) has column");
  expect_refused(
      "negative", [](auto& rows) { rows.column[3] = -1; }, "column");
  expect_refused(
      "begin", [](auto& rows) { rows.start[0] = 1; }, "row pointers");
  expect_refused(
      "order", [](auto& rows) { rows.start[2] = 0; }, "row 2 of rank ");
  expect_refused(
      "end", [](auto& rows) { rows.start.back() = -1; }, "row_start");
  expect_refused(
      "square", [](auto& rows) { rows.all += 0 * rows.all + 1; }, "");
}

TEST(Errors, OfAMatrixLeaveTheOneBefore) {
  const auto solver = make_solver();
  const auto good = tridiagonal<std::int64_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), good), AYATORI_OK);
  const auto refuse = [&](const Change& change) {
    auto bad = tridiagonal<std::int64_t>(everyone(), usual_rows(), 7);
    if (is_last(everyone())) change(bad);
    EXPECT_EQ(set_matrix(solver.get(), bad), AYATORI_BAD_INPUT);
    expect_solves(solver.get(), good);
  };
  const auto wrong_column = [](auto& rows) { rows.column[3] = -1; };
  refuse(wrong_column);
  refuse([](auto& rows) { rows.start[2] = 0; });
  refuse([](auto& rows) { rows.all += 1; });
  ayatori_set_option(solver.get(), "preconditioner", "jacobi");
  refuse(wrong_column);
  const std::vector<double> too_few(3 * (usual_rows() - 1), 1.0);
  ayatori_set_coordinates(solver.get(), usual_rows() - 1, too_few.data());
  refuse([](auto&) {});
}

TEST(Errors, OfABindingAreThoseOfTheNextCall) {
  const auto solver = make_solver();
  EXPECT_EQ(ayatori_local_rows(solver.get()), 0);
  const auto rows = tridiagonal<std::int64_t>(everyone(), usual_rows());
  const auto refuse = [&] {
    if (is_last(everyone())) {
      EXPECT_EQ(ayatori_refuse_next(solver.get(), "value is short"), AYATORI_OK);
    }
  };
  refuse();
  EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_BAD_INPUT);
  EXPECT_STREQ(ayatori_error_text(solver.get()), "value is short");
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  EXPECT_EQ(ayatori_local_rows(solver.get()), static_cast<std::int64_t>(rows.size()));
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  refuse();
  EXPECT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), nullptr), AYATORI_BAD_INPUT);
  refuse();
  EXPECT_EQ(ayatori_solve_many(solver.get(), 0, nullptr, nullptr, nullptr), AYATORI_BAD_INPUT);
  expect_solves(solver.get(), rows);
}

TEST(Errors, OfPointersOnOneRank) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  const bool mine = is_last(everyone());
  const auto local = static_cast<std::int64_t>(rows.size());
  const auto set = [&](const std::int32_t* start, const std::int32_t* column, const double* value) {
    return ayatori_set_matrix_i32(solver.get(), local, rows.all, mine ? start : rows.start.data(),
                                  mine ? column : rows.column.data(), mine ? value : rows.value.data());
  };
  EXPECT_EQ(set(nullptr, rows.column.data(), rows.value.data()), AYATORI_BAD_INPUT);
  EXPECT_STREQ(ayatori_error_text(solver.get()), "row_start is NULL");
  EXPECT_EQ(set(rows.start.data(), nullptr, rows.value.data()), AYATORI_BAD_INPUT);
  EXPECT_EQ(set(rows.start.data(), rows.column.data(), nullptr), AYATORI_BAD_INPUT);
  EXPECT_STREQ(ayatori_error_text(solver.get()), "value is NULL");
  EXPECT_EQ(ayatori_set_matrix_i32(solver.get(), mine ? -1 : local, rows.all, rows.start.data(),
                                   rows.column.data(), rows.value.data()),
            AYATORI_BAD_INPUT);

  ASSERT_EQ(set(rows.start.data(), rows.column.data(), rows.value.data()), AYATORI_OK);
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  EXPECT_EQ(ayatori_solve(solver.get(), mine ? nullptr : b.data(), x.data(), nullptr), AYATORI_BAD_INPUT);
  EXPECT_STREQ(ayatori_error_text(solver.get()), "b is NULL");
  EXPECT_EQ(ayatori_solve(solver.get(), b.data(), mine ? nullptr : x.data(), nullptr), AYATORI_BAD_INPUT);
  const std::array<const double*, 1> all_b{b.data()};
  const std::array<double*, 1> all_x{mine ? nullptr : x.data()};
  EXPECT_EQ(ayatori_solve_many(solver.get(), 1, all_b.data(), mine ? nullptr : all_x.data(), nullptr),
            AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_solve_many(solver.get(), 1, all_b.data(), all_x.data(), nullptr), AYATORI_BAD_INPUT);
  EXPECT_EQ(ayatori_solve_many(solver.get(), mine ? -1 : 1, all_b.data(), all_x.data(), nullptr),
            AYATORI_BAD_INPUT);
  expect_solves(solver.get(), rows);
}

TEST(Errors, OfAResultWithoutSize) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  auto result = new_result();
  if (is_last(everyone())) result.size = 0;
  EXPECT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), &result), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(solver.get()), "AYATORI_RESULT_INIT"));
}

TEST(Errors, LeaveNothingOfAnEarlierResult) {
  const auto solver = make_solver();
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
  ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
  const auto b = rows.b();
  std::vector<double> x(b.size(), 0.0);
  auto result = new_result();
  EXPECT_EQ(result.status, AYATORI_NOT_CONVERGED);
  ASSERT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), &result), AYATORI_OK);
  ASSERT_EQ(result.status, AYATORI_CONVERGED);
  const double* wrong = is_last(everyone()) ? nullptr : b.data();
  EXPECT_EQ(ayatori_solve(solver.get(), wrong, x.data(), &result), AYATORI_BAD_INPUT);
  EXPECT_EQ(result.status, AYATORI_NOT_CONVERGED);
  EXPECT_EQ(result.converged, 0);
  EXPECT_TRUE(std::isnan(result.relative_residual));
}

TEST(Errors, OfASolveWithoutMatrix) {
  const auto solver = make_solver();
  double x = 0;
  EXPECT_EQ(ayatori_solve(solver.get(), &x, &x, nullptr), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(solver.get()), "no matrix"));
}

TEST(Errors, OfNumbersThatAreNotFinite) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto solver = make_solver();
    const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows());
    auto wrong = rows;
    if (is_last(everyone())) wrong.value[1] = bad;
    std::vector<double> x(rows.size(), 0.0);
    auto b = rows.b();
    const int code = set_matrix(solver.get(), wrong);
    EXPECT_EQ(code == AYATORI_OK ? ayatori_solve(solver.get(), b.data(), x.data(), nullptr) : code,
              AYATORI_BAD_INPUT);
    ASSERT_EQ(set_matrix(solver.get(), rows), AYATORI_OK);
    if (is_last(everyone())) b[0] = bad;
    EXPECT_EQ(ayatori_solve(solver.get(), b.data(), x.data(), nullptr), AYATORI_BAD_INPUT);
    EXPECT_TRUE(contains(ayatori_error_text(solver.get()), "NaN")) << ayatori_error_text(solver.get());
    expect_solves(solver.get(), rows);
  }
}

}  // namespace
}  // namespace ayatori::c
