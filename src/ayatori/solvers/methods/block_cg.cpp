#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "ayatori/solvers/block_method.hpp"
#include "ayatori/solvers/block_ops.hpp"
#include "ayatori/solvers/methods/definiteness.hpp"
#include "ayatori/solvers/methods/methods.hpp"
#include "ayatori/solvers/methods/monitor.hpp"
#include "ayatori/solvers/methods/workspace.hpp"
#include "ayatori/solvers/methods/worst_column.hpp"

namespace ayatori::solvers {

namespace {

/// A direction is dropped where, scaled to length 1, so little (squared) is left of it beside the others:
/// less would leave A-orthonormality to rounding.
const double dependent = std::sqrt(std::numeric_limits<double>::epsilon());

/// T with T^T G T = I on the directions kept and zero columns for the others, by Cholesky's factorization
/// with pivoting of G scaled to a diagonal of 1. `rank`: directions kept; -1 if G is not semidefinite.
template <int Width>
struct Orthonormalizer {
  Small<Width> t{};
  int rank = 0;

  explicit Orthonormalizer(const Small<Width>& g) {
    double scale[Width];
    for (int i = 0; i < Width; ++i) {
      const double diagonal = g[i * Width + i];
      if (!(diagonal >= 0) || !std::isfinite(diagonal)) {
        rank = -1;
        return;
      }
      scale[i] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0;
    }
    Small<Width> left{};  // what is left of the scaled G
    for (int i = 0; i < Width; ++i)
      for (int j = 0; j < Width; ++j) left[i * Width + j] = g[i * Width + j] * scale[i] * scale[j];
    // w = I, whose columns the elimination makes G-orthogonal to each other.
    Small<Width> w{};
    for (int i = 0; i < Width; ++i) w[i * Width + i] = 1;
    bool used[Width] = {};
    for (int step = 0; step < Width; ++step) {
      int pivot = -1;
      for (int i = 0; i < Width; ++i)
        if (!used[i] && (pivot < 0 || left[i * Width + i] > left[pivot * Width + pivot])) pivot = i;
      const double size = left[pivot * Width + pivot];
      if (!(size > dependent)) {
        if (!(size > -dependent)) rank = -1;
        return;
      }
      used[pivot] = true;
      for (int i = 0; i < Width; ++i)
        t[i * Width + pivot] = scale[i] * w[i * Width + pivot] / std::sqrt(size);
      for (int j = 0; j < Width; ++j) {
        if (used[j]) continue;
        const double factor = left[pivot * Width + j] / size;
        for (int i = 0; i < Width; ++i) w[i * Width + j] -= factor * w[i * Width + pivot];
      }
      const Small<Width> before = left;
      for (int i = 0; i < Width; ++i)
        for (int j = 0; j < Width; ++j)
          if (!used[i] && !used[j])
            left[i * Width + j] -= before[i * Width + pivot] * before[pivot * Width + j] / size;
      ++rank;
    }
  }
};

/// X^T Y of small matrices.
template <int Width>
Small<Width> transposed_product(const Small<Width>& x, const Small<Width>& y) {
  Small<Width> result{};
  for (int k = 0; k < Width; ++k)
    for (int i = 0; i < Width; ++i)
      for (int j = 0; j < Width; ++j) result[i * Width + j] += x[k * Width + i] * y[k * Width + j];
  return result;
}

/// Preconditioned conjugate gradients for several right-hand sides (O'Leary 1980): every solution is the best
/// in the space that the directions of all span. Directions that depend on the others are dropped (Ji & Li
/// 2017), and the rest are made A-orthonormal, P^T A P = I. As in cg, one reduction in an iteration: A P
/// comes from A Z by the recurrence of P, and the Gram matrix of the new directions from Z^T A Z and Z^T A
/// P_old, unless most of it cancels.
///
/// Traffic beside A and M: 14 doubles per row, vector and iteration, as cg.
template <int Width>
class BlockCg {
 public:
  BlockCg(const BlockSystem& system, Vector x, const BlockMethodOptions& options, const Progress& progress)
      : system_(system),
        x_(x),
        worst_(options.targets),
        options_(worst_.options(options)),
        work_(system.sum.comm(), x.size(), 5),
        monitor_(system.sum, options_, progress, start()) {}

