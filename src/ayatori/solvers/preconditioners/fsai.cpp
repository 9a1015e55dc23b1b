#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/extended_rows.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

/// Entries that a row of G may have: the matrices to be factored are as large.
constexpr std::size_t longest_row = 64;
/// A row of the factors needs the rows around the rows around this rank's.
constexpr int layers = 2;

/// Rows of sparse matrices with single-precision values, without columns of their own.
struct Rows {
  Array<std::int64_t> start{0};
  Array<std::int32_t> column;
  Array<float> value;
};

/// The local half of the factorization: what row i of the unit triangular G and of D are.
class RowFactors {
 public:
  RowFactors(const ExtendedRows& rows, std::span<const double> inverse_diagonal)
      : rows_(rows), inverse_diagonal_(inverse_diagonal) {}

  /// G restricted to the entries J of row i of A up to its diagonal: A(J, J) g = e_i up to scale.
  void factor(std::int32_t i) {
    choose_columns(i);
    const std::size_t n = columns_.size();
    matrix_.assign(n * n, 0.0);
    for (std::size_t r = 0; r < n; ++r) load_row(r);
    value_.assign(n, 0.0);
    value_[n - 1] = 1;
    pivot_ = solve_definite(n);
    is_diagonal_only_ = !(pivot_ > 0 && std::isfinite(pivot_)) ||
                        !std::ranges::all_of(value_, [](double v) { return std::abs(v) < 1e30; });
    if (!is_diagonal_only_) return;
    columns_.assign(1, i);
    value_.assign(1, 1.0);
    pivot_ = std::abs(inverse_diagonal_[i]);
  }

  const std::vector<std::int32_t>& columns() const { return columns_; }  ///< extended rows
  const std::vector<double>& value() const { return value_; }            ///< values of G; the last is 1
  double pivot() const { return pivot_; }                                ///< pivot of D
  bool is_diagonal_only() const { return is_diagonal_only_; }

 private:
  void choose_columns(std::int32_t i) {
    const sparse::Csr& a = rows_.matrix();
    std::vector<std::pair<double, std::int32_t>> entries;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      if (rows_.global(a.column[k]) < rows_.global(i))
        entries.emplace_back(-std::abs(a.value[k]), a.column[k]);
    if (entries.size() >= longest_row) {
      std::ranges::sort(entries, {},
                        [&](const auto& e) { return std::pair(e.first, rows_.global(e.second)); });
      entries.resize(longest_row - 1);
    }
    columns_.clear();
    for (const auto& entry : entries) columns_.push_back(entry.second);
    columns_.push_back(i);
    std::ranges::sort(columns_, {}, [&](std::int32_t j) { return rows_.global(j); });
  }

  /// The lower triangle of A(J, J).
  void load_row(std::size_t r) {
    const sparse::Csr& a = rows_.matrix();
    const auto begin = a.column.begin() + a.row_start[columns_[r]];
    const auto end = a.column.begin() + a.row_start[columns_[r] + 1];
    for (std::size_t c = 0; c <= r; ++c) {
      const auto found = std::lower_bound(begin, end, columns_[c]);
      if (found != end && *found == columns_[c])
        matrix_[r * columns_.size() + c] = a.value[found - a.column.begin()];
    }
  }

  /// value_ = A(J, J)^-1 e_last, divided by its last element, which is returned; 0 if a pivot is not
  /// positive. By L D L^T: D_last^-1 is that element, and the rest is L^-T e_last.
  double solve_definite(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      double* const row = &matrix_[i * n];
      for (std::size_t j = 0; j < i; ++j)  // row i times L_j: what is left is l_ij d_j
        for (std::size_t k = 0; k < j; ++k) row[j] -= row[k] * matrix_[j * n + k];
      for (std::size_t j = 0; j < i; ++j) {
        const double scaled = row[j] / matrix_[j * n + j];
        row[i] -= scaled * row[j];
        row[j] = scaled;
      }
      if (!(row[i] > 0)) return 0;
    }
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = 0; j < i; ++j) value_[j] -= matrix_[i * n + j] * value_[i];
    return 1 / matrix_[n * n - 1];
  }

  const ExtendedRows& rows_;
  std::span<const double> inverse_diagonal_;
  std::vector<std::int32_t> columns_;
  std::vector<double> matrix_;
  std::vector<double> value_;
  double pivot_ = 0;
  bool is_diagonal_only_ = false;
};

