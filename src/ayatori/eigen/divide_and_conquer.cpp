#include "ayatori/eigen/divide_and_conquer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/eigen/blas.hpp"
#include "ayatori/eigen/secular.hpp"

namespace ayatori::eigen {

namespace {

constexpr std::int64_t leaf_size = 32;       // solved by QR iteration
constexpr std::int64_t panel_columns = 256;  // vectors of a rank-one update that are held at a time

/// Rows where a column that is merged has elements.
enum class Part : std::uint8_t { upper, both, lower };

/// The eigenproblem of two solved neighbours, after deflation.
struct Deflated {
  RankOneUpdate update;
  std::vector<std::int64_t> kept;     ///< columns of the update, of the merged problem
  std::vector<std::int64_t> settled;  ///< columns that are eigenvectors as they are
  std::vector<Part> part;             ///< of each column
};

class Solver {
 public:
  Solver(const comm::Comm& comm, std::vector<double> diagonal, std::span<const double> off_diagonal)
      : comm_(comm),
        n_(static_cast<std::int64_t>(diagonal.size())),
        d_(std::move(diagonal)),
        e_(off_diagonal),
        rows_{n_, comm.size(), comm.rank()},
        ld_(rows_.count()),
        vectors_(ld_ * n_, 0.0) {}

  TridiagonalPairs run(const Select& select);

 private:
  void cut(Range problem);
  void solve_leaves();
  void solve(Range problem);
  std::vector<double> z_of(Range problem, std::int64_t middle);
  void rotate(Range problem, std::int64_t i, std::int64_t j, double c, double s);
  Deflated deflate(Range problem, std::int64_t middle);
  void merge(Range problem);
  void multiply_vectors(Range problem, const Deflated& deflated, std::span<const SecularRoot> roots,
                        Range wanted);
  void choose(const Select& select);

  double* column(std::int64_t j) { return vectors_.data() + j * ld_; }
  static std::int64_t middle_of(Range problem) { return problem.begin + problem.size() / 2; }

