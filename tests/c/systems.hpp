#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "c/ayatori.h"
#include "tests/pmpi/ranks.hpp"

namespace ayatori::c {

/// All ranks of the test, on a communicator of their own.
inline MPI_Comm everyone() {
  static const MPI_Comm comm = [] {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    return made;
  }();
  return comm;
}

inline bool is_last(MPI_Comm comm) {
  return rank_in(comm) + 1 == size_of(comm);
}

struct Destroy {
  void operator()(ayatori_solver* solver) const { ayatori_destroy(solver); }
};
using Handle = std::unique_ptr<ayatori_solver, Destroy>;

inline Handle make_solver(MPI_Comm comm = everyone()) {
  ayatori_solver* solver = nullptr;
  EXPECT_EQ(ayatori_create(&comm, &solver), AYATORI_OK) << ayatori_error_text(nullptr);
  return Handle(solver);
}

inline ayatori_result new_result() {
  return AYATORI_RESULT_INIT;
}

/// This rank's rows of the tridiagonal matrix with -1 beside the diagonal, and x_i = 1 + i mod 7.
template <class Index>
struct Rows {
  std::vector<Index> start;
  std::vector<Index> column;
  std::vector<double> value;
  std::int64_t first = 0;
  std::int64_t all = 0;
  double diagonal = 4;
  double factor = 1;  ///< factor of all entries

  void multiply(double by) {
    factor *= by;
    for (double& entry : value) entry *= by;
  }
  std::size_t size() const { return start.size() - 1; }
  static double solution(std::int64_t i) { return 1 + static_cast<double>(i % 7); }
  std::vector<double> x() const {
    std::vector<double> x;
    for (std::size_t i = 0; i < size(); ++i) x.push_back(solution(first + static_cast<std::int64_t>(i)));
    return x;
  }
  std::vector<double> b() const {
    std::vector<double> b;
    for (std::size_t k = 0; k < size(); ++k) {
      const auto i = first + static_cast<std::int64_t>(k);
      b.push_back(factor * (diagonal * solution(i) - (i > 0 ? solution(i - 1) : 0) -
                            (i + 1 < all ? solution(i + 1) : 0)));
    }
    return b;
  }
};

/// `rows` of this rank. The columns of every row descend, where they are scrambled, and the diagonal is two
/// entries.
template <class Index>
Rows<Index> tridiagonal(MPI_Comm comm, std::int64_t rows, double diagonal = 4, int base = 0,
                        bool scrambled = false) {
  Rows<Index> made;
  made.diagonal = diagonal;
  MPI_Exscan(&rows, &made.first, 1, MPI_INT64_T, MPI_SUM, comm);
  if (rank_in(comm) == 0) made.first = 0;
  MPI_Allreduce(&rows, &made.all, 1, MPI_INT64_T, MPI_SUM, comm);
  const auto add = [&](std::int64_t j, double entry) {
    if (j < 0 || j >= made.all) return;
    made.column.push_back(static_cast<Index>(j + base));
    made.value.push_back(entry);
  };
  made.start.push_back(static_cast<Index>(base));
  for (std::int64_t k = 0; k < rows; ++k) {
    const std::int64_t i = made.first + k;
    const int step = scrambled ? -1 : 1;
    add(i - step, -1);
    add(i, scrambled ? diagonal - 1 : diagonal);
    if (scrambled) add(i, 1);
    add(i + step, -1);
    made.start.push_back(static_cast<Index>(made.column.size() + static_cast<std::size_t>(base)));
  }
  return made;
}

/// 50 rows on rank 0, 60 on rank 1, ...
inline std::int64_t usual_rows(MPI_Comm comm = everyone()) {
  return 50 + 10 * rank_in(comm);
}

template <class Index>
int set_matrix(ayatori_solver* solver, const Rows<Index>& rows) {
  const auto local = static_cast<std::int64_t>(rows.size());
  if constexpr (std::is_same_v<Index, std::int32_t>)
    return ayatori_set_matrix_i32(solver, local, rows.all, rows.start.data(), rows.column.data(),
                                  rows.value.data());
  else
    return ayatori_set_matrix_i64(solver, local, rows.all, rows.start.data(), rows.column.data(),
                                  rows.value.data());
}

/// Solves, and compares with the solution.
template <class Index>
void expect_solves(ayatori_solver* solver, const Rows<Index>& rows, double tolerance = 1e-6) {
  const auto b = rows.b();
  const auto wanted = rows.x();
  std::vector<double> x(b.size(), 0.0);
  auto result = new_result();
  ASSERT_EQ(ayatori_solve(solver, b.data(), x.data(), &result), AYATORI_OK) << ayatori_error_text(solver);
  EXPECT_EQ(result.converged, 1) << ayatori_status_text(result.status);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], wanted[i], tolerance) << "row " << i;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ayatori::c
