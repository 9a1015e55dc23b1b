#include "ayatori/eigen/davidson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/dense/blas.hpp"
#include "ayatori/eigen/projected.hpp"

namespace ayatori::eigen {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Pairs beyond the wanted ones that restarts keep: the further the next one, the faster all converge.
std::int64_t kept_pairs(std::int64_t n, std::int64_t count) {
  return std::min(n, count + std::max<std::int64_t>(2, count / 4));
}

/// c = op(a) b
Small product(Op op, const Small& a, const Small& b) {
  Small c(op == Op::none ? a.rows : a.columns, b.columns);
  multiply(1, op, a, Op::none, b, 0, c);
  return c;
}

/// A power of two that brings a number of this size to about 1, so that no square overflows.
double unit_of(double norm) {
  return norm > 0 ? std::exp2(std::min(-std::ilogb(norm), 1000)) : 1;
}

class Davidson {
 public:
  Davidson(const comm::Comm& comm, const SymmetricOperator& a, const ExtremeOptions& options)
      : comm_(comm),
        a_(a),
        options_(options),
        unit_(unit_of(a.norm)),
        block_(block_size(a.n, options.count)),
        most_(basis_size(a.n, options.count)),
        v_(a.rows.size(), most_ + block_),
        w_(a.rows.size(), most_),
        residual_(a.rows.size(), block_),
        h_(most_, most_),
        is_good_(options.count, false),
        norms_(options.count, 0.0) {}

  ExtremePairs run() {
    const std::int64_t start = kept_pairs(a_.n, options_.count);
    for (std::int64_t j = 0; j < start; j += block_) add_random(std::min(block_, start - j));
    while (true) {
      find_pairs();
      const auto targets = bad_pairs();
      const bool is_complete = size_ == a_.n;
      if (targets.empty() || is_complete || gives_up()) return result(targets.empty() || is_complete);
      const auto count = std::min<std::int64_t>(std::ssize(targets), a_.n - size_);
      if (size_ + count > most_) {
        restart();
        if (size_ + count + 1 <= most_) add_random(1);
      } else {
        remember(targets);
      }
      if (add(expansions(count)) == 0) add_random(1);
    }
  }

 private:
  bool gives_up() const {
    return stop_requested_ || (options_.max_products > 0 && pairs_.products >= options_.max_products);
  }

  /// Column of the pair that is number k from the wanted end.
  std::int64_t column_of(std::int64_t k) const { return options_.largest ? size_ - 1 - k : k; }

  /// Collective. (V T)^T T of the basis V and the `count` vectors T behind it.
  Small products_with_basis(std::int64_t count) {
    Small s(size_ + count, count);
    multiply(1, Op::transpose, v_.block(0, size_ + count), Op::none, v_.block(size_, count), 0, s);
    comm_.allreduce(std::span<double>(s.values), comm::ReduceOp::sum);
    return s;
  }

  /// Collective. Makes the vectors behind the basis orthogonal to it and to each other; those that have
  /// nothing new are dropped. How many are left. Thrice: the first pass leaves what cancels, the second finds
  /// what the vectors have in common (SVQB, Stathopoulos, Wu 2002), the third mends the rounding of both.
  std::int64_t orthonormalize(std::int64_t count) {
    for (int pass = 0; pass < 3 && count > 0; ++pass) {
      const Small s = products_with_basis(count);
      Small on_basis(size_, count);
      Small gram(count, count);
      for (std::int64_t j = 0; j < count; ++j) {
        std::copy_n(s.column(j), size_, on_basis.column(j));
        std::copy_n(s.column(j) + size_, count, gram.column(j));
      }
      multiply(-1, Op::none, v_.block(0, size_), Op::none, on_basis, 1, v_.block(size_, count));
      if (pass == 0) {
        scale(count, gram);
      } else {
        multiply(-1, Op::transpose, on_basis, Op::none, on_basis, 1, gram);
        count = orthonormalize_block(count, gram, pass == 1);
      }
    }
    return count;
  }

  /// To the length 1 that they had before the projection.
  void scale(std::int64_t count, const Small& gram) {
    for (std::int64_t j = 0; j < count; ++j) {
      const double length = std::sqrt(gram(j, j));
      const double factor = length > 0 ? 1 / length : 0;
      for (double& x : v_.column(size_ + j)) x *= factor;
    }
  }

