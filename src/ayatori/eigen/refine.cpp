#include "ayatori/eigen/refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/eigen/verify.hpp"

namespace ayatori::eigen {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr int most_steps = 5;     // errors are squared: from 1e-4 to 1e-16 in two
constexpr int norm_products = 8;  // products of a power iteration

/// Eigenvalues too close to each other for E, with what is left of their problem: T = S - mean (I - R).
struct Cluster {
  Range range;
  double mean = 0;
  std::vector<double> change;  ///< Q, once the problem is solved: size x size

  std::int64_t size() const { return range.size(); }
  double cost() const { return std::pow(static_cast<double>(size()), 3); }
};

/// One refinement, step by step.
class Refiner {
 public:
  Refiner(const DistributedDense& a, std::vector<double>& values, ColumnSpread& x)
      : a_(a), comm_(a.grid.all), n_(x.n), mine_(x.mine(comm_)), values_(values), x_(x), norm_(one_norm(a)) {}
  Refinement run();

 private:
  bool step(bool is_first);
  void project();
  void symmetrize(Array<double>& m) const;
  double norm_of(const Array<double>& m) const;
  std::vector<Cluster> find_clusters(double delta) const;
  bool solve_clusters(std::vector<Cluster>& clusters, bool is_first);
  double make_correction(std::span<const Cluster> clusters);
  void correct();
  void rotate(std::span<const Cluster> clusters);
  /// What double precision cannot tell from zero in S.
  double rounding() const { return static_cast<double>(n_) * eps * norm_; }
  /// Element i of my column number q.
  std::int64_t at(std::int64_t i, std::int64_t q) const { return q * n_ + i; }
  Block columns(Array<double>& m) const { return {m.data(), n_, mine_.size(), n_}; }
  /// The columns of a cluster that are mine.
  Range mine_of(const Cluster& cluster) const {
    const std::int64_t begin = std::clamp(cluster.range.begin, mine_.begin, mine_.end);
    return {begin, std::max(begin, std::min(cluster.range.end, mine_.end))};
  }

