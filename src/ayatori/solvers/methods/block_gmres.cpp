#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/block_method.hpp"
#include "ayatori/solvers/block_ops.hpp"
#include "ayatori/solvers/methods/hessenberg_least_squares.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"
#include "ayatori/solvers/methods/worst_column.hpp"

namespace ayatori::solvers {

namespace {

/// Share of (w, w) that must be left of it for Pythagoras to give the norm, and for one projection to do.
constexpr double safe_share = 0.01;
/// A cycle after which no column is better than by this share would be repeated for ever.
constexpr double no_progress = 1e-10;

/// Pseudo-block GMRES(m): for every right-hand side the iterates of GMRES, preconditioned from the right, in
/// lockstep, so that one product and one reduction serve all. A column that is solved, or whose Krylov space
/// ends, stands still until the cycle does. Orthogonalization is classical Gram-Schmidt, done again for all
/// columns when less than a tenth of one's norm is left.
template <int Width>
class BlockGmres {
 public:
  BlockGmres(const BlockSystem& system, Vector x, const BlockMethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        worst_(options.targets),
        options_(worst_.options(options)),
        m_(std::max(1, std::min(options.restart, options.max_iterations))),
        work_(system.sum.comm(), x.size(), m_ + 2),
        least_squares_(
            comm::agree(system.sum.comm(), [&] { return std::vector(Width, HessenbergLeastSquares(m_)); })),
        h_(comm::agree(system.sum.comm(), [&] { return Array<double>((m_ + 2) * Width); })),
        monitor_(system.sum, options_, progress, start()) {}

  MethodResult solve() {
    while (!monitor_.stopped()) {
      const auto before = norms_;
      const int steps = build_bases();
      if (!update(steps)) break;
      restart(before);
    }
    return monitor_.result();
  }

 private:
  using Columns = std::array<double, Width>;

  Vector v(int j) { return work_[j]; }
  Vector z() { return work_[m_ + 1]; }

  /// X = 0, V_0 = B; the worst column.
  double start() {
    fill(x_, 0);
    copy(system_.b, v(0));
    norms_ = column_norms(v(0));
    return unit_ = worst();
  }

  double worst() const {
    double result = 0;
    for (int c = 0; c < Width; ++c) {
      const double own = worst_.ratio(c, norms_[c]);
      if (!(own <= result)) result = own;
      if (std::isnan(result)) break;
    }
    return result;
  }

  Columns column_norms(ConstVector block) {
    auto squares = parallel_totals<Columns>(system_.rows(), [&](Range share, Columns& sums) {
      add_column_dots<Width>(block.data(), block.data(), share, sums.data());
    });
    system_.sum(squares);
    for (double& square : squares) square = std::sqrt(square);
    return squares;
  }

  /// Block = block scaled by columns.
  void scale_columns(const Columns& by, Vector block) {
    parallel_for(system_.rows(), [&](std::int64_t i) {
      for (int c = 0; c < Width; ++c) block[i * Width + c] *= by[c];
    });
  }

  /// A cycle: the number of its steps.
  int build_bases() {
    Columns factor;
    for (int c = 0; c < Width; ++c) {
      least_squares_[c].restart(norms_[c]);
      at_work_[c] = worst_.ratio(c, norms_[c]) > 1;
      factor[c] = at_work_[c] ? 1 / norms_[c] : 0;
    }
    scale_columns(factor, v(0));
    int j = 0;
    while (j < m_ && !monitor_.stopped() && std::ranges::any_of(at_work_, [](bool b) { return b; })) {
      system_.m.apply_block(v(j), z(), Width);
      system_.a.apply_block(z(), v(j + 1), Width);
      const Columns norm = orthogonalize(j);
      for (int c = 0; c < Width; ++c) factor[c] = append(c, j, norm[c]) ? 1 / norm[c] : 0;
      ++j;
      monitor_.step(worst() / unit_);
      scale_columns(factor, v(j));
    }
    return j;
  }

  /// V_(j+1) without what lies in the bases; its norms. h_[i * Width + c] is element i of the column of H.
  Columns orthogonalize(int j) {
    const std::size_t count = static_cast<std::size_t>(j + 1) * Width;
    const std::span<double> h = std::span<double>(h_).first(count + Width);
    local_products(j, h);
    system_.sum(h);
    subtract(j, h);
    Columns left;
    bool is_safe = find_left(h, left);
    if (!is_safe) {  // once more: what is left may not be orthogonal, and its norm is not known
      std::vector<double> again(h.size());
      local_products(j, again);
      system_.sum(again);
      subtract(j, again);
      is_safe = find_left(again, left);
      for (std::size_t k = 0; k < count; ++k) h[k] += again[k];
      if (!is_safe) return column_norms(v(j + 1));
    }
    for (double& square : left) square = std::sqrt(square);
    return left;
  }

  /// (w, w) - h^T h by columns; whether that is safe for all at work.
  bool find_left(std::span<const double> h, Columns& left) const {
    bool is_safe = true;
    const std::size_t last = h.size() - Width;
    for (int c = 0; c < Width; ++c) {
      left[c] = h[last + c];
      for (std::size_t k = c; k < last; k += Width) left[c] -= h[k] * h[k];
      is_safe = is_safe && (!at_work_[c] || left[c] >= safe_share * h[last + c]);
      left[c] = std::max(left[c], 0.0);
    }
    return is_safe;
  }

  /// This rank's products of the columns of V_(j+1) with those of V_0 to V_(j+1).
  void local_products(int j, std::span<double> h) {
    const Vector w = v(j + 1);
    std::vector<std::vector<double>> partial(threads_for(system_.rows()));
    for (auto& sums : partial) sums.assign(h.size(), 0.0);
    parallel_ranges(system_.rows(), [&](Range share) {
      auto& sums = partial[omp_get_thread_num()];
      for_each_chunk<Width>(share, [&](Range chunk) {
        for (int i = 0; i <= j + 1; ++i)
          add_column_dots<Width>(v(i).data(), w.data(), chunk, sums.data() + std::ptrdiff_t{i} * Width);
      });
    });
    std::ranges::fill(h, 0.0);
    for (const auto& sums : partial)
      for (std::size_t k = 0; k < h.size(); ++k) h[k] += sums[k];
  }

  /// V_(j+1) -= the combination of V_0 to V_j.
  void subtract(int j, std::span<const double> h) { add_combination(j + 1, h, -1, v(j + 1)); }

  /// Y += sign * sum of V_i h_i by columns, i < count.
  void add_combination(int count, std::span<const double> h, double sign, Vector y) {
    parallel_ranges(system_.rows(), [&](Range share) {
      for_each_chunk<Width>(share, [&](Range chunk) {
        for (int i = 0; i < count; ++i) {
          const double* vi = v(i).data();
          Columns factor;
          for (int c = 0; c < Width; ++c) factor[c] = sign * h[i * Width + c];
          for (std::int64_t k = chunk.begin; k < chunk.end; ++k) {
#pragma omp simd
            for (int c = 0; c < Width; ++c) y[k * Width + c] += factor[c] * vi[k * Width + c];
          }
        }
      });
    });
  }

  /// Takes column j of H into the least squares problem of c. False if c has no next vector: it is solved,
  /// its space has ended, or A M is singular on it.
  bool append(int c, int j, double norm) {
    if (!at_work_[c]) return false;
    double size = norm;
    for (int i = 0; i <= j; ++i) {
      column_[i] = h_[i * Width + c];
      size = std::max(size, std::abs(column_[i]));
    }
    const bool taken = least_squares_[c].append(std::span<const double>(column_).first(j + 1), norm);
    norms_[c] = std::isfinite(size) ? least_squares_[c].residual() : std::numeric_limits<double>::quiet_NaN();
    const bool has_next = norm > 10 * std::numeric_limits<double>::epsilon() * size;
    at_work_[c] = taken && has_next && worst_.ratio(c, norms_[c]) > 1;
    return at_work_[c];
  }

  /// X += M V y. False, and X as it was, if that is not finite.
  bool update(int steps) {
    std::vector<double> y(static_cast<std::size_t>(m_) * Width, 0.0);
    for (int c = 0; c < Width; ++c) {
      const auto own = least_squares_[c].solve();
      for (std::size_t i = 0; i < own.size(); ++i) y[i * Width + c] = own[i];
    }
    const Vector combined = v(steps);
    fill(combined, 0);
    add_combination(steps, y, 1, combined);
    system_.m.apply_block(combined, z(), Width);
    if (!std::isfinite(system_.sum(local_max_abs(z())))) {
      monitor_.breakdown(fmt::format("the correction of X from {} blocks of vectors overflows", steps));
      return false;
    }
    axpy(1, z(), x_);
    return true;
  }

  /// The residuals anew.
  void restart(const Columns& before) {
    system_.a.apply_block(x_, v(0), Width);
    solvers::subtract(system_.b, v(0), v(0));
    norms_ = column_norms(v(0));
    monitor_.correct(worst() / unit_);
    if (monitor_.stopped()) return;
    for (int c = 0; c < Width; ++c)
      if (worst_.ratio(c, norms_[c]) > 1 && norms_[c] < (1 - no_progress) * before[c]) return;
    monitor_.stagnated("a cycle left the residuals of all columns that are not solved as they were");
  }

  const BlockSystem& system_;
  Vector x_;
  WorstColumn worst_;
  MethodOptions options_;
  int m_;
  Workspace work_;
  std::vector<HessenbergLeastSquares> least_squares_;
  Array<double> h_;
  std::vector<double> column_ = std::vector<double>(m_ + 1);
  Columns norms_{};  ///< norms of the residual's columns
  std::array<bool, Width> at_work_{};
  double unit_ = 0;
  Monitor monitor_;
};

MethodResult solve_block_gmres(const BlockSystem& system, Vector x, const BlockMethodOptions& options,
                               const Progress& progress) {
  return sparse::with_width(
      system.width, [&](auto width) { return BlockGmres<width()>(system, x, options, progress).solve(); });
}

}  // namespace

const BlockMethod block_gmres_method{
    .method = "gmres",
    .description = "GMRES for several right-hand sides in lockstep: one product, one reduction",
    .solve = solve_block_gmres};

}  // namespace ayatori::solvers