  /// T = T D Q Lambda^{-1/2} with D G D = Q Lambda Q^T, G = T^T T, D G D of unit diagonal.
  std::int64_t orthonormalize_block(std::int64_t count, const Small& gram, bool is_first) {
    std::vector<double> d(count, 0.0);
    for (std::int64_t j = 0; j < count; ++j) {
      const bool is_nothing = is_first && !(gram(j, j) > 1e4 * eps * eps);  // the vector had length 1
      if (!is_nothing && gram(j, j) > 0) d[j] = 1 / std::sqrt(gram(j, j));
    }
    Small scaled(count, count);
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t i = 0; i < count; ++i) scaled(i, j) = d[i] * gram(i, j) * d[j];
    }
    const auto pairs = pairs_of(comm_, std::move(scaled));
    const double least = 1e3 * eps * std::max(pairs.values.back(), 0.0);
    std::int64_t kept = 0;
    Small change(count, count);
    for (std::int64_t k = 0; k < count; ++k) {
      if (!(pairs.values[k] > least)) continue;
      for (std::int64_t i = 0; i < count; ++i)
        change(i, kept) = d[i] * pairs.vectors(i, k) / std::sqrt(pairs.values[k]);
      ++kept;
    }
    change.columns = kept;
    replace(v_, size_, change);
    return kept;
  }

  /// Collective. The `count` vectors behind the basis become part of it. How many were worth it.
  std::int64_t add(std::int64_t count) {
    const std::int64_t added = orthonormalize(count);
    for (std::int64_t j = size_; j < size_ + added; ++j) {
      a_.apply(v_.column(j), w_.column(j));
      for (double& x : w_.column(j)) x *= unit_;
    }
    pairs_.products += added;
    Small projected(size_ + added, added);
    multiply(1, Op::transpose, v_.block(0, size_ + added), Op::none, w_.block(size_, added), 0, projected);
    comm_.allreduce(std::span<double>(projected.values), comm::ReduceOp::sum);
    for (std::int64_t j = 0; j < added; ++j) {
      for (std::int64_t i = 0; i < size_ + added; ++i) h_(i, size_ + j) = h_(size_ + j, i) = projected(i, j);
    }
    size_ += added;
    return added;
  }

  /// Collective. Adds directions that do not depend on how rows are spread.
  void add_random(std::int64_t count) {
    while (size_ < std::min(most_, a_.n)) {
      for (std::int64_t j = 0; j < count; ++j, ++randoms_) {
        const auto column = v_.column(size_ + j);
        for (std::int64_t i = 0; i < a_.rows.size(); ++i)
          column[i] = random_uniform(randoms_, a_.rows.begin + i) - 0.5;
      }
      if (add(count) > 0) return;
    }
  }

  /// V^T A V
  Small projection() const {
    Small h(size_, size_);
    for (std::int64_t j = 0; j < size_; ++j) std::copy_n(h_.column(j), size_, h.column(j));
    return h;
  }

  /// Collective. Ritz pairs of the basis.
  void find_pairs() { ritz_ = pairs_of(comm_, projection()); }

  /// Collective. Puts the residuals of the first wanted pairs that are not good yet, a block at most, into
  /// residual_; their numbers. Good pairs are looked at again before the end: what is added may move them.
  std::vector<std::int64_t> bad_pairs() {
    for (int round = 0; round < 2; ++round) {
      std::vector<std::int64_t> found;
      std::int64_t next = 0;
      const std::int64_t wanted = std::min(options_.count, size_);
      while (next < wanted && found.empty()) {
        std::vector<std::int64_t> asked;
        for (; next < wanted && std::ssize(asked) < block_; ++next) {
          if (!is_good_[next]) asked.push_back(next);
        }
        found = compute_residuals(asked);
      }
      if (!found.empty()) return found;
      if (round == 0) std::fill(is_good_.begin(), is_good_.end(), false);
    }
    return {};
  }

  std::vector<std::int64_t> compute_residuals(const std::vector<std::int64_t>& asked) {
    const auto count = static_cast<std::int64_t>(asked.size());
    if (count == 0) return {};
    Small y(size_, count);
    for (std::int64_t q = 0; q < count; ++q)
      std::copy_n(ritz_.vectors.column(column_of(asked[q])), size_, y.column(q));
    multiply(1, Op::none, w_.block(0, size_), Op::none, y, 0, residual_.block(0, count));
    for (std::int64_t q = 0; q < count; ++q) {
      for (std::int64_t i = 0; i < size_; ++i) y(i, q) *= ritz_.values[column_of(asked[q])];
    }
    multiply(-1, Op::none, v_.block(0, size_), Op::none, y, 1, residual_.block(0, count));
    std::vector<double> squares(count + 1);
    for (std::int64_t q = 0; q < count; ++q) {
      const auto r = residual_.column(q);
      squares[q] = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
    }
    squares[count] = options_.wants_stop && options_.wants_stop() ? 1 : 0;
    comm_.allreduce(std::span<double>(squares), comm::ReduceOp::sum);
    stop_requested_ = stop_requested_ || squares[count] > 0;
    std::vector<std::int64_t> bad;
    for (std::int64_t q = 0; q < count; ++q) {
      double& relative = norms_[asked[q]];
      relative = a_.norm > 0 ? std::sqrt(squares[q]) / (a_.norm * unit_) : 0;
      is_good_[asked[q]] = relative <= options_.tolerance;
      if (is_good_[asked[q]]) continue;
      if (std::ssize(bad) < q)
        std::ranges::copy(residual_.column(q), residual_.column(std::ssize(bad)).begin());
      bad.push_back(asked[q]);
    }
    return bad;
  }

  /// The pairs that this step works on: a restart keeps them, too (the +k).
  void remember(const std::vector<std::int64_t>& targets) {
    last_ = Small(size_, static_cast<std::int64_t>(targets.size()));
    for (std::int64_t q = 0; q < last_.columns; ++q)
      std::copy_n(ritz_.vectors.column(column_of(targets[q])), size_, last_.column(q));
  }

  /// Collective. The basis becomes the best Ritz vectors, and those of the last step as far as they say more.
  void restart() {
    const std::int64_t kept = kept_pairs(a_.n, options_.count);
    Small change(size_, std::min(most_, kept + last_.columns));
    std::int64_t columns = 0;
    for (; columns < kept; ++columns)
      std::copy_n(ritz_.vectors.column(column_of(columns)), size_, change.column(columns));
    for (std::int64_t q = 0; q < last_.columns && columns < change.columns; ++q) {
      std::copy_n(last_.column(q), last_.rows, change.column(columns));
      columns += orthonormalize_last(change, columns) ? 1 : 0;
    }
    change.values.resize(size_ * columns);
    change.columns = columns;
    replace(v_, 0, change);
    replace(w_, 0, change);
    const Small projected = product(Op::transpose, change, product(Op::none, projection(), change));
    for (std::int64_t j = 0; j < columns; ++j) std::copy_n(projected.column(j), columns, h_.column(j));
    size_ = columns;
    last_ = Small(0, 0);
    ++pairs_.restarts;
  }

  /// Makes column `last` of `c` orthogonal to those before it; false, and all zero, if it is nothing new.
  static bool orthonormalize_last(Small& c, std::int64_t last) {
    double* const x = c.column(last);
    double length = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < last; ++j) {
        const double* const other = c.column(j);
        const double along = std::inner_product(x, x + c.rows, other, 0.0);
        for (std::int64_t i = 0; i < c.rows; ++i) x[i] -= along * other[i];
      }
      length = std::sqrt(std::inner_product(x, x + c.rows, x, 0.0));
      if (length < 1e-8) {
        std::fill_n(x, c.rows, 0.0);
        return false;
      }
      for (std::int64_t i = 0; i < c.rows; ++i) x[i] /= length;
    }
    return true;
  }

  /// Collective. Puts what the basis is to grow by behind it: preconditioned residuals, or, once an
  /// eigenvalue shows that A is not positive definite, the residuals themselves.
  std::int64_t expansions(std::int64_t count) {
    const bool is_preconditioned = a_.precondition && !options_.largest && ritz_.values.front() > 0;
    for (std::int64_t q = 0; q < count; ++q) {
      const auto r = residual_.column(q);
      const auto to = v_.column(size_ + q);
      if (is_preconditioned) {
        precondition(r, to);
      } else {
        std::ranges::copy(r, to.begin());
      }
    }
    return count;
  }

  /// About (unit A)^-1 r, half of the unit on either side, so that nothing leaves the range of doubles on the
  /// way. r is scaled.
  void precondition(std::span<double> r, std::span<double> to) const {
    const int exponent = -std::ilogb(unit_);
    const double before = std::ldexp(1.0, exponent / 2);
    const double after = std::ldexp(1.0, exponent - exponent / 2);
    for (double& x : r) x *= before;
    a_.precondition(r, to);
    for (double& x : to) x *= after;
  }

  ExtremePairs result(bool converged) {
    const std::int64_t count = std::min(options_.count, size_);
    Small y(size_, count);
    pairs_.values.resize(count);
    pairs_.residuals.resize(count);
    for (std::int64_t q = 0; q < count; ++q) {
      const std::int64_t k = options_.largest ? count - 1 - q : q;  // so that values ascend
      pairs_.values[q] = ritz_.values[column_of(k)] / unit_;
      pairs_.residuals[q] = norms_[k];
      std::copy_n(ritz_.vectors.column(column_of(k)), size_, y.column(q));
    }
    pairs_.vectors.resize(v_.rows * count);
    multiply(1, Op::none, v_.block(0, size_), Op::none, y, 0,
             {pairs_.vectors.data(), v_.rows, count, v_.rows});
    pairs_.converged = converged;
    return std::move(pairs_);
  }

  const comm::Comm& comm_;
  const SymmetricOperator& a_;
  const ExtremeOptions& options_;
  const double unit_;  ///< A is taken times this
  const std::int64_t block_;
  const std::int64_t most_;  ///< vectors of the basis
  std::int64_t size_ = 0;    ///< vectors of the basis now
  Columns v_;                ///< the basis, orthonormal, and room for a block behind it
  Columns w_;                ///< A V
  Columns residual_;
  Small h_;  ///< V^T A V, in the leading part
  SmallPairs ritz_{{}, Small(0, 0)};
  Small last_{0, 0};           ///< coefficients of the targets of the step before
  std::vector<bool> is_good_;  ///< by number from the wanted end
  std::vector<double> norms_;
  std::uint64_t randoms_ = 1;
  bool stop_requested_ = false;
  ExtremePairs pairs_;
};

}  // namespace