  const DistributedDense& a_;
  const comm::Comm& comm_;
  std::int64_t n_;
  Range mine_;
  std::vector<double>& values_;
  ColumnSpread& x_;
  double norm_;
  Array<double> s_, r_;  ///< n x mine; r_ becomes E
};

/// M = (M + M^T) / 2, of n x mine. The mirrored elements are equal then, to the last bit: E + E^T would else
/// not be R, by their difference over that of eigenvalues.
void Refiner::symmetrize(Array<double>& m) const {
  const int ranks = comm_.size();
  std::vector<std::int64_t> offsets(ranks + 1, 0);
  std::vector<double> packed;
  packed.reserve(m.size());
  for (int r = 0; r < ranks; ++r) {
    const Range theirs = split_evenly(n_, ranks, r);
    for (std::int64_t i = theirs.begin; i < theirs.end; ++i) {
      for (std::int64_t q = 0; q < mine_.size(); ++q) packed.push_back(m[at(i, q)]);
    }
    offsets[r + 1] = static_cast<std::int64_t>(packed.size());
  }
  const auto mirrored = comm_.alltoallv(std::span<const double>(packed), offsets);
  for (int r = 0; r < ranks; ++r) {
    const double* next = mirrored.of(r).data();
    const Range theirs = split_evenly(n_, ranks, r);
    for (std::int64_t q = 0; q < mine_.size(); ++q) {
      for (std::int64_t i = theirs.begin; i < theirs.end; ++i) m[at(i, q)] = (m[at(i, q)] + *next++) / 2;
    }
  }
}

/// S and R, my columns of them, and the Rayleigh quotients.
void Refiner::project() {
  Array<double> product(x_.values.size(), 0.0);
  add_product(1, a_, x_, product);
  s_.resize(x_.values.size());
  r_.resize(x_.values.size());
  for_panels(comm_, x_, [&](int, std::int64_t first, ConstBlock panel) {
    const auto into = [&](Array<double>& m) {
      return Block{m.data() + first, panel.columns, mine_.size(), n_};
    };
    multiply(1, Op::transpose, panel, Op::none, columns(product), 0, into(s_));
    multiply(-1, Op::transpose, panel, Op::none, columns(x_.values), 0, into(r_));
  });
  symmetrize(s_);
  symmetrize(r_);
  std::vector<double> quotients(mine_.size());
  for (std::int64_t q = 0; q < mine_.size(); ++q) {
    double& of_r = r_[at(mine_.begin + q, q)];
    of_r += 1;
    quotients[q] = s_[at(mine_.begin + q, q)] / (1 - of_r);
  }
  values_ = comm_.allgatherv(std::span<const double>(quotients)).values;
}

/// ||M||_2 of a symmetric matrix without its diagonal, by a power iteration from below.
double Refiner::norm_of(const Array<double>& m) const {
  std::vector<double> v(n_);
  for (std::int64_t i = 0; i < n_; ++i) v[i] = 2 * random_uniform(1, i) - 1;
  std::vector<double> product(mine_.size());
  double norm = 0;
  for (int k = 0; k < norm_products; ++k) {
    double square = 0;
    for (const double value : v) square += value * value;
    norm = k == 0 ? 0 : std::sqrt(square);
    if (square == 0) break;
    for (double& value : v) value /= std::sqrt(square);
    multiply(1, Op::transpose, {m.data(), n_, mine_.size(), n_}, v.data(), 0, product.data());
    for (std::int64_t q = 0; q < mine_.size(); ++q)
      product[q] -= m[at(mine_.begin + q, q)] * v[mine_.begin + q];
    v = comm_.allgatherv(std::span<const double>(product)).values;
  }
  return norm;
}

/// Where eigenvalues below and above are further apart than delta, a cluster ends; only those of several.
std::vector<Cluster> Refiner::find_clusters(double delta) const {
  std::vector<double> smallest_behind(values_.begin(), values_.end());
  for (std::int64_t i = n_ - 2; i >= 0; --i)
    smallest_behind[i] = std::min(smallest_behind[i], smallest_behind[i + 1]);
  std::vector<Cluster> clusters;
  double largest = values_[0];
  std::int64_t begin = 0;
  for (std::int64_t end = 1; end <= n_; ++end) {
    if (end == n_ || smallest_behind[end] - largest > delta) {
      if (end - begin > 1) clusters.push_back({{begin, end}, 0, {}});
      begin = end;
    }
    if (end < n_) largest = std::max(largest, values_[end]);
  }
  return clusters;
}

/// Q and the eigenvalues of each cluster that has something left to solve, the others having no Q. False if
/// this would be more work than all else in a step; in the first step, errors of vectors outside of a cluster
/// may look like that, and are taken away first.
bool Refiner::solve_clusters(std::vector<Cluster>& clusters, bool is_first) {
  // T of all clusters, on all ranks: of each my columns.
  std::vector<double> packed;
  for (Cluster& cluster : clusters) {
    for (std::int64_t i = cluster.range.begin; i < cluster.range.end; ++i)
      cluster.mean += values_[i] / static_cast<double>(cluster.size());
    const Range of_mine = mine_of(cluster);
    for (std::int64_t j = of_mine.begin; j < of_mine.end; ++j) {
      for (std::int64_t i = cluster.range.begin; i < cluster.range.end; ++i) {
        const std::int64_t place = at(i, j - mine_.begin);
        packed.push_back(s_[place] - cluster.mean * ((i == j ? 1 : 0) - r_[place]));
      }
    }
  }
  const auto all = comm_.allgatherv(std::span<const double>(packed)).values;
  double cost = 0;
  const double* next = all.data();
  for (Cluster& cluster : clusters) {
    const std::int64_t size = cluster.size();
    double largest = 0;
    for (std::int64_t j = 0; j < size; ++j) {
      for (std::int64_t i = 0; i < size; ++i) {
        if (i != j) largest = std::max(largest, std::abs(next[j * size + i]));
      }
    }
    if (largest > rounding()) cluster.change.assign(next, next + size * size);
    if (largest > rounding()) cost += cluster.cost();
    next += size * size;
  }
  if (9 * cost > 8 * std::pow(static_cast<double>(n_), 3) / comm_.size()) {  // operations of this step
    for (Cluster& cluster : clusters) cluster.change.clear();
    return is_first;
  }
  // Each on one rank, since two ranks may not find the same vectors.
  int owner = 0;
  for (Cluster& cluster : clusters) {
    if (cluster.change.empty()) continue;
    const std::int64_t size = cluster.size();
    std::vector<double> found(size, 0.0);
    if (comm_.rank() == owner && !symmetric_pairs({cluster.change.data(), size, size, size}, found.data()))
      found[0] = std::numeric_limits<double>::quiet_NaN();
    comm_.broadcast(std::span<double>(cluster.change), owner);
    comm_.broadcast(std::span<double>(found), owner);
    for (std::int64_t i = 0; i < size; ++i) values_[cluster.range.begin + i] = cluster.mean + found[i];
    owner = (owner + 1) % comm_.size();
  }
  return true;
}

/// E, where R was, with the Rayleigh quotients `values_`. Gives the largest square of a column.
double Refiner::make_correction(std::span<const Cluster> clusters) {
  std::vector<std::int64_t> cluster_of(n_);
  for (std::int64_t i = 0; i < n_; ++i) cluster_of[i] = -1 - i;  // each in a cluster of its own
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    for (std::int64_t i = clusters[c].range.begin; i < clusters[c].range.end; ++i)
      cluster_of[i] = static_cast<std::int64_t>(c);
  }
  double largest = 0;
  for (std::int64_t q = 0; q < mine_.size(); ++q) {
    const std::int64_t j = mine_.begin + q;
    double square = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      double& e = r_[at(i, q)];
      e = cluster_of[i] == cluster_of[j] ? e / 2
                                         : (s_[at(i, q)] + values_[j] * e) / (values_[j] - values_[i]);
      square += e * e;
    }
    largest = worse(largest, square);
  }
  return comm_.allreduce(largest, comm::ReduceOp::max);
}

