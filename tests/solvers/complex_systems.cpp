#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/factorizations/ilu0.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/products/transposed_applicable.hpp"
#include "local_matrices.hpp"

// Methods, preconditioners and factors in complex arithmetic, on real forms.

namespace ayatori::solvers {
namespace {

using sparse::TestMatrix;

comm::Comm world() {
  return comm::Comm::world();
}

/// Equal to its transpose, far from Hermitian.
TestMatrix symmetric(std::int64_t n) {
  return sparse::complex_five_point_matrix(n, {3.7, 0.6}, {-1, 0.1}, {-1, 0.1});
}
TestMatrix unsymmetric(std::int64_t n) {
  return sparse::complex_five_point_matrix(n, {3.7, 0.6}, {-1.2, 0.3}, {-0.8, -0.2});
}

/// A system that is solved with a method and a preconditioner.
struct Solved {
  sparse::RowPartition rows;
  sparse::DistributedMatrix matrix;
  std::vector<double> b;
  Array<double> x;
  MethodResult result;

  Solved(const TestMatrix& of, std::string_view method_name, std::string_view preconditioner_name,
         PreconditionerOptions options = {}, bool is_complex = true, int restart = 30)
      : rows(sparse::even_pairs(of, world().size())),
        matrix(world(), of.distribute(world(), rows), {.kernel = "complex-csr"}),
        b(sparse::test_vector(of.n, 4)),
        x(matrix.local_size(), 0.0) {
    const GlobalSum sum(world());
    options.matrix_is_complex = is_complex;
    const auto built = preconditioner(preconditioner_name).make(matrix, sum, options);
    const auto local_b = sparse::piece(b, rows.range(world().rank()));
    MethodOptions method_options;
    method_options.target = 1e-9 * norm(sum, local_b);
    method_options.restart = restart;
    result = method(method_name)
                 .solve({matrix, *built.op, local_b, sum, is_complex}, x, method_options,
                        orthogonalization("ircgs").apply, {});
  }

  /// ||b - A x|| / ||b|| by code of the test's own.
  double residual(const TestMatrix& of) const {
    const auto all = world().allgatherv(std::span<const double>(x)).values;
    const auto ax = of.multiply(std::vector<double>(all.begin(), all.end()));
    double squares = 0;
    double of_b = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      squares += (b[i] - ax[i]) * (b[i] - ax[i]);
      of_b += b[i] * b[i];
    }
    return std::sqrt(squares / of_b);
  }
};

TEST(ComplexMethods, SolveWithEveryPreconditionerOfTheirs) {
  for (const auto& [name, of] : {std::pair{"symmetric", symmetric(9)}, {"unsymmetric", unsymmetric(9)}}) {
    for (const char* method_name : {"gmres", "fgmres", "bicgstab", "cocg"}) {
      if (method(method_name).needs_complex_symmetric && std::string(name) == "unsymmetric") continue;
      for (const char* with : {"none", "jacobi", "block-ilu0"}) {
        SCOPED_TRACE(fmt::format("{} + {}, {}", method_name, with, name));
        const Solved solved(of, method_name, with);
        EXPECT_EQ(solved.result.stop, Stop::converged) << solved.result.reason;
        EXPECT_LT(solved.residual(of), 2e-9);
      }
    }
  }
}

/// The Krylov space of n complex unknowns has n dimensions, of which real coefficients see twice as many.
TEST(ComplexMethods, NeedNoMoreIterationsThanUnknowns) {
  // A cyclic shift by way of i: no step gains anything before the last.
  constexpr std::int64_t n = 12;
  TestMatrix shift{"cyclic", 2 * n, {}};
  for (std::int64_t i = 0; i < n; ++i)
    sparse::add_real_form(i, (i + 1) % n, {0.6, 0.8},
                          [&](std::int64_t row, std::int64_t column, double part) {
                            shift.entries.push_back({row, column, part});
                          });
  EXPECT_LE(Solved(shift, "gmres", "none", {}, true, 40).result.iterations, n);
  EXPECT_GT(Solved(shift, "gmres", "none", {}, false, 40).result.iterations, n);
}

/// A and b turned by e^(i phi) are the same system to complex coefficients.
TEST(ComplexMethods, DoNotSeeAPhase) {
  const auto turned = [](TestMatrix matrix, sparse::Complex by) {
    TestMatrix result{matrix.name, matrix.n, {}};
    for (const auto& entry : matrix.entries) {
      if (entry.row % 2 != 0 || entry.column % 2 != 0) continue;
      const auto below = std::ranges::find_if(matrix.entries, [&](const sparse::Entry& other) {
        return other.row == entry.row + 1 && other.column == entry.column;
      });
      sparse::add_real_form(entry.row / 2, entry.column / 2, by * sparse::Complex(entry.value, below->value),
                            [&](std::int64_t i, std::int64_t j, double part) {
                              result.entries.push_back({i, j, part});
                            });
    }
    return result;
  };
  for (const char* method_name : {"gmres", "bicgstab", "cocg"}) {
    const int plain = Solved(symmetric(7), method_name, "jacobi").result.iterations;
    const int other = Solved(turned(symmetric(7), {0.28, 0.96}), method_name, "jacobi").result.iterations;
    EXPECT_LE(std::abs(plain - other), 2) << method_name;
  }
}

/// L D U of a block whose pattern is full is the block itself; and it is what the real form gives, of which
/// the pattern keeps blocks whole.
TEST(ComplexIlu0, IsTheFactorizationOfTheRealForm) {
  const auto matrix = sparse::complex_csr(8);
  const auto complex = ilu0_factor(sparse::complex_matrix(matrix), {0, matrix.rows / 2});
  const auto real = ilu0_factor(matrix, {0, matrix.rows});
  ASSERT_EQ(complex.report.shift, 0);
  ASSERT_EQ(real.report.shift, 0);
  const auto x = sparse::test_vector(matrix.rows, 3);
  std::vector<double> y(x.size());
  std::vector<double> expected(x.size());
  complex.solve(as_complex(ConstVector(x)), as_complex(Vector(y)));
  real.solve(x, expected);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12);
  EXPECT_LT(complex.bytes(), real.bytes() * 6 / 10);
}

