#include "ayatori/eigen/tridiagonal/divide_and_conquer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/eigen/dense/blas.hpp"
#include "ayatori/eigen/tridiagonal/secular.hpp"

namespace ayatori::eigen {

namespace {

constexpr std::int64_t leaf_size = 32;       // solved by QR iteration
constexpr std::int64_t panel_columns = 256;  // vectors of a rank-one update that are held at a time

/// Rows where a column that is merged has elements.
enum class Part : std::uint8_t { upper, both, lower };

/// The eigenproblem of two solved neighbours, after deflation.
template <class T>
struct Deflated {
  RankOneUpdateOf<T> update;
  std::vector<std::int64_t> kept;     ///< columns of the update, of the merged problem
  std::vector<std::int64_t> settled;  ///< columns that are eigenvectors as they are
  std::vector<Part> part;             ///< kind of each column
};

template <class T>
class Solver {
 public:
  Solver(const comm::Comm& comm, std::vector<T> diagonal, std::span<const T> off_diagonal)
      : comm_(comm),
        n_(static_cast<std::int64_t>(diagonal.size())),
        d_(std::move(diagonal)),
        e_(off_diagonal),
        rows_{n_, comm.size(), comm.rank()},
        ld_(rows_.count()),
        vectors_(ld_ * n_, T{0}) {}

  TridiagonalPairs<T> run(const SelectOf<T>& select);

 private:
  void cut(Range problem);
  void solve_leaves();
  void solve(Range problem);
  std::vector<T> z_of(Range problem, std::int64_t middle);
  void rotate(Range problem, std::int64_t i, std::int64_t j, T c, T s);
  Deflated<T> deflate(Range problem, std::int64_t middle);
  void merge(Range problem);
  void multiply_vectors(Range problem, const Deflated<T>& deflated, std::span<const SecularRootOf<T>> roots,
                        Range wanted);
  void choose(const SelectOf<T>& select);

  T* column(std::int64_t j) { return vectors_.data() + j * ld_; }
  static std::int64_t middle_of(Range problem) { return problem.begin + problem.size() / 2; }

