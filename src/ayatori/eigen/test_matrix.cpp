#include "ayatori/eigen/test_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

namespace {

std::vector<double> uniform(std::int64_t n, std::uint64_t seed) {
  std::vector<double> values(n);
  for (std::int64_t k = 0; k < n; ++k)
    values[k] = 2 * random_uniform(seed, static_cast<std::uint64_t>(k)) - 1;
  return values;
}

std::vector<double> clustered(std::int64_t n, std::uint64_t seed) {
  constexpr std::array centres{-0.5, 0.25, 1.0};
  std::vector<double> values(n);
  for (std::int64_t k = 0; k < n; ++k) {
    const double offset = 100 * random_uniform(seed, static_cast<std::uint64_t>(k));
    values[k] = centres[k % 3] * (1 - offset * std::numeric_limits<double>::epsilon());
  }
  return values;
}

std::vector<double> graded(std::int64_t n, std::uint64_t /*seed*/) {
  std::vector<double> values(n, 1.0);
  for (std::int64_t k = 1; k < n; ++k) {
    values[k] =
        std::pow(std::numeric_limits<double>::epsilon(), static_cast<double>(k) / static_cast<double>(n - 1));
  }
  return values;
}

std::vector<double> wilkinson(std::int64_t n, std::uint64_t /*seed*/) {
  std::vector<double> values(n);
  std::vector<double> off(n, 1.0);
  for (std::int64_t k = 0; k < n; ++k) values[k] = std::abs(static_cast<double>(2 * k - n + 1)) / 2;
  if (!tridiagonal_values(n, values.data(), off.data()))
    throw InternalError("QR iteration did not converge for Wilkinson's matrix");
  return values;
}

std::vector<double> zero(std::int64_t n, std::uint64_t /*seed*/) {
  std::vector<double> values(n, 0.0);
  return values;
}

std::vector<double> identity(std::int64_t n, std::uint64_t /*seed*/) {
  std::vector<double> values(n, 1.0);
  return values;
}

constexpr std::array list{
    Spectrum{"uniform", "random in [-1, 1)", uniform},
    Spectrum{"clustered", "three clusters, each as wide as 100 roundings", clustered},
    Spectrum{"graded", "from 1 down to 2.2e-16, by equal factors", graded},
    Spectrum{"wilkinson", "of Wilkinson's W+: pairs that agree to many digits", wilkinson},
    Spectrum{"zero", "all zero", zero},
    Spectrum{"identity", "all one", identity},
};

constexpr std::string_view prefix = "random";

/// A number, all of `text`.
template <class T>
T parse_number(std::string_view spec, std::string_view key, std::string_view text, T least) {
  const auto value = number_in<T>(text);
  if (!value || !(*value >= least))
    throw InputError(fmt::format("{}: {} is '{}', but must be a number from {}", spec, key, text, least));
  return *value;
}

/// Eigenvalues of the matrix before it is scaled.
std::vector<double> unscaled_eigenvalues(const TestMatrix& matrix) {
  return find_named(spectra(), matrix.spectrum, "spectrum").make(matrix.n, matrix.seed);
}

std::vector<double> unsorted_eigenvalues(const TestMatrix& matrix) {
  auto values = unscaled_eigenvalues(matrix);
  for (double& value : values) {
    value *= matrix.scale;
    if (!std::isfinite(value)) {
      throw InputError(fmt::format("scale={}: eigenvalues are beyond the range of doubles", matrix.scale));
    }
  }
  return values;
}

/// Collective. f(i) for i in [0, n), each rank computing a share.
template <class F>
std::vector<double> tabulate(const comm::Comm& comm, std::int64_t n, F&& f) {
  const Range mine = split_evenly(n, comm.size(), comm.rank());
  std::vector<double> values(mine.size());
#pragma omp parallel for
  for (std::int64_t i = mine.begin; i < mine.end; ++i) values[i - mine.begin] = f(i);
  return comm.allgatherv(std::span<const double>(values)).values;
}

std::vector<double> unit_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<double> u(n);
  double square = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    u[i] = 2 * random_uniform(seed ^ 0x75ULL, static_cast<std::uint64_t>(i)) - 1;
    square += u[i] * u[i];
  }
  for (double& value : u) value /= std::sqrt(square);
  return u;
}

}  // namespace

