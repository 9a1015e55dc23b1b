#include "ayatori/eigen/standard_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

namespace {

/// Columns of A that a matrix product updates together, as in tridiagonalize().
constexpr std::int64_t strip = 128;

/// Columns [begin, end) of a matrix from row `begin` on, on every rank: the diagonal block and what is below.
struct Panel {
  Range range;
  std::int64_t height;
  Array<double> values;

  std::int64_t width() const { return range.size(); }
  Block diagonal() { return {values.data(), width(), width(), height}; }
  Block below() { return {values.data() + width(), height - width(), width(), height}; }
};

Panel gather_panel(const DistributedDense& a, Range range) {
  return {range, a.order() - range.begin, gather_columns(a, range, range.begin)};
}

/// Rows of a panel, from `first` on, that belong to `mine`: (mine.count() - mine.local_from(first)) x width.
Array<double> take_rows(const Panel& panel, const Cyclic& mine, std::int64_t first) {
  const std::int64_t begin = mine.local_from(first);
  const std::int64_t count = mine.count() - begin;
  Array<double> rows(count * panel.width());
  for (std::int64_t c = 0; c < panel.width(); ++c) {
    const double* const source = panel.values.data() + c * panel.height - panel.range.begin;
    for (std::int64_t k = 0; k < count; ++k) rows[c * count + k] = source[mine.global(begin + k)];
  }
  return rows;
}

/// The columns of two blocks side by side.
Array<double> beside(const Array<double>& left, const Array<double>& right) {
  Array<double> both(left.size() + right.size());
  std::copy(right.begin(), right.end(), std::copy(left.begin(), left.end(), both.begin()));
  return both;
}

/// A -= U V^T from row and column `first` on, on and below the diagonal, and some above; `u` holds the local
/// rows of U, `v` those of V that are local columns of A.
void update_trailing(DistributedDense& a, std::int64_t first, std::int64_t width, const Array<double>& u,
                     const Array<double>& v) {
  const std::int64_t top = a.rows.local_from(first);
  const std::int64_t left = a.columns.local_from(first);
  const std::int64_t height = a.rows.count() - top;
  const std::int64_t columns = a.columns.count() - left;
  for (std::int64_t l = 0; l < columns; l += strip) {
    const std::int64_t row = a.rows.local_from(a.columns.global(left + l));
    const Block target{a.column(left + l) + row, a.rows.count() - row, std::min(strip, columns - l),
                       a.leading()};
    multiply(-1, Op::none, {u.data() + row - top, target.rows, width, height}, Op::transpose,
             {v.data() + l, target.columns, width, columns}, 1, target);
  }
}

/// Both matrices, panel by panel.
class TwoSidedSolve {
 public:
  TwoSidedSolve(DistributedDense& a, DistributedDense& b) : a_(a), b_(b), n_(a.order()) {}
  void step(Range range);

 private:
  void factor(Panel& l) const;
  void solve_rows(Panel& l, const Array<double>& l_rows);
  void solve_columns(Panel& l, const Array<double>& l_rows, const Array<double>& l_columns);

  DistributedDense& a_;
  DistributedDense& b_;
  std::int64_t n_;
};

void TwoSidedSolve::step(Range range) {
  Panel l = gather_panel(b_, range);
  factor(l);
  put_columns(b_, range, range.begin, l.values);
  const auto l_rows = take_rows(l, b_.rows, range.end);
  const auto l_columns = take_rows(l, b_.columns, range.end);
  update_trailing(b_, range.end, range.size(), l_rows, l_columns);
  solve_rows(l, l_rows);
  solve_columns(l, l_rows, l_columns);
}

/// A panel of B becomes one of L. Every rank does the same.
void TwoSidedSolve::factor(Panel& l) const {
  comm::agree(b_.grid.all, [&] {
    const std::int64_t minor = factor_cholesky(l.diagonal());
    if (minor == 0) return;
    throw InputError(
        fmt::format("the matrix on the right is not positive definite: its leading minor of order {} is not "
                    "positive",
                    l.range.begin + minor));
  });
  solve_lower(Side::right, Op::transpose, l.diagonal(), l.below());
}

/// A_10 = L_11^-1 A_10, A_20 -= L_21 A_10: the panel's rows, left of it, and all below them.
void TwoSidedSolve::solve_rows(Panel& l, const Array<double>& l_rows) {
  const std::int64_t columns = a_.columns.local_from(l.range.begin);
  const int ranks = a_.grid.shape.rows;
  const auto rows_of = [&](int row) {
    return Range{a_.rows.local_from(l.range.begin, row), a_.rows.local_from(l.range.end, row)};
  };
  std::vector<std::int64_t> counts(ranks);
  std::vector<std::int64_t> displacements(ranks, 0);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = rows_of(r).size() * columns;
    if (r > 0) displacements[r] = displacements[r - 1] + counts[r - 1];
  }
  const Range mine = rows_of(a_.grid.row);
  Array<double> packed(counts[a_.grid.row]);
  for (std::int64_t c = 0; c < columns; ++c)
    std::copy_n(a_.column(c) + mine.begin, mine.size(), packed.data() + c * mine.size());
  Array<double> pieces(displacements.back() + counts.back());
  a_.grid.along_column.collectives().allgatherv(a_.grid.along_column, packed.data(), counts[a_.grid.row],
                                                pieces.data(), counts, displacements,
                                                comm::DataType::float64);
  const std::int64_t width = l.width();
  Array<double> rows(width * columns);  // A_10
  for (int r = 0; r < ranks; ++r) {
    const Range theirs = rows_of(r);
    const double* next = pieces.data() + displacements[r];
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t k = theirs.begin; k < theirs.end; ++k)
        rows[c * width + k * ranks + r - l.range.begin] = *next++;
    }
  }
  solve_lower(Side::left, Op::none, l.diagonal(), {rows.data(), width, columns, width});
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t k = mine.begin; k < mine.end; ++k)
      a_.column(c)[k] = rows[c * width + a_.rows.global(k) - l.range.begin];
  }
  const std::int64_t height = a_.rows.count() - mine.end;
  multiply(-1, Op::none, {l_rows.data(), height, width, height}, Op::none,
           {rows.data(), width, columns, width}, 1,
           {a_.values.data() + mine.end, height, columns, a_.leading()});
}