  const comm::Comm& comm_;
  std::int64_t n_;
  std::vector<T> d_;  ///< eigenvalues of the problems that are solved, in the order of the columns
  std::span<const T> e_;
  Cyclic rows_;
  std::int64_t ld_;
  Array<T> vectors_;  ///< a column is zero outside the rows of the problem that it belongs to
  std::vector<Range> leaves_;
  const SelectOf<T>* select_ = nullptr;
  TridiagonalPairs<T> result_;
};

/// Notes the leaves, and takes from the diagonal what the merges add.
template <class T>
void Solver<T>::cut(Range problem) {
  if (problem.size() <= leaf_size) {
    leaves_.push_back(problem);
    return;
  }
  const std::int64_t middle = middle_of(problem);
  const T size = std::abs(e_[middle - 1]);
  d_[middle - 1] -= size;
  d_[middle] -= size;
  cut({problem.begin, middle});
  cut({middle, problem.end});
}

/// Each on one rank, since two ranks may not find the same vectors.
template <class T>
void Solver<T>::solve_leaves() {
  const auto solve_leaf = [this](Range leaf, std::vector<T>& out) {
    const std::int64_t size = leaf.size();
    std::vector<T> values(d_.begin() + leaf.begin, d_.begin() + leaf.end);
    std::vector<T> off(e_.begin() + leaf.begin, e_.begin() + std::max(leaf.begin, leaf.end - 1));
    std::vector<T> vectors(size * size);
    if (!tridiagonal_vectors<T>(size, values.data(), off.data(), {vectors.data(), size, size, size}))
      values[0] = std::numeric_limits<T>::quiet_NaN();
    out.insert(out.end(), values.begin(), values.end());
    out.insert(out.end(), vectors.begin(), vectors.end());
  };
  const auto leaves_of = [this](int rank) {
    const Range share = split_evenly(static_cast<std::int64_t>(leaves_.size()), comm_.size(), rank);
    return std::span<const Range>(leaves_).subspan(share.begin, share.size());
  };
  const auto put_leaf = [this](Range leaf, const T* next) {
    std::copy_n(next, leaf.size(), d_.begin() + leaf.begin);
    next += leaf.size();
    for (std::int64_t j = leaf.begin; j < leaf.end; ++j, next += leaf.size()) {
      for (std::int64_t k = rows_.local_from(leaf.begin); k < rows_.local_from(leaf.end); ++k)
        column(j)[k] = next[rows_.global(k) - leaf.begin];
    }
  };
  std::int64_t longest = 0;
  for (const Range leaf : leaves_) longest = std::max(longest, leaf.size() * (leaf.size() + 1));
  const auto piece = longest * static_cast<std::int64_t>(leaves_of(0).size());  // rank 0's, which has most
  std::vector<T> found;
  found.reserve(piece);
  for (const Range leaf : leaves_of(comm_.rank())) solve_leaf(leaf, found);
  found.resize(piece);
  std::vector<T> all(piece * comm_.size());
  comm_.collectives().allgather(comm_, found.data(), piece, all.data(), comm::data_type_of<T>());
  for (int r = 0; r < comm_.size(); ++r) {
    const T* next = all.data() + r * piece;
    for (const Range leaf : leaves_of(r)) {
      put_leaf(leaf, next);
      next += leaf.size() * (leaf.size() + 1);
    }
  }
  if (std::ranges::any_of(d_, [](T value) { return !std::isfinite(value); }))
    throw_error(ErrorKind::internal, "an iteration for tridiagonal eigenvalues did not converge", true);
}

template <class T>
void Solver<T>::solve(Range problem) {
  if (problem.size() <= leaf_size) return;
  const std::int64_t middle = middle_of(problem);
  solve({problem.begin, middle});
  solve({middle, problem.end});
  merge(problem);
}

/// The last row of the upper vectors and the first of the lower ones, divided by the length of both together.
template <class T>
std::vector<T> Solver<T>::z_of(Range problem, std::int64_t middle) {
  std::vector<T> z(problem.size(), T{0});
  const T sign = e_[middle - 1] < 0 ? -1 : 1;
  const auto take = [&](std::int64_t row, Range columns, T factor) {
    const auto piece = std::span(z).subspan(columns.begin - problem.begin, columns.size());
    if (rows_.owns(row)) {
      for (std::int64_t j = 0; j < columns.size(); ++j)
        piece[j] = factor * column(columns.begin + j)[rows_.local(row)];
    }
    comm_.broadcast(piece, rows_.owner(row));
  };
  take(middle - 1, {problem.begin, middle}, std::sqrt(T{0.5}));
  take(middle, {middle, problem.end}, sign * std::sqrt(T{0.5}));
  return z;
}

/// (x_i, x_j) = (c x_i - s x_j, c x_j + s x_i) for two columns of a problem, and the same for their
/// eigenvalues, which nothing couples afterwards but what is neglected.
template <class T>
void Solver<T>::rotate(Range problem, std::int64_t i, std::int64_t j, T c, T s) {
  T* const x = column(problem.begin + i);
  T* const y = column(problem.begin + j);
  for (std::int64_t k = rows_.local_from(problem.begin); k < rows_.local_from(problem.end); ++k) {
    const T before = x[k];
    x[k] = c * before - s * y[k];
    y[k] = c * y[k] + s * before;
  }
  T& d_i = d_[problem.begin + i];
  T& d_j = d_[problem.begin + j];
  const T before = d_i;
  d_i = c * c * before + s * s * d_j;
  d_j = c * c * d_j + s * s * before;
}

/// Takes out the columns that the update does not couple: those with a tiny z, and one of each two whose
/// eigenvalues are so close that a rotation makes the one's z zero and leaves next to nothing between them.
/// All ranks decide alike, from the same numbers.
template <class T>
Deflated<T> Solver<T>::deflate(Range problem, std::int64_t middle) {
  const std::int64_t size = problem.size();
  const T* const d = d_.data() + problem.begin;
  Deflated<T> result{{{}, {}, 2 * std::abs(e_[middle - 1])}, {}, {}, std::vector<Part>(size, Part::upper)};
  std::fill(result.part.begin() + (middle - problem.begin), result.part.end(), Part::lower);
  std::vector<T> z = z_of(problem, middle);
  std::vector<std::int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t j) { return d[j]; });