  const comm::Comm& comm_;
  std::int64_t n_;
  std::vector<double> d_;  ///< eigenvalues of the problems that are solved, in the order of the columns
  std::span<const double> e_;
  Cyclic rows_;
  std::int64_t ld_;
  Array<double> vectors_;  ///< a column is zero outside the rows of the problem that it belongs to
  std::vector<Range> leaves_;
  const Select* select_ = nullptr;
  TridiagonalPairs result_;
};

/// Notes the leaves, and takes from the diagonal what the merges add.
void Solver::cut(Range problem) {
  if (problem.size() <= leaf_size) {
    leaves_.push_back(problem);
    return;
  }
  const std::int64_t middle = middle_of(problem);
  const double size = std::abs(e_[middle - 1]);
  d_[middle - 1] -= size;
  d_[middle] -= size;
  cut({problem.begin, middle});
  cut({middle, problem.end});
}

/// Each on one rank, since two ranks may not find the same vectors.
void Solver::solve_leaves() {
  const auto solve_leaf = [this](Range leaf, std::vector<double>& out) {
    const std::int64_t size = leaf.size();
    std::vector<double> values(d_.begin() + leaf.begin, d_.begin() + leaf.end);
    std::vector<double> off(e_.begin() + leaf.begin, e_.begin() + std::max(leaf.begin, leaf.end - 1));
    std::vector<double> vectors(size * size);
    if (!tridiagonal_vectors(size, values.data(), off.data(), {vectors.data(), size, size, size}))
      values[0] = std::numeric_limits<double>::quiet_NaN();
    out.insert(out.end(), values.begin(), values.end());
    out.insert(out.end(), vectors.begin(), vectors.end());
  };
  const auto leaves = static_cast<std::int64_t>(leaves_.size());
  const Range mine = split_evenly(leaves, comm_.size(), comm_.rank());
  std::vector<double> found;
  for (std::int64_t i = mine.begin; i < mine.end; ++i) solve_leaf(leaves_[i], found);
  const auto all = comm_.allgatherv(std::span<const double>(found)).values;

  const double* next = all.data();
  for (const Range leaf : leaves_) {
    std::copy_n(next, leaf.size(), d_.begin() + leaf.begin);
    next += leaf.size();
    for (std::int64_t j = leaf.begin; j < leaf.end; ++j, next += leaf.size()) {
      for (std::int64_t k = rows_.local_from(leaf.begin); k < rows_.local_from(leaf.end); ++k)
        column(j)[k] = next[rows_.global(k) - leaf.begin];
    }
  }
  if (std::ranges::any_of(d_, [](double value) { return !std::isfinite(value); }))
    throw_error(ErrorKind::internal, "an iteration for tridiagonal eigenvalues did not converge", true);
}

void Solver::solve(Range problem) {
  if (problem.size() <= leaf_size) return;
  const std::int64_t middle = middle_of(problem);
  solve({problem.begin, middle});
  solve({middle, problem.end});
  merge(problem);
}

/// The last row of the upper vectors and the first of the lower ones, divided by the length of both together.
std::vector<double> Solver::z_of(Range problem, std::int64_t middle) {
  std::vector<double> z(problem.size(), 0.0);
  const double sign = e_[middle - 1] < 0 ? -1 : 1;
  const auto take = [&](std::int64_t row, Range columns, double factor) {
    const auto piece = std::span(z).subspan(columns.begin - problem.begin, columns.size());
    if (rows_.owns(row)) {
      for (std::int64_t j = 0; j < columns.size(); ++j)
        piece[j] = factor * column(columns.begin + j)[rows_.local(row)];
    }
    comm_.broadcast(piece, rows_.owner(row));
  };
  take(middle - 1, {problem.begin, middle}, std::sqrt(0.5));
  take(middle, {middle, problem.end}, sign * std::sqrt(0.5));
  return z;
}

/// (x_i, x_j) = (c x_i - s x_j, c x_j + s x_i) for two columns of a problem, and the same for their
/// eigenvalues, which nothing couples afterwards but what is neglected.
void Solver::rotate(Range problem, std::int64_t i, std::int64_t j, double c, double s) {
  double* const x = column(problem.begin + i);
  double* const y = column(problem.begin + j);
  for (std::int64_t k = rows_.local_from(problem.begin); k < rows_.local_from(problem.end); ++k) {
    const double before = x[k];
    x[k] = c * before - s * y[k];
    y[k] = c * y[k] + s * before;
  }
  double& d_i = d_[problem.begin + i];
  double& d_j = d_[problem.begin + j];
  const double before = d_i;
  d_i = c * c * before + s * s * d_j;
  d_j = c * c * d_j + s * s * before;
}

/// Takes out the columns that the update does not couple: those with a tiny z, and one of each two whose
/// eigenvalues are so close that a rotation makes the one's z zero and leaves next to nothing between them.
/// All ranks decide alike, from the same numbers.
Deflated Solver::deflate(Range problem, std::int64_t middle) {
  const std::int64_t size = problem.size();
  const double* const d = d_.data() + problem.begin;
  Deflated result{{{}, {}, 2 * std::abs(e_[middle - 1])}, {}, {}, std::vector<Part>(size, Part::upper)};
  std::fill(result.part.begin() + (middle - problem.begin), result.part.end(), Part::lower);
  std::vector<double> z = z_of(problem, middle);
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t j) { return d[j]; });

  double largest = 0;
  for (std::int64_t j = 0; j < size; ++j) largest = std::max({largest, std::abs(d[j]), std::abs(z[j])});
  const double tolerance = 4 * std::numeric_limits<double>::epsilon() * largest;