  MethodResult solve() {
    Squares local = local_squares();
    bool first = true;
    while (!monitor_.stopped()) {
      if (!first && meets_target(local)) break;
      const Products products = multiply(local);
      if (!first) step(products.squares);
      first = false;
      if (monitor_.stopped() || !check(products)) break;
      local = advance(products);
    }
    return monitor_.result();
  }

 private:
  using Squares = std::array<double, Width>;
  /// Sums over ranks of an iteration, with Z = M R, U = A Z and P, Q = A P the last directions.
  struct Products {
    Small<Width> zu, qz, zr;
    Squares squares;  ///< squared norms of R's columns
  };

  /// X = 0, R = B; the worst column.
  double start() {
    fill(x_, 0);
    copy(system_.b, r_);
    fill(p_, 0);
    fill(q_, 0);
    Squares squares = local_squares();
    system_.sum(squares);
    return unit_ = worst_.of_squares(squares);
  }

  Squares local_squares() const {
    return parallel_totals<Squares>(system_.rows(), [&](Range share, Squares& sums) {
      for_each_chunk<Width>(
          share, [&](Range chunk) { add_column_dots<Width>(r_.data(), r_.data(), chunk, sums.data()); });
    });
  }

  /// Whether the last directions have led to the target, which is asked for only where that is likely.
  bool meets_target(Squares squares) {
    if (!monitor_.expects_target()) return false;
    system_.sum(squares);
    if (!(worst_.of_squares(squares) <= 1)) return false;
    step(squares);
    return true;
  }

  void step(const Squares& squares) { monitor_.step(worst_.of_squares(squares) / unit_); }

  Products multiply(const Squares& squares) {
    system_.m.apply_block(r_, z_, Width);
    system_.a.apply_block(z_, u_, Width);
    constexpr std::size_t square = static_cast<std::size_t>(Width) * Width;
    auto sums =
        parallel_totals<std::array<double, 3 * square + Width>>(system_.rows(), [&](Range share, auto& s) {
          for_each_chunk<Width>(share, [&](Range chunk) {
            add_gram<Width>(z_.data(), u_.data(), chunk, s.data());
            add_gram<Width>(q_.data(), z_.data(), chunk, s.data() + square);
            add_gram<Width>(z_.data(), r_.data(), chunk, s.data() + 2 * square);
          });
        });
    std::ranges::copy(squares, sums.end() - Width);
    system_.sum(sums);
    Products products;
    std::copy_n(sums.begin(), square, products.zu.begin());
    std::copy_n(sums.begin() + square, square, products.qz.begin());
    std::copy_n(sums.begin() + 2 * square, square, products.zr.begin());
    std::copy_n(sums.begin() + 3 * square, Width, products.squares.begin());
    return products;
  }

  /// A and M must be positive definite on every column that is not zero.
  bool check(const Products& products) {
    for (int c = 0; c < Width; ++c) {
      if (products.squares[c] == 0) continue;
      if (!check_preconditioner(monitor_, products.zr[c * Width + c])) return false;
      if (!check_curvature(monitor_, products.zu[c * Width + c])) return false;
    }
    return true;
  }

