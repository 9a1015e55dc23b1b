#include "ayatori/eigen/krylov_schur.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// The larger, the more wanted.
double desire(std::complex<double> value, SpectrumPart which) {
  switch (which) {
    case SpectrumPart::largest_magnitude:
      return std::abs(value);
    case SpectrumPart::smallest_magnitude:
      return -std::abs(value);
    case SpectrumPart::largest_real:
      return value.real();
    case SpectrumPart::smallest_real:
      return -value.real();
    case SpectrumPart::largest_imaginary:
      return std::abs(value.imag());
    case SpectrumPart::smallest_imaginary:
      break;
  }
  return -std::abs(value.imag());
}

std::int64_t basis_for(std::int64_t n, const KrylovSchurOptions& options) {
  constexpr std::int64_t least_room = 3;  // beside what is wanted: a pair, and what follows
  const std::int64_t asked =
      options.basis > 0 ? options.basis : std::max<std::int64_t>(2 * options.count + 1, 20);
  return std::min(n, std::max(asked, options.count + least_room));
}

/// T = Q^T H Q in real Schur form, on every rank.
struct Schur {
  Small t{0, 0};
  Small q{0, 0};

  std::int64_t size() const { return t.rows; }
  std::int64_t block(std::int64_t k) const { return k + 1 < size() && t(k + 1, k) != 0 ? 2 : 1; }
  /// Eigenvalue of the block that begins here; the one above the axis of a conjugate pair.
  std::complex<double> value(std::int64_t k) const {
    if (block(k) == 1) return t(k, k);
    return {t(k, k), std::sqrt(std::abs(t(k, k + 1))) * std::sqrt(std::abs(t(k + 1, k)))};
  }
  /// No pair is parted.
  std::int64_t whole(std::int64_t count) const {
    return count > 0 && count < size() && t(count, count - 1) != 0 ? count + 1 : count;
  }
};

/// The `wanted` most wanted eigenvalues come first, in that order. Where two cannot be exchanged, they are
/// equal to rounding.
void sort(Schur& schur, std::int64_t wanted, SpectrumPart which) {
  for (std::int64_t to = 0; to < wanted; to += schur.block(to)) {
    std::int64_t best = to;
    for (std::int64_t k = to; k < schur.size(); k += schur.block(k))
      if (desire(schur.value(k), which) > desire(schur.value(best), which)) best = k;
    if (best != to) move_in_schur_form(schur.t, schur.q, best, to);
  }
}

/// Collective. Computed once: processors that round differently would go different ways.
Schur schur_of(const comm::Comm& comm, Small h, std::int64_t wanted, SpectrumPart which) {
  Schur schur{std::move(h), {0, 0}};
  schur.q = Small(schur.size(), schur.size());
  comm::agree(comm, [&] {
    if (comm.rank() != 0) return;
    if (!schur_form(schur.t, schur.q))
      throw EnvironmentError("LAPACK finds no Schur form of a projected matrix");
    sort(schur, wanted, which);
  });
  comm.broadcast(std::span<double>(schur.t.values), 0);
  comm.broadcast(std::span<double>(schur.q.values), 0);
  return schur;
}

class KrylovSchur {
 public:
  KrylovSchur(const comm::Comm& comm, const ProjectedOperator& a, const KrylovSchurOptions& options)
      : options_(options),
        most_(basis_for(a.n, options)),
        basis_(comm, a, most_ + 1),
        h_(most_ + 1, most_),
        max_restarts_(options.max_restarts > 0 ? options.max_restarts : 10 * a.n) {}

  InvariantSpace run() {
    basis_.start(0, options_.start);
    while (true) {
      expand();
      Small h(size_, size_);
      for (std::int64_t j = 0; j < size_; ++j) std::copy_n(h_.column(j), size_, h.column(j));
      schur_ = schur_of(basis_.comm(), std::move(h), kept_at_most(), options_.which);
      const std::int64_t wanted = schur_.whole(std::min(options_.count, size_));
      const std::int64_t done = converged_size();
      if (done >= wanted) return result(wanted, true);
      space_.interrupted = basis_.comm().any(options_.wants_stop && options_.wants_stop());
      if (space_.interrupted || space_.restarts >= max_restarts_) return result(done, false);
      restart(done);
    }
  }