/// X += X E
void Refiner::correct() {
  ColumnSpread better = x_;
  for_panels(comm_, x_, [&](int, std::int64_t first, ConstBlock panel) {
    multiply(1, Op::none, panel, Op::none, {r_.data() + first, panel.columns, mine_.size(), n_}, 1,
             columns(better.values));
  });
  x_ = std::move(better);
}

/// The vectors of every cluster that was solved, times Q.
void Refiner::rotate(std::span<const Cluster> clusters) {
  if (std::ranges::all_of(clusters, [](const Cluster& cluster) { return cluster.change.empty(); })) return;
  ColumnSpread rotated = x_;
  for (const Cluster& cluster : clusters) {
    const Range own = mine_of(cluster);
    if (cluster.change.empty()) continue;
    std::fill_n(rotated.values.data() + (own.begin - mine_.begin) * n_, own.size() * n_, 0.0);
  }
  for_panels(comm_, x_, [&](int, std::int64_t first, ConstBlock panel) {
    for (const Cluster& cluster : clusters) {
      const std::int64_t begin = std::max(first, cluster.range.begin);
      const std::int64_t end = std::min(first + panel.columns, cluster.range.end);
      const Range own = mine_of(cluster);
      if (cluster.change.empty() || begin >= end || own.empty()) continue;
      const double* const change = cluster.change.data() +
                                   (own.begin - cluster.range.begin) * cluster.size() + begin -
                                   cluster.range.begin;
      multiply(1, Op::none, {panel.data + (begin - first) * n_, n_, end - begin, n_}, Op::none,
               {change, end - begin, own.size(), cluster.size()}, 1,
               {rotated.values.data() + (own.begin - mine_.begin) * n_, n_, own.size(), n_});
    }
  });
  x_ = std::move(rotated);
}

/// Whether the errors that this step leaves are those of double precision; values of not a number if there
/// is no going on.
bool Refiner::step(bool is_first) {
  project();
  // Rounding of S over smaller gaps would be more than the root of eps, and its square, which is left, more.
  const double smallest = std::sqrt(eps) * norm_;
  const double delta = std::max(2 * (norm_of(s_) + norm_ * norm_of(r_)), smallest);
  auto clusters = find_clusters(delta);
  auto quotients = values_;
  const bool is_possible = solve_clusters(clusters, is_first);
  std::swap(quotients, values_);
  const double square = make_correction(clusters);
  std::swap(quotients, values_);
  if (!is_possible || !std::isfinite(square)) {
    values_[0] = std::numeric_limits<double>::quiet_NaN();
    return false;
  }
  correct();
  rotate(clusters);
  return square <= static_cast<double>(n_) * eps;
}

Refinement Refiner::run() {
  Refinement result;
  bool is_done = false;
  while (!is_done && result.steps < most_steps) {
    is_done = step(result.steps == 0);
    ++result.steps;
    if (std::ranges::any_of(values_, [](double value) { return !std::isfinite(value); })) return result;
  }
  std::ranges::sort(values_);  // equal ones to rounding may have changed places
  result.converged = is_done && residual_ratio(a_, values_, x_) <= largest_good_ratio &&
                     orthogonality_ratio(comm_, x_) <= largest_good_ratio;
  return result;
}

}  // namespace

Refinement refine(const DistributedDense& a, std::vector<double>& values, ColumnSpread& x) {
  return Refiner(a, values, x).run();
}

}  // namespace ayatori::eigen