  /// New directions, X and R; this rank's squares of R.
  Squares advance(const Products& products) {
    Small<Width> beta{};  // P and Q enter the new directions by it
    for (std::size_t k = 0; k < beta.size(); ++k) beta[k] = -products.qz[k];
    Small<Width> gram = transposed_product<Width>(products.qz, products.qz);
    bool cancels = false;
    for (int i = 0; i < Width; ++i) {
      for (int j = 0; j < Width; ++j) {
        const double zu = (products.zu[i * Width + j] + products.zu[j * Width + i]) / 2;
        gram[i * Width + j] = zu - gram[i * Width + j];
      }
      const double own = products.zu[i * Width + i];
      cancels = cancels || !(gram[i * Width + i] >= safe_curvature_share * own);
    }
    if (cancels) gram = form_directions(beta);
    const Orthonormalizer<Width> directions(gram);
    if (directions.rank <= 0) {
      monitor_.breakdown(directions.rank < 0
                             ? "the matrix is not positive definite on the directions of the block"
                             : "no direction is left");
      return {};
    }
    const Small<Width> alpha = transposed_product<Width>(directions.t, products.zr);
    Small<Width> keep{};  // shares of the old directions
    if (!cancels) {
      for (int i = 0; i < Width; ++i)
        for (int k = 0; k < Width; ++k)
          for (int j = 0; j < Width; ++j)
            keep[i * Width + j] += beta[i * Width + k] * directions.t[k * Width + j];
    } else {
      keep = directions.t;  // shares of those that form_directions() has put in their place
    }
    return update(cancels ? Small<Width>{} : directions.t, keep, alpha);
  }

  /// P = Z + P beta and Q = U + Q beta; the Gram matrix P^T Q, summed on its own.
  Small<Width> form_directions(const Small<Width>& beta) {
    Small<Width> identity{};
    for (int i = 0; i < Width; ++i) identity[i * Width + i] = 1;
    auto gram = parallel_totals<Small<Width>>(system_.rows(), [&](Range share, Small<Width>& sums) {
      for_each_chunk<Width>(share, [&](Range chunk) {
        combine_products<Width>(z_.data(), identity, p_.data(), beta, chunk);
        combine_products<Width>(u_.data(), identity, q_.data(), beta, chunk);
        add_gram<Width>(p_.data(), q_.data(), chunk, sums.data());
      });
    });
    system_.sum(gram);
    for (int i = 0; i < Width; ++i)
      for (int j = 0; j < i; ++j)
        gram[i * Width + j] = gram[j * Width + i] = (gram[i * Width + j] + gram[j * Width + i]) / 2;
    return gram;
  }

  /// P = Z fresh + P keep, Q likewise from U, X += P alpha, R -= Q alpha.
  Squares update(const Small<Width>& fresh, const Small<Width>& keep, const Small<Width>& alpha) {
    Small<Width> minus = alpha;
    for (double& value : minus) value = -value;
    return parallel_totals<Squares>(system_.rows(), [&](Range share, Squares& sums) {
      for_each_chunk<Width>(share, [&](Range chunk) {
        combine_products<Width>(z_.data(), fresh, p_.data(), keep, chunk);
        combine_products<Width>(u_.data(), fresh, q_.data(), keep, chunk);
        add_product<Width>(p_.data(), alpha, x_.data(), chunk);
        add_product<Width>(q_.data(), minus, r_.data(), chunk);
        add_column_dots<Width>(r_.data(), r_.data(), chunk, sums.data());
      });
    });
  }

  const BlockSystem& system_;
  Vector x_;
  WorstColumn worst_;
  MethodOptions options_;
  Workspace work_;
  Vector r_ = work_[0];
  Vector z_ = work_[1];
  Vector u_ = work_[2];  ///< A Z
  Vector p_ = work_[3];
  Vector q_ = work_[4];  ///< A P
  double unit_ = 0;
  Monitor monitor_;
};

MethodResult solve_block_cg(const BlockSystem& system, Vector x, const BlockMethodOptions& options,
                            const Progress& progress) {
  return sparse::with_width(
      system.width, [&](auto width) { return BlockCg<width()>(system, x, options, progress).solve(); });
}

}  // namespace

const BlockMethod block_cg_method{.method = "cg",
                                  .description = "block conjugate gradients that drop dependent directions",
                                  .solve = solve_block_cg};

}  // namespace ayatori::solvers
