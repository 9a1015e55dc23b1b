#include "ayatori/eigen/krylov_basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

}  // namespace

void check_wanted(const comm::Comm& comm, const ProjectedOperator& a, std::int64_t count,
                  std::span<const double> start) {
  comm::agree(comm, [&] {
    if (count < 1 || count > a.n)
      throw InputError(fmt::format("{} eigenvalues of a matrix of {} rows", count, a.n));
    if (!start.empty() && std::ssize(start) != a.rows.size())
      throw InputError("the start vector has another length");
  });
}

KrylovBasis::KrylovBasis(const comm::Comm& comm, const ProjectedOperator& a, std::int64_t capacity)
    : comm_(comm), a_(a), v_(a.rows.size(), capacity), image_(a.inner ? a.rows.size() : 0) {}

double KrylovBasis::extend(std::int64_t k, std::span<double> h) {
  const auto w = v_.column(k);
  a_.apply(v_.column(k - 1), w);
  if (products_++ == 0) find_unit(w);
  for (double& x : w) x *= unit_;
  const double norm = orthonormalize(k, h);
  double square = norm * norm;
  for (const double x : h) square += x * x;
  largest_ = std::max(largest_, std::sqrt(square));
  return norm > eps * largest_ ? norm : 0;
}

bool KrylovBasis::start(std::int64_t k, std::span<const double> start) {
  constexpr int attempts = 5;
  std::vector<double> ignored(k);
  for (int attempt = 0; attempt < attempts && k < a_.n; ++attempt, ++randoms_) {
    const auto w = v_.column(k);
    if (attempt == 0 && !start.empty()) {
      std::ranges::copy(start, w.begin());
    } else {
      for (std::int64_t i = 0; i < a_.rows.size(); ++i)
        w[i] = random_uniform(randoms_, a_.rows.begin + i) - 0.5;
    }
    if (orthonormalize(k, ignored) > 0) return ++randoms_, true;
  }
  return false;
}

/// With a pass more as long as one takes away much of the vector ("twice is enough" but for null vectors).
double KrylovBasis::orthonormalize(std::int64_t k, std::span<double> h) {
  constexpr int most_passes = 4;
  const auto w = v_.column(k);
  std::ranges::fill(h, 0.0);
  std::vector<double> sums(k + 1);
  double square = 0;
  double square_before = 0;
  for (int pass = 0; pass < most_passes; ++pass) {
    if (a_.inner) a_.inner(w, image_);
    const std::span<const double> image = a_.inner ? std::span<const double>(image_) : w;
    // The vector stands behind the basis: one product gives all.
    multiply(1, Op::transpose, v_.block(0, k + 1), image.data(), 0, sums.data());
    comm_.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
    const double before = sums[k];
    if (!std::isfinite(before))
      throw_error(ErrorKind::bad_input, "a product with the operator is not finite", true);
    if (before < 0)
      throw_error(ErrorKind::bad_input, "the matrix of the inner product is not positive definite", true);
    if (pass == 0) square_before = before;
    multiply(-1, Op::none, v_.block(0, k), sums.data(), 1, w.data());
    square = before;
    for (std::int64_t i = 0; i < k; ++i) {
      h[i] += sums[i];
      square -= sums[i] * sums[i];
    }
    if (pass > 0 && square > 0.5 * before) break;
    if (pass + 1 == most_passes) square = 0;
  }
  const double norm = std::sqrt(std::max(square, 0.0));
  if (!(norm > 10 * eps * std::sqrt(square_before))) return 0;
  for (double& x : w) x /= norm;
  return norm;
}

void KrylovBasis::find_unit(std::span<const double> product) {
  double largest = 0;
  for (const double x : product) largest = std::max(largest, std::abs(x));
  largest = comm_.allreduce(largest, comm::ReduceOp::max);
  if (largest > 0 && std::isfinite(largest)) unit_ = std::exp2(std::min(-std::ilogb(largest), 1000));
}

}  // namespace ayatori::eigen