  std::optional<std::int64_t> last;  // kept unless the next is too close
  for (const std::int64_t j : order) {
    if (result.update.rho * std::abs(z[j]) <= tolerance) {
      result.settled.push_back(j);
      continue;
    }
    if (last) {
      const std::int64_t i = *last;
      const double length = std::hypot(z[i], z[j]);
      const double c = z[j] / length;
      const double s = z[i] / length;
      if (std::abs((d[j] - d[i]) * c * s) <= tolerance) {
        rotate(problem, i, j, c, s);
        z[j] = length;
        if (result.part[i] != result.part[j]) result.part[i] = result.part[j] = Part::both;
        result.settled.push_back(i);
      } else {
        result.kept.push_back(i);
      }
    }
    last = j;
  }
  if (last) result.kept.push_back(*last);

  double square = 0;
  for (const std::int64_t j : result.kept) {
    result.update.d.push_back(d[j]);
    result.update.z.push_back(z[j]);
    square += z[j] * z[j];
  }
  for (double& value : result.update.z) value /= std::sqrt(square);
  result.update.rho *= square;
  return result;
}

/// Eigenpairs of a problem from those of its two parts. Its columns are then those of the roots, ascending,
/// and behind them those that were settled.
void Solver::merge(Range problem) {
  const Deflated deflated = deflate(problem, middle_of(problem));
  const auto kept = static_cast<std::int64_t>(deflated.kept.size());
  const auto roots = secular_roots(comm_, deflated.update);
  std::vector<double> values;
  values.reserve(problem.size());
  for (const SecularRoot& root : roots) values.push_back(root.value(deflated.update));
  for (const std::int64_t j : deflated.settled) values.push_back(d_[problem.begin + j]);
  std::ranges::copy(values, d_.begin() + problem.begin);

  Range wanted{0, kept};
  if (problem.size() == n_) {  // the last merge; the roots chosen stand side by side, since they ascend
    choose(*select_);
    wanted = {kept, 0};
    for (const std::int64_t j : result_.column_of) {
      if (j < kept) wanted = {std::min(wanted.begin, j), std::max(wanted.end, j + 1)};
    }
    wanted.begin = std::min(wanted.begin, wanted.end);
  }
  multiply_vectors(problem, deflated, roots, wanted);
}

/// The vectors of the `wanted` roots: those of the parts times those of the update. The upper rows of the
/// product need only columns that have elements there, and so do the lower ones: half of the operations.
void Solver::multiply_vectors(Range problem, const Deflated& deflated, std::span<const SecularRoot> roots,
                              Range wanted) {
  const RankOneUpdate& update = deflated.update;
  const std::int64_t kept = update.size();
  const auto settled = static_cast<std::int64_t>(deflated.settled.size());
  const auto z = exact_z(comm_, update, roots);

  // Columns that are kept, by where they have elements.
  std::vector<std::int64_t> order(kept);
  std::iota(order.begin(), order.end(), 0);
  const auto part_of = [&](std::int64_t k) { return deflated.part[deflated.kept[k]]; };
  std::ranges::stable_sort(order, {}, part_of);
  const std::int64_t lower_begin = std::ranges::count(order, Part::upper, part_of);
  const std::int64_t upper_end = kept - std::ranges::count(order, Part::lower, part_of);
  std::vector<double> d_ordered(kept);
  std::vector<double> z_ordered(kept);
  for (std::int64_t k = 0; k < kept; ++k) {
    d_ordered[k] = update.d[order[k]];
    z_ordered[k] = z[order[k]];
  }

  const std::int64_t top = rows_.local_from(problem.begin);
  const std::int64_t border = rows_.local_from(middle_of(problem));
  const std::int64_t bottom = rows_.local_from(problem.end);
  const std::int64_t above = border - top;
  const std::int64_t below = bottom - border;
  Array<double> upper(above * upper_end);
  Array<double> lower(below * (kept - lower_begin));
  Array<double> as_they_are((bottom - top) * settled);
  parallel_for(kept, [&](std::int64_t k) {
    const double* const source = column(problem.begin + deflated.kept[order[k]]);
    if (k < upper_end) std::copy_n(source + top, above, upper.data() + k * above);
    if (k >= lower_begin) std::copy_n(source + border, below, lower.data() + (k - lower_begin) * below);
  });
  for (std::int64_t k = 0; k < settled; ++k)
    std::copy_n(column(problem.begin + deflated.settled[k]) + top, bottom - top,
                as_they_are.data() + k * (bottom - top));
  for (std::int64_t k = 0; k < settled; ++k)
    std::copy_n(as_they_are.data() + k * (bottom - top), bottom - top,
                column(problem.begin + kept + k) + top);

  Array<double> of_update(kept * std::min(panel_columns, wanted.size()));
  for (std::int64_t first = wanted.begin; first < wanted.end; first += panel_columns) {
    const std::int64_t width = std::min(panel_columns, wanted.end - first);
    parallel_for(width, [&](std::int64_t c) {
      const SecularRoot& root = roots[first + c];
      double* const vector = of_update.data() + c * kept;
      const double pole = update.d[root.pole];
      const double shift = root.shift;
      double square = 0;
#pragma omp simd reduction(+ : square)
      for (std::int64_t k = 0; k < kept; ++k) {
        vector[k] = z_ordered[k] / ((d_ordered[k] - pole) - shift);
        square += vector[k] * vector[k];
      }
      const double scale = 1 / std::sqrt(square);
      for (std::int64_t k = 0; k < kept; ++k) vector[k] *= scale;
    });
    double* const target = column(problem.begin + first);
    multiply(1, Op::none, {upper.data(), above, upper_end, above}, Op::none,
             {of_update.data(), upper_end, width, kept}, 0, {target + top, above, width, ld_});
    multiply(1, Op::none, {lower.data(), below, kept - lower_begin, below}, Op::none,
             {of_update.data() + lower_begin, kept - lower_begin, width, kept}, 0,
             {target + border, below, width, ld_});
  }
}