/// y = G^T D G x with G unit lower triangular on the pattern of A (Kolotilina & Yeremin 1993). Every rank has
/// the rows of G that touch its rows, so that one exchange of x is all. Traffic: 16 bytes per entry of the
/// lower triangle of A, and 56 per row.
class Fsai final : public sparse::LinearOperator {
 public:
  Fsai(ExtendedRows rows, std::span<const double> inverse_diagonal)
      : rows_(std::move(rows)), extended_x_(rows_.size()) {
    RowFactors factors(rows_, inverse_diagonal);
    const auto near = grown(rows_.matrix(), 0, rows_.owned(), 1, [](std::int32_t row) { return row; });
    for (const std::int32_t i : near) {
      factors.factor(i);
      for (std::size_t k = 0; k < factors.columns().size(); ++k) {
        g_.column.push_back(factors.columns()[k]);
        g_.value.push_back(static_cast<float>(factors.value()[k]));
      }
      g_.start.push_back(static_cast<std::int64_t>(g_.column.size()));
      pivot_.push_back(factors.pivot());
      if (i < rows_.owned() && factors.is_diagonal_only()) ++diagonal_only_;
    }
    z_.resize(near.size());
    transpose();
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    rows_.fetch(x, extended_x_);
    parallel_for(static_cast<std::int64_t>(z_.size()),
                 [&](std::int64_t i) { z_[i] = pivot_[i] * product(g_, i, extended_x_); });
    parallel_for(rows_.owned(), [&](std::int64_t i) { y[i] = product(transposed_, i, z_); });
  }
  std::int32_t local_size() const override { return rows_.owned(); }

  std::int64_t diagonal_only() const { return diagonal_only_; }  ///< rows of this rank

 private:
  static double product(const Rows& rows, std::int64_t i, const Array<double>& x) {
    double sum = 0;
    for (std::int64_t k = rows.start[i]; k < rows.start[i + 1]; ++k)
      sum += static_cast<double>(rows.value[k]) * x[rows.column[k]];
    return sum;
  }

  /// The columns of G that this rank owns, as rows.
  void transpose() {
    transposed_.start.assign(rows_.owned() + 1, 0);
    for (const std::int32_t j : g_.column)
      if (j < rows_.owned()) ++transposed_.start[j + 1];
    for (std::int32_t j = 0; j < rows_.owned(); ++j) transposed_.start[j + 1] += transposed_.start[j];
    transposed_.column.resize(transposed_.start.back());
    transposed_.value.resize(transposed_.start.back());
    Array<std::int64_t> next(transposed_.start.begin(), transposed_.start.end() - 1);
    for (std::size_t i = 0; i + 1 < g_.start.size(); ++i) {
      for (std::int64_t k = g_.start[i]; k < g_.start[i + 1]; ++k) {
        if (g_.column[k] >= rows_.owned()) continue;
        transposed_.column[next[g_.column[k]]] = static_cast<std::int32_t>(i);
        transposed_.value[next[g_.column[k]]++] = g_.value[k];
      }
    }
  }

  ExtendedRows rows_;
  Rows g_;           ///< entries of the rows in up to one step; columns: extended rows
  Rows transposed_;  ///< entries of this rank's columns; columns: rows of g_
  Array<double> pivot_;
  std::int64_t diagonal_only_ = 0;
  mutable Array<double> extended_x_;
  mutable Array<double> z_;  ///< D G x
};

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions&) {
  const comm::Comm& comm = matrix.comm();
  const InverseDiagonal diagonal = invert_diagonal(matrix, "fsai");
  ExtendedRows rows(matrix, layers);
  auto inverse = comm::agree(comm, [&] { return Array<double>(rows.size()); });
  rows.fetch(diagonal.value, inverse);
  auto op = comm::agree(comm, [&] { return std::make_unique<Fsai>(std::move(rows), inverse); });
  auto notes = diagonal.notes();
  const auto plain = comm.allreduce(op->diagonal_only(), comm::ReduceOp::sum);
  if (plain > 0)
    notes.push_back(fmt::format("{} rows have only their diagonal, as their block is not definite", plain));
  return {std::move(op), std::move(notes)};
}

}  // namespace

const Preconditioner fsai_preconditioner{
    .name = "fsai",
    .description = "factorized sparse approximate inverse on the pattern of the matrix",
    .symmetric = true,
    .make = make};

}  // namespace ayatori::solvers