  T largest = 0;
  for (std::int64_t j = 0; j < size; ++j) largest = std::max({largest, std::abs(d[j]), std::abs(z[j])});
  const T tolerance = 4 * std::numeric_limits<T>::epsilon() * largest;

  std::optional<std::int64_t> last;  // kept unless the next is too close
  for (const std::int64_t j : order) {
    if (result.update.rho * std::abs(z[j]) <= tolerance) {
      result.settled.push_back(j);
      continue;
    }
    if (last) {
      const std::int64_t i = *last;
      const T length = std::hypot(z[i], z[j]);
      const T c = z[j] / length;
      const T s = z[i] / length;
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

  T square = 0;
  for (const std::int64_t j : result.kept) {
    result.update.d.push_back(d[j]);
    result.update.z.push_back(z[j]);
    square += z[j] * z[j];
  }
  for (T& value : result.update.z) value /= std::sqrt(square);
  result.update.rho *= square;
  return result;
}

/// Eigenpairs of a problem from those of its two parts. Its columns are then those of the roots, ascending,
/// and behind them those that were settled.
template <class T>
void Solver<T>::merge(Range problem) {
  const Deflated<T> deflated = deflate(problem, middle_of(problem));
  const auto kept = static_cast<std::int64_t>(deflated.kept.size());
  const auto roots = secular_roots(comm_, deflated.update);
  std::vector<T> values;
  values.reserve(problem.size());
  for (const SecularRootOf<T>& root : roots) values.push_back(root.value(deflated.update));
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
template <class T>
void Solver<T>::multiply_vectors(Range problem, const Deflated<T>& deflated,
                                 std::span<const SecularRootOf<T>> roots, Range wanted) {
  const RankOneUpdateOf<T>& update = deflated.update;
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
  std::vector<T> d_ordered(kept);
  std::vector<T> z_ordered(kept);
  for (std::int64_t k = 0; k < kept; ++k) {
    d_ordered[k] = update.d[order[k]];
    z_ordered[k] = z[order[k]];
  }

  const std::int64_t top = rows_.local_from(problem.begin);
  const std::int64_t border = rows_.local_from(middle_of(problem));
  const std::int64_t bottom = rows_.local_from(problem.end);
  const std::int64_t above = border - top;
  const std::int64_t below = bottom - border;
  Array<T> upper(above * upper_end);
  Array<T> lower(below * (kept - lower_begin));
  Array<T> as_they_are((bottom - top) * settled);
  parallel_for(kept, [&](std::int64_t k) {
    const T* const source = column(problem.begin + deflated.kept[order[k]]);
    if (k < upper_end) std::copy_n(source + top, above, upper.data() + k * above);
    if (k >= lower_begin) std::copy_n(source + border, below, lower.data() + (k - lower_begin) * below);
  });
  for (std::int64_t k = 0; k < settled; ++k)
    std::copy_n(column(problem.begin + deflated.settled[k]) + top, bottom - top,
                as_they_are.data() + k * (bottom - top));
  for (std::int64_t k = 0; k < settled; ++k)
    std::copy_n(as_they_are.data() + k * (bottom - top), bottom - top,
                column(problem.begin + kept + k) + top);

  Array<T> of_update(kept * std::min(panel_columns, wanted.size()));
  for (std::int64_t first = wanted.begin; first < wanted.end; first += panel_columns) {
    const std::int64_t width = std::min(panel_columns, wanted.end - first);
    parallel_for(width, [&](std::int64_t c) {
      const SecularRootOf<T>& root = roots[first + c];
      T* const vector = of_update.data() + c * kept;
      const T pole = update.d[root.pole];
      const T shift = root.shift;
      T square = 0;
#pragma omp simd reduction(+ : square)
      for (std::int64_t k = 0; k < kept; ++k) {
        vector[k] = z_ordered[k] / ((d_ordered[k] - pole) - shift);
        square += vector[k] * vector[k];
      }
      const T scale = 1 / std::sqrt(square);
      for (std::int64_t k = 0; k < kept; ++k) vector[k] *= scale;
    });
    T* const target = column(problem.begin + first);
    multiply<T>(1, Op::none, {upper.data(), above, upper_end, above}, Op::none,
                {of_update.data(), upper_end, width, kept}, 0, {target + top, above, width, ld_});
    multiply<T>(1, Op::none, {lower.data(), below, kept - lower_begin, below}, Op::none,
                {of_update.data() + lower_begin, kept - lower_begin, width, kept}, 0,
                {target + border, below, width, ld_});
  }
}

/// The result but for the vectors, once all eigenvalues are known.
template <class T>
void Solver<T>::choose(const SelectOf<T>& select) {
  std::vector<std::int64_t> order(n_);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t j) { return d_[j]; });
  for (const std::int64_t j : order) result_.values.push_back(d_[j]);
  result_.selected = select(result_.values);
  result_.column_of.assign(order.begin() + result_.selected.begin, order.begin() + result_.selected.end);
}

template <class T>
TridiagonalPairs<T> Solver<T>::run(const SelectOf<T>& select) {
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

template <class T>
TridiagonalPairs<T> divide_and_conquer(const comm::Comm& comm, std::vector<T> diagonal,
                                       const std::vector<T>& off_diagonal,
                                       const std::type_identity_t<SelectOf<T>>& select) {
  return Solver<T>(comm, std::move(diagonal), off_diagonal).run(select);
}

template <class T>
Array<T> spread_by_columns(const comm::Comm& comm, TridiagonalPairs<T>& pairs) {
  const int ranks = comm.size();
  const std::int64_t height = pairs.rows.count();
  const std::int64_t selected = pairs.selected.size();
  std::vector<std::int64_t> offsets(ranks + 1, 0);
  Array<T> packed(height * selected);
  for (int r = 0; r < ranks; ++r) offsets[r + 1] = height * split_evenly(selected, ranks, r).end;
  parallel_for(selected, [&](std::int64_t q) {
    std::copy_n(pairs.vectors.data() + pairs.column_of[q] * height, height, packed.data() + q * height);
  });
  Array<T>().swap(pairs.vectors);
  if (ranks == 1) return packed;  // rows and columns are all here
  const auto received = comm.alltoallv(std::span<const T>(packed), offsets);
  Array<T>().swap(packed);

  const std::int64_t mine = split_evenly(selected, ranks, comm.rank()).size();
  Array<T> columns(pairs.rows.n * mine);
  for (int r = 0; r < ranks; ++r) {
    const auto piece = received.of(r);
    const std::int64_t rows = pairs.rows.count(r);
    for (std::int64_t q = 0; q < mine; ++q) {
      for (std::int64_t k = 0; k < rows; ++k) columns[q * pairs.rows.n + k * ranks + r] = piece[q * rows + k];
    }
  }
  return columns;
}

template TridiagonalPairs<double> divide_and_conquer(const comm::Comm& comm, std::vector<double> diagonal,
                                                     const std::vector<double>& off_diagonal,
                                                     const SelectOf<double>& select);
template Array<double> spread_by_columns(const comm::Comm& comm, TridiagonalPairs<double>& pairs);
template TridiagonalPairs<float> divide_and_conquer(const comm::Comm& comm, std::vector<float> diagonal,
                                                    const std::vector<float>& off_diagonal,
                                                    const SelectOf<float>& select);
template Array<float> spread_by_columns(const comm::Comm& comm, TridiagonalPairs<float>& pairs);

}  // namespace ayatori::eigen