/// Pivots of any argument serve: only in the real form their real parts change sign.
TEST(ComplexIlu0, TakesPivotsOfAnyArgument) {
  const auto matrix = sparse::complex_five_point_matrix(6, {-0.1, 4}, {-1, 0}, {-1, 0});
  const auto csr =
      sparse::csr(static_cast<std::int32_t>(matrix.n), static_cast<std::int32_t>(matrix.n), matrix.entries);
  const auto factors = ilu0_factor(sparse::complex_matrix(csr), {0, csr.rows / 2});
  EXPECT_EQ(factors.report.shift, 0);
  EXPECT_FALSE(factors.report.diagonal_only);
}

/// So that M stays definite where A is not, or where what is dropped would make a pivot negative.
TEST(ComplexIlu0, OfHermitianMatricesHasPivotsOfTheSignOfTheDiagonal) {
  const auto matrix = sparse::complex_five_point_matrix(6, 1, {0.6, 0.8}, {0.6, -0.8});
  const auto csr =
      sparse::csr(static_cast<std::int32_t>(matrix.n), static_cast<std::int32_t>(matrix.n), matrix.entries);
  const auto factors = ilu0_factor(sparse::complex_matrix(csr), {0, csr.rows / 2});
  EXPECT_GT(factors.report.shift, 0);
  EXPECT_FALSE(factors.report.diagonal_only);
  for (const Complex pivot : factors.inverse_pivot) {
    EXPECT_GT(pivot.real(), 0);
    EXPECT_LT(std::abs(pivot.imag()), 1e-14 * pivot.real());
  }
}

TEST(ComplexPreconditioners, OfHermitianMatricesAreThoseOfTheRealForm) {
  const auto of = sparse::complex_five_point_matrix(8, 4, {-0.6, 0.8}, {-0.6, -0.8});
  const sparse::DistributedMatrix matrix(world(),
                                         of.distribute(world(), sparse::even_pairs(of, world().size())));
  const Array<double> x(matrix.local_size(), 1.0);
  std::vector<Array<double>> found;
  for (const bool is_known : {false, true}) {
    PreconditionerOptions options;
    options.matrix_is_hermitian = is_known;
    found.emplace_back(x.size());
    preconditioner("block-ilu0").make(matrix, GlobalSum(world()), options).op->apply(x, found.back());
  }
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(found[0][i], found[1][i], 1e-12);
}