/// A_11 = L_11^-1 A_11 L_11^-T, A_21 = A_21 L_11^-T - L_21 A_11, and, with the mean W of A_21 before and
/// after this product, A_22 -= L_21 W^T + W L_21^T.
void TwoSidedSolve::solve_columns(Panel& l, const Array<double>& l_rows, const Array<double>& l_columns) {
  Panel m = gather_panel(a_, l.range);
  const std::int64_t width = m.width();
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = 0; i < j; ++i) m.values[j * m.height + i] = m.values[i * m.height + j];
  }
  solve_lower(Side::left, Op::none, l.diagonal(), m.diagonal());
  solve_lower(Side::right, Op::transpose, l.diagonal(), {m.values.data(), m.height, width, m.height});
  const auto subtract_half = [&] {
    multiply(-0.5, Op::none, l.below(), Op::none, m.diagonal(), 1, m.below());
  };
  subtract_half();
  const auto w_rows = take_rows(m, a_.rows, l.range.end);
  const auto w_columns = take_rows(m, a_.columns, l.range.end);
  update_trailing(a_, l.range.end, 2 * width, beside(l_rows, w_rows), beside(w_columns, l_columns));
  subtract_half();
  put_columns(a_, m.range, m.range.begin, m.values);
}

std::vector<double> absolute(std::vector<double> x) {
  for (double& value : x) value = std::abs(value);
  return x;
}

/// ||x - y|| / (n eps ||size||); 0 for 0 / 0.
double distance_ratio(const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& size) {
  double square = 0;
  double square_of_size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    square += (x[i] - y[i]) * (x[i] - y[i]);
    square_of_size += size[i] * size[i];
  }
  const double n_eps = static_cast<double>(x.size()) * std::numeric_limits<double>::epsilon();
  return square == 0 ? 0 : worse(0, std::sqrt(square) / (n_eps * std::sqrt(square_of_size)));
}

}  // namespace

void reduce_to_standard(DistributedDense& a, DistributedDense& b, std::int64_t block) {
  TwoSidedSolve solve(a, b);
  for (std::int64_t begin = 0; begin < a.order(); begin += block)
    solve.step({begin, std::min(begin + block, a.order())});
  comm::agree(a.grid.all, [&] {
    if (std::ranges::all_of(a.values, [](double value) { return std::isfinite(value); })) return;
    throw InputError(
        "the matrix on the right is so close to singular that eigenvalues are beyond the range of doubles");
  });
}

void back_substitute(const DistributedDense& l, std::int64_t block, Block z) {
  const std::int64_t n = l.order();
  for (std::int64_t begin = (n - 1) / block * block; begin >= 0; begin -= block) {
    Panel panel = gather_panel(l, {begin, std::min(begin + block, n)});
    const Block rows{z.data + begin, panel.width(), z.columns, z.leading};
    multiply(-1, Op::transpose, panel.below(), Op::none,
             {z.data + panel.range.end, n - panel.range.end, z.columns, z.leading}, 1, rows);
    solve_lower(Side::left, Op::transpose, panel.diagonal(), rows);
  }
}

double reduction_ratio(const DistributedDense& a, const DistributedDense& b, const DistributedDense& c,
                       const DistributedDense& l) {
  std::vector<double> v(a.order());
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 2 * random_uniform(1, i) - 1;
  const auto right = apply(l, Shape::lower, Op::transpose, false, v);
  const auto size = apply(l, Shape::lower, Op::transpose, true, absolute(v));
  const auto through = [&](const std::vector<double>& middle, bool of_size) {
    return apply(l, Shape::lower, Op::none, of_size, middle);
  };
  const double of_b =
      distance_ratio(apply(b, Shape::full, Op::none, false, v), through(right, false), through(size, true));
  const auto middle = apply(c, Shape::symmetric, Op::none, false, right);
  const auto middle_size = apply(c, Shape::symmetric, Op::none, true, size);
  const double of_a = distance_ratio(apply(a, Shape::full, Op::none, false, v), through(middle, false),
                                     through(middle_size, true));
  return std::max(of_a, of_b);
}

}  // namespace ayatori::eigen
