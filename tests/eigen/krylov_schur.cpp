#include "ayatori/eigen/krylov_schur.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "dense_operator.hpp"

namespace ayatori::eigen {
namespace {

using Value = std::complex<double>;

/// Blocks on the diagonal with the eigenvalues (i + 1) / n e^{+-i phi}, and some entries above them, so that
/// the matrix is not normal. Row by row.
struct Unsymmetric {
  explicit Unsymmetric(std::int64_t pairs) : n(2 * pairs), a(n * n, 0.0) {
    for (std::int64_t k = 0; k < pairs; ++k) {
      const Value value = std::polar(0.1 + static_cast<double>(k + 1) / static_cast<double>(pairs),
                                     3.1 * random_uniform(3, k));
      const bool is_real = k % 3 == 0;
      const std::int64_t i = 2 * k;
      at(i, i) = is_real ? 0.3 * value.real() : value.real();
      at(i + 1, i + 1) = value.real();
      if (!is_real) {
        at(i, i + 1) = value.imag();
        at(i + 1, i) = -value.imag();
      }
      values.emplace_back(at(i, i), is_real ? 0 : value.imag());
      values.emplace_back(at(i + 1, i + 1), is_real ? 0 : -value.imag());
      for (std::int64_t j = i + 2; j < n; j += 5) at(i, j) = 0.1;
    }
  }
  double& at(std::int64_t i, std::int64_t j) { return a[i * n + j]; }

  std::int64_t n;
  std::vector<double> a;
  std::vector<Value> values;
};

double key(Value x, SpectrumPart which) {
  switch (which) {
    case SpectrumPart::largest_magnitude:
      return std::abs(x);
    case SpectrumPart::smallest_magnitude:
      return -std::abs(x);
    case SpectrumPart::largest_real:
      return x.real();
    case SpectrumPart::smallest_real:
      return -x.real();
    case SpectrumPart::largest_imaginary:
      return std::abs(x.imag());
    case SpectrumPart::smallest_imaginary:
      break;
  }
  return -std::abs(x.imag());
}

std::vector<Value> values_of(const Small& t) {
  std::vector<Value> values;
  for (std::int64_t k = 0; k < t.rows; ++k) {
    if (k + 1 < t.rows && t(k + 1, k) != 0) {
      const double imaginary = std::sqrt(std::abs(t(k, k + 1))) * std::sqrt(std::abs(t(k + 1, k)));
      values.emplace_back(t(k, k), imaginary);
      values.emplace_back(t(k, k), -imaginary);
      ++k;
    } else {
      values.emplace_back(t(k, k), 0);
    }
  }
  return values;
}

/// The largest element of A V - V T, and of V^T V - I.
double defect_of(const ProjectedOperator& a, const InvariantSpace& space) {
  const std::int64_t rows = a.rows.size();
  std::vector<double> image(rows);
  double largest = 0;
  for (std::int64_t j = 0; j < space.size; ++j) {
    const auto v = [&](std::int64_t k) { return std::span(space.vectors).subspan(k * rows, rows); };
    a.apply(v(j), image);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < space.size; ++k) image[i] -= v(k)[i] * space.t(k, j);
      largest = std::max(largest, std::abs(image[i]));
    }
    for (std::int64_t k = 0; k <= j; ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += v(k)[i] * v(j)[i];
      sum = world().allreduce(sum, comm::ReduceOp::sum);
      largest = std::max(largest, std::abs(sum - (j == k ? 1 : 0)));
    }
  }
  return world().allreduce(largest, comm::ReduceOp::max);
}

ProjectedOperator projected(const Unsymmetric& matrix) {
  const auto a = dense_operator(matrix.a, matrix.n);
  return {a.n, a.rows, a.apply, {}};
}

TEST(KrylovSchur, FindsEveryPartOfTheSpectrum) {
  Unsymmetric matrix(60);
  const auto a = projected(matrix);
  for (const auto which :
       {SpectrumPart::largest_magnitude, SpectrumPart::smallest_magnitude, SpectrumPart::largest_real,
        SpectrumPart::smallest_real, SpectrumPart::largest_imaginary, SpectrumPart::smallest_imaginary}) {
    for (const std::int64_t count : {1, 4, 9}) {
      SCOPED_TRACE(fmt::format("{} of {}", count, static_cast<int>(which)));
      const bool is_inside =
          which == SpectrumPart::smallest_magnitude || which == SpectrumPart::smallest_imaginary;
      const auto space =
          krylov_schur(world(), a, {.count = count, .which = which, .basis = is_inside ? matrix.n : 40});
      ASSERT_TRUE(space.converged);
      EXPECT_TRUE(space.size == count || space.size == count + 1);
      EXPECT_LT(defect_of(a, space), 1e-11);
      auto expected = matrix.values;
      std::ranges::stable_sort(expected, std::greater{}, [&](Value x) { return key(x, which); });
      const auto found = values_of(space.t);
      for (std::int64_t j = 0; j < count; ++j)
        EXPECT_NEAR(key(found[j], which), key(expected[j], which), 1e-9) << j;
    }
  }
}

TEST(KrylovSchur, SmallMatricesInAnyScale) {
  for (const double scale : {1.0, 1e-200, 1e200}) {
    Unsymmetric matrix(3);
    for (double& x : matrix.a) x *= scale;
    const auto a = projected(matrix);
    const auto space = krylov_schur(world(), a, {.count = matrix.n});
    ASSERT_TRUE(space.converged);
    ASSERT_EQ(space.size, matrix.n);
    auto expected = matrix.values;
    std::ranges::stable_sort(expected, std::greater{}, [](Value x) { return std::abs(x); });
    const auto found = values_of(space.t);
    for (std::int64_t j = 0; j < matrix.n; ++j)
      EXPECT_NEAR(std::abs(found[j] / scale), std::abs(expected[j]), 1e-12);
  }
}

TEST(KrylovSchur, GivesUpWithWhatHasConverged) {
  Unsymmetric matrix(100);
  const auto a = projected(matrix);
  const auto space = krylov_schur(
      world(), a, {.count = 6, .which = SpectrumPart::smallest_magnitude, .basis = 12, .max_restarts = 2});
  EXPECT_FALSE(space.converged);
  EXPECT_LT(space.size, 6);
  EXPECT_EQ(space.restarts, 2);
}

TEST(KrylovSchur, WrongCounts) {
  Unsymmetric matrix(3);
  const auto a = projected(matrix);
  EXPECT_THROW(krylov_schur(world(), a, {.count = 0}), InputError);
  EXPECT_THROW(krylov_schur(world(), a, {.count = 7}), InputError);
}

}  // namespace
}  // namespace ayatori::eigen