/// The result but for the vectors, once all eigenvalues are known.
void Solver::choose(const Select& select) {
  std::vector<std::int64_t> order(n_);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t j) { return d_[j]; });
  for (const std::int64_t j : order) result_.values.push_back(d_[j]);
  result_.selected = select(result_.values);
  result_.column_of.assign(order.begin() + result_.selected.begin, order.begin() + result_.selected.end);
}

TridiagonalPairs Solver::run(const Select& select) {
  select_ = &select;
  cut({0, n_});
  solve_leaves();
  solve({0, n_});
  if (n_ <= leaf_size) choose(select);
  result_.rows = rows_;
  result_.vectors = std::move(vectors_);
  return std::move(result_);
}

}  // namespace

TridiagonalPairs divide_and_conquer(const comm::Comm& comm, std::vector<double> diagonal,
                                    const std::vector<double>& off_diagonal, const Select& select) {
  return Solver(comm, std::move(diagonal), off_diagonal).run(select);
}

Array<double> spread_by_columns(const comm::Comm& comm, TridiagonalPairs& pairs) {
  const int ranks = comm.size();
  const std::int64_t height = pairs.rows.count();
  const std::int64_t selected = pairs.selected.size();
  std::vector<std::int64_t> offsets(ranks + 1, 0);
  Array<double> packed(height * selected);
  for (int r = 0; r < ranks; ++r) offsets[r + 1] = height * split_evenly(selected, ranks, r).end;
  parallel_for(selected, [&](std::int64_t q) {
    std::copy_n(pairs.vectors.data() + pairs.column_of[q] * height, height, packed.data() + q * height);
  });
  Array<double>().swap(pairs.vectors);
  if (ranks == 1) return packed;  // rows and columns are all here
  const auto received = comm.alltoallv(std::span<const double>(packed), offsets);
  Array<double>().swap(packed);

  const std::int64_t mine = split_evenly(selected, ranks, comm.rank()).size();
  Array<double> columns(pairs.rows.n * mine);
  for (int r = 0; r < ranks; ++r) {
    const auto piece = received.of(r);
    const std::int64_t rows = pairs.rows.count(r);
    for (std::int64_t q = 0; q < mine; ++q) {
      for (std::int64_t k = 0; k < rows; ++k) columns[q * pairs.rows.n + k * ranks + r] = piece[q * rows + k];
    }
  }
  return columns;
}

}  // namespace ayatori::eigen
