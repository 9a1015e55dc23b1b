#include "ayatori/eigen/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ayatori::eigen {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Numbers of values, the most wanted first.
std::vector<std::int64_t> by_desire(const std::vector<double>& values, Which which) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto sort_by = [&](auto key) {
    std::ranges::stable_sort(order, std::greater{}, [&](std::int64_t i) { return key(values[i]); });
  };
  if (which == Which::largest_magnitude) sort_by([](double x) { return std::abs(x); });
  if (which == Which::smallest_magnitude) sort_by([](double x) { return -std::abs(x); });
  if (which == Which::smallest) sort_by([](double x) { return -x; });
  if (which == Which::largest || which == Which::both_ends) sort_by([](double x) { return x; });
  if (which != Which::both_ends) return order;
  std::vector<std::int64_t> alternating;
  for (std::size_t low = 0, high = order.size(); low < high;) {
    alternating.push_back(order[low++]);
    if (low < high) alternating.push_back(order[--high]);
  }
  return alternating;
}

std::int64_t basis_for(std::int64_t n, const LanczosOptions& options) {
  const std::int64_t asked =
      options.basis > 0 ? options.basis : std::max<std::int64_t>(2 * options.count + 1, 20);
  return std::min(n, std::max(asked, options.count + 1));
}

/// The same with room to look for more beside pairs that are found.
std::int64_t basis_to_look_for_more(std::int64_t n, const LanczosOptions& options) {
  constexpr std::int64_t room = 10;
  return std::min(n, std::max(basis_for(n, options), options.count + room));
}

class Lanczos {
 public:
  Lanczos(const comm::Comm& comm, const ProjectedOperator& a, const LanczosOptions& options)
      : options_(options),
        most_(basis_for(a.n, options)),
        basis_(comm, a, basis_to_look_for_more(a.n, options) + 1),
        t_(basis_to_look_for_more(a.n, options), basis_to_look_for_more(a.n, options)),
        max_restarts_(options.max_restarts > 0 ? options.max_restarts : 10 * a.n) {}

  LanczosPairs run() {
    basis_.start(0, options_.start);
    const bool found_all = iterate(options_.count, false);
    if (!found_all) return result(converged_pairs(options_.count), false);
    lock(first_pairs(options_.count));
    most_ = t_.rows;
    while (locked_ < basis_.n() && !pairs_.interrupted && basis_.start(locked_)) {
      if (!look_for_missed() || !take_missed()) break;
    }
    return result({}, true);
  }

 private:
  /// Collective. Iterates beside the locked pairs on the most wanted one, or one from each end, and on the
  /// next ones as long as they are what was missed. False where it gives up.
  bool look_for_missed() {
    const std::int64_t step = options_.which == Which::both_ends ? 2 : 1;
    std::int64_t probes = std::min(step, basis_.n() - locked_);
    while (iterate(probes, true)) {
      const auto numbers = first_pairs(probes);
      const bool is_last_missing =
          std::ranges::any_of(numbers.end() - std::min(step, std::ssize(numbers)), numbers.end(),
                              [this](std::int64_t k) { return is_missing(ritz_.values[k]); });
      if (!is_last_missing || probes + step > active() / 2) return true;
      probes += step;
    }
    return false;
  }

  std::int64_t active() const { return size_ - locked_; }

  /// Collective. Restarts until the `wanted` best pairs beside the locked ones have converged, or, of a
  /// probe, cannot be what was missed. False where it gives up.
  bool iterate(std::int64_t wanted, bool is_probe) {
    while (true) {
      expand();
      find_pairs();
      wanted = std::min(wanted, active());
      if (std::ssize(converged_pairs(wanted)) == wanted || is_complete()) return true;
      if (is_probe && are_settled(wanted)) return true;
      pairs_.interrupted = basis_.comm().any(options_.wants_stop && options_.wants_stop());
      if (pairs_.interrupted || pairs_.restarts >= max_restarts_) return false;
      restart(wanted);
    }
  }
  bool is_complete() const { return size_ == basis_.n(); }

  /// Collective. Fills the basis. The vector behind it stands there already.
  void expand() {
    std::vector<double> h(most_ + 1);
    while (size_ < most_) {
      last_ = basis_.extend(size_ + 1, std::span(h).first(size_ + 1));
      for (std::int64_t i = locked_; i <= size_; ++i) t_(i, size_) = t_(size_, i) = h[i];
      ++size_;
      // An invariant subspace: whatever else there is has to do with it nothing.
      if (last_ == 0 && !basis_.start(size_)) break;
    }
  }

  /// Collective. Ritz pairs beside the locked ones.
  void find_pairs() {
    Small h(active(), active());
    for (std::int64_t j = 0; j < active(); ++j)
      std::copy_n(t_.column(locked_ + j) + locked_, active(), h.column(j));
    ritz_ = pairs_of(basis_.comm(), std::move(h));
    order_ = by_desire(ritz_.values, options_.which);
    norm_ = 0;
    for (const double value : ritz_.values) norm_ = std::max(norm_, std::abs(value));
    for (const double value : values_) norm_ = std::max(norm_, std::abs(value));
  }
  double residual(std::int64_t k) const { return std::abs(last_ * ritz_.vectors(active() - 1, k)); }
  double tolerance_of(double value) const {
    const double floor = std::cbrt(eps * eps) * norm_;  // as ARPACK has it
    return std::max(std::max(options_.tolerance, eps) * std::max(std::abs(value), floor), 4 * eps * norm_);
  }
  bool has_converged(std::int64_t k) const {
    return is_complete() || residual(k) <= tolerance_of(ritz_.values[k]);
  }

