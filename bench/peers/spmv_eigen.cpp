#include <Eigen/SparseCore>
#include <algorithm>

#include "spmv_peer.hpp"

namespace ayatori::bench {

namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
using Vector = Eigen::VectorXd;

Matrix eigen_matrix(const sparse::Csr& a) {
  const std::vector<std::int32_t> start(a.row_start.begin(), a.row_start.end());
  return Eigen::Map<const Matrix>(a.rows, a.columns, a.nonzeros(), start.data(), a.column.data(),
                                  a.value.data());
}

}  // namespace

void with_eigen(const SpmvProblem& problem, const UsePeer& use) {
  constexpr double rounding = 1e-12;
  Eigen::setNbThreads(problem.threads);
  const Vector x = Vector::Map(problem.x.data(), static_cast<Eigen::Index>(problem.x.size()));
  Vector y(problem.matrix.rows);
  const auto result = [&](std::int32_t row) { return y[row]; };
  Matrix a = eigen_matrix(problem.matrix);
  use({"eigen", rounding, [&] { y.noalias() = a * x; }, result});
  if (!problem.is_symmetric) return;
  const Matrix upper = a.triangularView<Eigen::Upper>();
  a = Matrix();
  use({"eigen symmetric", rounding, [&] { y.noalias() = upper.selfadjointView<Eigen::Upper>() * x; },
       result});
}

}  // namespace ayatori::bench