/// What complex preconditioners have to be: M (i x) = i M x.
TEST(ComplexPreconditioners, CommuteWithI) {
  const auto of = unsymmetric(8);
  const sparse::DistributedMatrix matrix(world(),
                                         of.distribute(world(), sparse::even_pairs(of, world().size())));
  const GlobalSum sum(world());
  PreconditionerOptions options;
  options.matrix_is_complex = true;
  for (const char* name : {"none", "jacobi", "block-ilu0", "direct"}) {
    if (std::ranges::find(preconditioners(), name, &Preconditioner::name) == preconditioners().end())
      continue;
    const auto built = preconditioner(name).make(matrix, sum, options);
    Array<double> x(matrix.local_size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
    Array<double> mx(x.size());
    Array<double> mix(x.size());
    built.op->apply(x, mx);
    for (auto& number : as_complex(Vector(x))) number *= Complex(0, 1);
    built.op->apply(x, mix);
    for (std::size_t i = 0; i < x.size(); i += 2) {
      EXPECT_NEAR(mix[i], -mx[i + 1], 1e-10) << name;
      EXPECT_NEAR(mix[i + 1], mx[i], 1e-10) << name;
    }
  }
}

TEST(ComplexJacobi, IsTheInverseOfTheComplexDiagonal) {
  const auto of = unsymmetric(4);
  const sparse::DistributedMatrix matrix(world(),
                                         of.distribute(world(), sparse::even_pairs(of, world().size())));
  PreconditionerOptions options;
  options.matrix_is_complex = true;
  const auto built = preconditioner("jacobi").make(matrix, GlobalSum(world()), options);
  Array<double> x(matrix.local_size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 5) - 2;
  Array<double> y(x.size());
  built.op->apply(x, y);
  for (std::size_t i = 0; i < x.size() / 2; ++i) {
    const Complex expected = as_complex(Vector(x))[i] / Complex(3.7, 0.6);
    EXPECT_LT(std::abs(as_complex(Vector(y))[i] - expected), 1e-14);
  }
}

/// Complex factors, and those of the transposed real form, which is the conjugate transpose; of few rows, on
/// one rank, and of this many that all ranks share them.
TEST(ComplexFactors, SolveTheSystemAndItsAdjoint) {
  const auto library = std::ranges::find(preconditioners(), "direct", &Preconditioner::name);
  if (library == preconditioners().end()) GTEST_SKIP() << "a build without complete factors";
  for (const std::int64_t n : {6, 96}) {
    for (const bool is_symmetric : {true, false}) {
      SCOPED_TRACE(fmt::format("{} x {}, {}", n, n, is_symmetric ? "symmetric" : "unsymmetric"));
      const auto of = is_symmetric ? symmetric(n) : unsymmetric(n);
      PreconditionerOptions options;
      options.matrix_is_complex_symmetric = is_symmetric;
      const Solved solved(of, "gmres", "direct", options);
      EXPECT_EQ(solved.result.iterations, 1);
      EXPECT_LT(solved.residual(of), 1e-12);

      // (A^-1 x, y) = (x, A^-T y), of the real form.
      options.matrix_is_complex = true;
      const GlobalSum sum(world());
      const auto built = library->make(solved.matrix, sum, options);
      const auto* transposed = dynamic_cast<const sparse::TransposedApplicable*>(built.op.get());
      ASSERT_NE(transposed, nullptr);
      const Range mine = solved.rows.range(world().rank());
      const auto x = sparse::piece(sparse::test_vector(of.n, 8), mine);
      const auto y = sparse::piece(sparse::test_vector(of.n, 9), mine);
      Array<double> ax(x.size());
      Array<double> aty(x.size());
      built.op->apply(x, ax);
      transposed->apply_transposed(y, aty);
      const double left = dot(sum, ax, y);
      EXPECT_NEAR(left, dot(sum, x, aty), 1e-10 * std::max(1.0, std::abs(left)));
    }
  }
}

/// Sums, updates and combinations against their definitions, element by element.
TEST(ComplexVectors, AreTheDefinition) {
  constexpr std::int64_t n = 1037;
  constexpr int k = 7;
  const auto numbers = [](std::int64_t count, std::uint64_t seed) {
    std::vector<Complex> values(count);
    for (std::int64_t i = 0; i < count; ++i)
      values[i] = {sparse::test_value(seed, 2 * i), sparse::test_value(seed, 2 * i + 1)};
    return values;
  };
  const auto x = numbers(n, 1);
  const auto y = numbers(n, 2);
  const auto z = numbers(n, 3);
  const auto v = numbers(k * n, 4);
  const Complex a{0.3, -0.8};
  const Complex b{-1.1, 0.2};
  const auto product = [](const std::vector<Complex>& left, const std::vector<Complex>& right) {
    Complex sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) sum += std::conj(left[i]) * right[i];
    return sum;
  };
  const auto expect_near = [](Complex found, Complex expected) {
    EXPECT_LT(std::abs(found - expected), 1e-11);
  };
  const auto dots = local_dot_and_square(x, y);
  expect_near(dots[0], product(x, y));
  expect_near(dots[1], product(y, y));
  Complex transposed = 0;
  for (std::int64_t i = 0; i < n; ++i) transposed += x[i] * y[i];
  expect_near(local_transposed_dot_and_square(x, y)[0], transposed);
  std::array<Complex, 4> products;
  local_products({{x, y}, {y, y}, {z, x}, {z, y}}, products);
  expect_near(products[0], product(x, y));
  expect_near(products[2], product(z, x));
  expect_near(products[3], product(z, y));

  const auto check = [&](const std::function<void(std::vector<Complex>&)>& change,
                         const std::function<Complex(std::int64_t)>& expected) {
    auto w = y;
    change(w);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_LT(std::abs(w[i] - expected(i)), 1e-13);
  };
  check([&](auto& w) { scale(a, ComplexVector(w)); }, [&](std::int64_t i) { return a * y[i]; });
  check([&](auto& w) { axpy(a, x, ComplexVector(w)); }, [&](std::int64_t i) { return y[i] + a * x[i]; });
  check([&](auto& w) { aypx(a, x, ComplexVector(w)); }, [&](std::int64_t i) { return x[i] + a * y[i]; });
  check([&](auto& w) { axpbypz(a, x, b, z, ComplexVector(w)); },
        [&](std::int64_t i) { return y[i] + a * x[i] + b * z[i]; });
  check([&](auto& w) { aypx_minus(a, x, b, z, ComplexVector(w)); },
        [&](std::int64_t i) { return x[i] + a * (y[i] - b * z[i]); });
  check(
      [&](auto& w) {
        const double square = axpy_square(a, x, ComplexVector(w));
        EXPECT_NEAR(square, product(w, w).real(), 1e-10);
      },
      [&](std::int64_t i) { return y[i] + a * x[i]; });
  check(
      [&](auto& w) {
        const auto sums = axpy_dot_and_square(a, x, ComplexVector(w), z);
        expect_near(sums[0], product(z, w));
        expect_near(sums[1], product(w, w));
      },
      [&](std::int64_t i) { return y[i] + a * x[i]; });

  for (int size = 0; size <= k; ++size) {
    const ComplexBasis basis{v.data(), n, size};
    std::vector<Complex> h(size);
    EXPECT_NEAR(local_dots(basis, y, h), product(y, y).real(), 1e-10);
    for (int j = 0; j < size; ++j)
      expect_near(h[j], product({v.begin() + j * n, v.begin() + (j + 1) * n}, y));
    const auto combination = [&](std::int64_t i) {
      Complex sum = 0;
      for (int j = 0; j < size; ++j) sum += h[j] * v[j * n + i];
      return sum;
    };
    auto w = y;
    const double square = subtract_combination(basis, h, ComplexVector(w));
    EXPECT_NEAR(square, product(w, w).real(), 1e-8 * square);
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_LT(std::abs(w[i] - (y[i] - combination(i))), 1e-11 * (1 + std::abs(w[i])));
    combine(basis, h, ComplexVector(w));
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_LT(std::abs(w[i] - combination(i)), 1e-11 * (1 + std::abs(w[i])));
  }
}

}  // namespace
}  // namespace ayatori::solvers