std::span<const Spectrum> spectra() {
  return list;
}

bool is_test_matrix(std::string_view spec) {
  return spec.substr(0, spec.find(':')) == prefix;
}

TestMatrix parse_test_matrix(std::string_view spec) {
  TestMatrix matrix;
  std::map<std::string_view, bool> given;
  std::string_view rest = spec.substr(std::min(spec.size(), prefix.size()));
  while (!rest.empty()) {
    rest.remove_prefix(1);  // ':' or ','
    const auto assignment = rest.substr(0, rest.find(','));
    rest.remove_prefix(assignment.size());
    const auto equals = std::min(assignment.find('='), assignment.size());
    const auto key = assignment.substr(0, equals);
    const auto value = assignment.substr(std::min(equals + 1, assignment.size()));
    if (given[key]) throw InputError(fmt::format("{}: {} is given twice", spec, key));
    given[key] = true;
    if (key == "n") {
      matrix.n = parse_number<std::int64_t>(spec, key, value, 1);
    } else if (key == "scale") {
      matrix.scale = parse_number<double>(spec, key, value, 0);
    } else if (key == "seed") {
      matrix.seed = parse_number<std::uint64_t>(spec, key, value, 0);
    } else if (key == "spectrum") {
      matrix.spectrum = find_named(spectra(), value, "spectrum").name;
    } else {
      throw InputError(fmt::format(
          "{}: unknown parameter '{}'; a dense symmetric matrix takes n, scale, seed, spectrum ({})", spec,
          key, names_of(spectra())));
    }
  }
  return matrix;
}

std::vector<double> eigenvalues_of(const TestMatrix& matrix) {
  auto values = unsorted_eigenvalues(matrix);
  std::ranges::sort(values);
  return values;
}

DistributedDense make_test_matrix(const ProcessGrid& grid, const TestMatrix& matrix) {
  const comm::Comm& comm = grid.all;
  auto a = make_dense(grid, matrix.n);
  const auto lambda = comm::agree(comm, [&] {
    [[maybe_unused]] const auto in_range = unsorted_eigenvalues(matrix);  // or it throws
    return unscaled_eigenvalues(matrix);  // sums of scaled ones might not be in range
  });
  const std::int64_t n = matrix.n;
  if (std::ranges::adjacent_find(lambda, std::not_equal_to()) == lambda.end()) {
    fill(a, [&](std::int64_t i, std::int64_t j) { return i == j ? matrix.scale * lambda[0] : 0.0; });
    return a;
  }

  // (C diag(lambda) C^T)_ij = g(|i - j|) + g(i + j + 1), g(m) = sum_k (2 - [k = 0]) lambda_k cos(pi m k / n)
  // / (2 n).
  std::vector<double> cosine(2 * n);
  for (std::int64_t k = 0; k < 2 * n; ++k)
    cosine[k] = std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
  const auto g = tabulate(comm, 2 * n, [&](std::int64_t m) {
    double sum = lambda[0] / 2;
    std::int64_t angle = 0;
    for (std::int64_t k = 1; k < n; ++k) {
      angle += m;
      if (angle >= 2 * n) angle -= 2 * n;
      sum += lambda[k] * cosine[angle];
    }
    return sum / static_cast<double>(n);
  });
  const auto element = [&](std::int64_t i, std::int64_t j) { return g[std::abs(i - j)] + g[i + j + 1]; };

  // H B H = B - u q^T - q u^T with q = 2 (B u - (u . B u) u).
  const auto u = unit_vector(n, matrix.seed);
  auto q = tabulate(comm, n, [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += element(i, j) * u[j];
    return sum;
  });
  const double u_q = std::inner_product(u.begin(), u.end(), q.begin(), 0.0);
  for (std::int64_t i = 0; i < n; ++i) q[i] = 2 * (q[i] - u_q * u[i]);
  fill(a, [&](std::int64_t i, std::int64_t j) {
    return matrix.scale *
           (element(i, j) - (u[std::min(i, j)] * q[std::max(i, j)] + q[std::min(i, j)] * u[std::max(i, j)]));
  });
  return a;
}

}  // namespace ayatori::eigen