  /// Numbers of Ritz pairs, the most wanted first.
  std::vector<std::int64_t> first_pairs(std::int64_t wanted) const {
    return {order_.begin(), order_.begin() + std::min(wanted, active())};
  }
  std::vector<std::int64_t> converged_pairs(std::int64_t wanted) const {
    auto numbers = first_pairs(wanted);
    std::erase_if(numbers, [this](std::int64_t k) { return !has_converged(k); });
    return numbers;
  }

  /// Whether this value belongs among the locked ones, and takes the place of one that differs from it.
  bool is_missing(double value) const {
    auto all = values_;
    all.push_back(value);
    const auto order = by_desire(all, options_.which);
    const std::int64_t dropped = order.back();
    return dropped != locked_ && std::abs(all[dropped] - value) > 10 * tolerance_of(value);
  }
  /// Whether what is known of the probes so far is enough: each has converged, or cannot be what was missed
  /// as its eigenvalue lies within the residual of it.
  bool are_settled(std::int64_t probes) const {
    constexpr double caution = 1000;
    return std::ranges::none_of(first_pairs(probes), [this](std::int64_t k) {
      if (has_converged(k)) return false;
      const double reach = caution * residual(k);
      return is_missing(ritz_.values[k] - reach) || is_missing(ritz_.values[k] + reach) ||
             reach > std::abs(ritz_.values[k]);
    });
  }

  /// The Ritz vectors of these numbers follow the locked ones; those of the basis are no more.
  void keep(const std::vector<std::int64_t>& numbers) {
    Small change(active(), std::ssize(numbers));
    for (std::int64_t j = 0; j < change.columns; ++j)
      std::copy_n(ritz_.vectors.column(numbers[j]), active(), change.column(j));
    replace(basis_.columns(), locked_, change);
  }

  void lock(const std::vector<std::int64_t>& numbers) {
    keep(numbers);
    for (const std::int64_t k : numbers) values_.push_back(ritz_.values[k]);
    locked_ = size_ = std::ssize(values_);
  }

  /// Pairs that belong among the locked ones take the places of the least wanted. Whether there were any.
  bool take_missed() {
    auto found = converged_pairs(active());
    std::erase_if(found, [this](std::int64_t k) { return !is_missing(ritz_.values[k]); });
    if (found.empty()) return false;
    lock(found);
    auto order = by_desire(values_, options_.which);
    order.resize(options_.count);
    Small change(locked_, options_.count);
    std::vector<double> values;
    for (std::int64_t j = 0; j < options_.count; ++j) {
      change(order[j], j) = 1;
      values.push_back(values_[order[j]]);
    }
    replace(basis_.columns(), 0, change);
    values_ = std::move(values);
    locked_ = size_ = options_.count;
    return true;
  }

  /// The basis becomes the most wanted Ritz vectors, more of them the more have converged.
  void restart(std::int64_t wanted) {
    const auto done = std::ssize(converged_pairs(wanted));
    std::int64_t kept = wanted + std::min(done, (active() - wanted) / 2);
    if (kept == 1) kept = active() / 2;
    kept = std::clamp<std::int64_t>(kept, 1, active() - 1);
    const auto numbers = first_pairs(kept);
    const std::int64_t behind = size_;
    keep(numbers);
    std::ranges::copy(basis_.columns().column(behind), basis_.columns().column(locked_ + kept).begin());
    size_ = locked_ + kept;
    for (std::int64_t j = 0; j < kept; ++j) {
      for (std::int64_t i = 0; i < kept; ++i) t_(locked_ + i, locked_ + j) = 0;
      t_(locked_ + j, locked_ + j) = ritz_.values[numbers[j]];
    }
    ++pairs_.restarts;
  }

  /// The locked pairs, and those of these numbers.
  LanczosPairs result(const std::vector<std::int64_t>& numbers, bool converged) {
    if (!numbers.empty()) lock(numbers);
    std::vector<std::int64_t> order(values_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [this](std::int64_t k) { return values_[k]; });
    const std::int64_t rows = basis_.columns().rows;
    pairs_.vectors.resize(rows * std::ssize(order));
    for (std::size_t j = 0; j < order.size(); ++j) {
      pairs_.values.push_back(values_[order[j]] / basis_.unit());
      std::ranges::copy(basis_.columns().column(order[j]),
                        pairs_.vectors.begin() + static_cast<std::int64_t>(j) * rows);
    }
    pairs_.converged = converged;
    pairs_.products = basis_.products();
    return std::move(pairs_);
  }

  const LanczosOptions& options_;
  std::int64_t most_;  ///< vectors of the basis
  KrylovBasis basis_;
  Small t_;                     ///< V^T A V, beside the locked vectors
  std::vector<double> values_;  ///< eigenvalues of the locked vectors, which come first in the basis
  std::int64_t locked_ = 0;
  std::int64_t size_ = 0;  ///< vectors of the basis; one vector more stands behind it
  double last_ = 0;        ///< norm of what the last product had outside of the basis
  double norm_ = 0;        ///< norm of the operator, as far as it is known
  SmallPairs ritz_{{}, Small(0, 0)};
  std::vector<std::int64_t> order_;
  std::int64_t max_restarts_;
  LanczosPairs pairs_;
};

}  // namespace

LanczosPairs lanczos(const comm::Comm& comm, const ProjectedOperator& a, const LanczosOptions& options) {
  check_wanted(comm, a, options.count, options.start);
  const BlasThreads threads;
  return Lanczos(comm, a, options).run();
}

}  // namespace ayatori::eigen