std::int64_t block_size(std::int64_t n, std::int64_t count) {
  return std::min(n, std::clamp<std::int64_t>(count, 2, 8));
}

std::int64_t basis_size(std::int64_t n, std::int64_t count) {
  constexpr std::int64_t steps = 8;  // between restarts
  return std::min(n, kept_pairs(n, count) + (steps + 1) * block_size(n, count));
}

ExtremePairs extreme_pairs(const comm::Comm& comm, const SymmetricOperator& a,
                           const ExtremeOptions& options) {
  comm::agree(comm, [&] {
    if (options.count < 1 || options.count > a.n)
      throw InputError(fmt::format("{} eigenpairs of a matrix of {} rows", options.count, a.n));
    constexpr double least = 1e-14;
    if (!(options.tolerance >= least && options.tolerance < 1))
      throw InputError(fmt::format("tolerance {}: from {} to below 1", options.tolerance, least));
  });
  const BlasThreads threads;
  return Davidson(comm, a, options).run();
}

ExtremeCheck check_pairs(const comm::Comm& comm, const SymmetricOperator& a, const Product& reference,
                         const ExtremePairs& pairs) {
  const auto count = static_cast<std::int64_t>(pairs.values.size());
  const std::int64_t rows = a.rows.size();
  Array<double> product(rows);
  std::vector<double> squares(count);
  const double unit = unit_of(a.norm);
  for (std::int64_t q = 0; q < count; ++q) {
    const auto v = std::span(pairs.vectors).subspan(q * rows, rows);
    reference(v, product);
    for (std::int64_t i = 0; i < rows; ++i) {
      const double r = unit * (product[i] - pairs.values[q] * v[i]);
      squares[q] += r * r;
    }
  }
  comm.allreduce(std::span<double>(squares), comm::ReduceOp::sum);
  const ConstBlock v{pairs.vectors.data(), rows, count, rows};
  Small gram(count, count);
  multiply(1, Op::transpose, v, Op::none, v, 0, gram);
  comm.allreduce(std::span<double>(gram.values), comm::ReduceOp::sum);

  ExtremeCheck check;
  for (std::int64_t q = 0; q < count; ++q) {
    const double norm = std::sqrt(squares[q]);
    check.residual = worse(check.residual, norm == 0 ? 0 : norm / (unit * a.norm));
    for (std::int64_t p = 0; p < count; ++p)
      check.orthogonality = worse(check.orthogonality, std::abs(gram(p, q) - (p == q ? 1 : 0)));
  }
  check.orthogonality /= static_cast<double>(a.n) * eps;
  return check;
}

}  // namespace ayatori::eigen