 private:
  std::int64_t kept_at_most() const {
    return std::min(size_, options_.count + (size_ - options_.count) / 2 + 1);
  }

  /// Collective. Fills the basis. The vector behind it stands there already.
  void expand() {
    while (size_ < most_) {
      last_ = basis_.extend(size_ + 1, std::span(h_.column(size_), size_ + 1));
      ++size_;
      if (size_ < most_) h_(size_, size_ - 1) = last_;
      if (last_ == 0 && !basis_.start(size_)) break;
    }
  }

  /// What the product with Schur vector j has outside of the basis.
  double outside(std::int64_t j) const { return last_ * schur_.q(size_ - 1, j); }
  /// The leading vectors that are invariant to the tolerance.
  std::int64_t converged_size() const {
    double norm = 0;
    for (std::int64_t k = 0; k < size_; k += schur_.block(k))
      norm = std::max(norm, std::abs(schur_.value(k)));
    const double floor = std::cbrt(eps * eps) * norm;  // as ARPACK has it
    double square = 0;
    std::int64_t done = 0;
    while (done < size_) {
      const std::int64_t next = done + schur_.block(done);
      for (std::int64_t j = done; j < next; ++j) square += outside(j) * outside(j);
      const double size = std::max(std::abs(schur_.value(done)), floor);
      const double tolerance = std::max(std::max(options_.tolerance, eps) * size, 4 * eps * norm);
      if (size_ < basis_.n() && !(std::sqrt(square) <= tolerance)) break;
      done = next;
    }
    return done;
  }

  /// V = V Q of the leading `kept` columns.
  void keep(std::int64_t kept) {
    Small change(size_, kept);
    for (std::int64_t j = 0; j < kept; ++j) std::copy_n(schur_.q.column(j), size_, change.column(j));
    replace(basis_.columns(), 0, change);
  }

  void restart(std::int64_t done) {
    std::int64_t kept = options_.count + std::min(done, (size_ - options_.count) / 2);
    if (kept == 1) kept = size_ / 2;
    kept = schur_.whole(std::min(kept, size_ - 2));
    keep(kept);
    std::ranges::copy(basis_.columns().column(size_), basis_.columns().column(kept).begin());
    std::ranges::fill(h_.values, 0.0);
    for (std::int64_t j = 0; j < kept; ++j) {
      std::copy_n(schur_.t.column(j), kept, h_.column(j));
      h_(kept, j) = outside(j);
    }
    size_ = kept;
    ++space_.restarts;
  }

  InvariantSpace result(std::int64_t count, bool converged) {
    keep(count);
    space_.size = count;
    space_.t = Small(count, count);
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t i = 0; i < count; ++i) space_.t(i, j) = schur_.t(i, j) / basis_.unit();
    }
    const auto begin = basis_.columns().values.begin();
    space_.vectors.resize(count * basis_.columns().rows);
    std::copy_n(begin, space_.vectors.size(), space_.vectors.begin());
    space_.converged = converged;
    space_.products = basis_.products();
    return std::move(space_);
  }

  const KrylovSchurOptions& options_;
  const std::int64_t most_;  ///< vectors of the basis
  KrylovBasis basis_;
  Small h_;                ///< V^T A V, and below it what restarts leave outside
  std::int64_t size_ = 0;  ///< vectors of the basis; one vector more stands behind it
  double last_ = 0;        ///< norm of what the last product had outside of the basis
  Schur schur_;
  std::int64_t max_restarts_;
  InvariantSpace space_;
};

}  // namespace

InvariantSpace krylov_schur(const comm::Comm& comm, const ProjectedOperator& a,
                            const KrylovSchurOptions& options) {
  check_wanted(comm, a, options.count, options.start);
  const BlasThreads threads;
  return KrylovSchur(comm, a, options).run();
}

}  // namespace ayatori::eigen
