#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "ayatori/base/find_named.hpp"
#include "ayatori/io/generator.hpp"
#include "dense.hpp"
#include "error_text.hpp"

extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace ayatori::io {
namespace {

using sparse::Complex;

/// Small and odd-shaped cases of every generator of complex matrices.
const std::vector<std::string> small_specs{"helmholtz2d:n=1",
                                           "helmholtz2d:n=7,k=3",
                                           "helmholtz2d:n=6,k=5,damping=0.5,contrast=4,layers=3",
                                           "helmholtz3d:n=1",
                                           "helmholtz3d:n=3,contrast=2,layers=50",
                                           "maxwell3d:n=2",
                                           "maxwell3d:n=3,k=4,sigma=0",
                                           "circuit-ac:n=4,controlled=1",
                                           "circuit-ac:n=120,sources=0.1,controlled=0,frequency=1e3",
                                           "circuit-ac:n=75,inductors=0.5",
                                           "hamiltonian2d:n=1",
                                           "hamiltonian2d:n=6,flux=0.2",
                                           "transport2d:n=1",
                                           "transport2d:n=5,flux=-0.3,energy=4",
                                           "random-hermitian:n=1",
                                           "random-hermitian:n=2,per_row=50",
                                           "random-hermitian:n=41,per_row=6",
                                           "random-hermitian:n=20,per_row=1"};

const Generator& generator_of(const std::string& spec) {
  return find_named(generators(), std::string_view(spec).substr(0, spec.find(':')), "generator");
}

/// A whole complex matrix, by columns.
struct ComplexDense {
  std::int64_t rows = 0;
  std::vector<Complex> value;

  Complex operator()(std::int64_t i, std::int64_t j) const { return value[i + j * rows]; }
};

Dense real_dense(const std::string& spec) {
  const auto world = comm::Comm::world();
  return to_dense(world, generate(world, spec));
}

ComplexDense dense(const std::string& spec) {
  const Dense pairs = real_dense(spec);
  ComplexDense a{pairs.rows / 2, {}};
  for (std::int64_t j = 0; j < a.rows; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i)
      a.value.emplace_back(pairs(2 * i, 2 * j), pairs(2 * i + 1, 2 * j));
  return a;
}

/// A x
std::vector<Complex> times(const ComplexDense& a, const std::vector<Complex>& x) {
  std::vector<Complex> y(a.rows, 0);
  for (std::int64_t j = 0; j < a.rows; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) y[i] += a(i, j) * x[j];
  return y;
}

/// Greatest |a_ij - a_ji|.
double unsymmetry(const ComplexDense& a) {
  double most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < i; ++j) most = std::max(most, std::abs(a(i, j) - a(j, i)));
  return most;
}

/// Greatest |a_ij - conj(a_ji)|, the diagonal included.
double unhermiticity(const ComplexDense& a) {
  double most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j <= i; ++j) most = std::max(most, std::abs(a(i, j) - std::conj(a(j, i))));
  return most;
}

/// A Hermitian matrix is as definite as its real form.
bool is_positive_definite(const std::string& spec) {
  Dense pairs = real_dense(spec);
  const int n = static_cast<int>(pairs.rows);
  int info = 0;
  dpotrf_("L", &n, pairs.value.data(), &n, &info);
  return info == 0;
}

TEST(ComplexGenerators, AreRealFormsWithFullBlocks) {
  const auto world = comm::Comm::world();
  for (const auto& spec : small_specs) {
    SCOPED_TRACE(spec);
    EXPECT_TRUE(generator_of(spec).is_complex);
    const auto block = generate(world, spec);
    ASSERT_EQ(block.rows() % 2, 0);
    for (std::int64_t i = 0; i < block.rows(); i += 2) {
      const std::int64_t upper = block.row_start[i];
      const std::int64_t lower = block.row_start[i + 1];
      const std::int64_t length = lower - upper;
      ASSERT_EQ(block.row_start[i + 2] - lower, length);
      ASSERT_EQ(length % 2, 0);
      for (std::int64_t k = 0; k < length; k += 2) {
        EXPECT_EQ(block.column[upper + k] % 2, 0);
        EXPECT_EQ(block.column[upper + k + 1], block.column[upper + k] + 1);
        EXPECT_EQ(block.column[lower + k], block.column[upper + k]);
        EXPECT_EQ(block.column[lower + k + 1], block.column[upper + k + 1]);
        EXPECT_EQ(block.value[lower + k + 1], block.value[upper + k]);
        EXPECT_EQ(block.value[lower + k], -block.value[upper + k + 1]);
      }
    }
  }
}

TEST(ComplexGenerators, SameMatrixOnAnyNumberOfRanks) {
  const auto world = comm::Comm::world();
  for (const auto& spec : small_specs) {
    SCOPED_TRACE(spec);
    const auto block = generate(world, spec);
    const Range mine = split_evenly(block.global_rows / 2, world.size(), world.rank());
    EXPECT_EQ(block.first_row, 2 * mine.begin);
    EXPECT_EQ(block.rows(), 2 * mine.size());
    const auto alone = comm::Comm::self();
    EXPECT_EQ(to_dense(world, block).value, to_dense(alone, generate(alone, spec)).value);
  }
}

TEST(ComplexGenerators, AreHermitianSymmetricOrNeither) {
  for (const auto& spec : small_specs) {
    SCOPED_TRACE(spec);
    const ComplexDense a = dense(spec);
    if (generator_of(spec).symmetric) {
      EXPECT_EQ(unhermiticity(a), 0);
      EXPECT_TRUE(is_positive_definite(spec));
      EXPECT_TRUE(unsymmetry(a) > 0 || a.rows == 1 || spec.ends_with("per_row=1"));
    } else {
      EXPECT_TRUE(unhermiticity(a) > 0 || spec.ends_with("sigma=0"));
      const bool is_symmetric = spec.starts_with("helmholtz") || spec.starts_with("maxwell") ||
                                spec.find("controlled=0,") != std::string::npos || a.rows == 1;
      EXPECT_EQ(unsymmetry(a) == 0, is_symmetric);
    }
  }
}

TEST(ComplexGenerators, ShiftsMakeIndefinite) {
  EXPECT_FALSE(is_positive_definite("random-hermitian:n=41,shift=20"));
  EXPECT_FALSE(is_positive_definite("hamiltonian2d:n=6,shift=2"));
  const ComplexDense a = dense("random-hermitian:n=41,dominance=1.5");
  const ComplexDense shifted = dense("random-hermitian:n=41,dominance=1.5,shift=3");
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double others = 0;
    for (std::int64_t j = 0; j < a.rows; ++j) others += j == i ? 0 : std::abs(a(i, j));
    EXPECT_GE(a(i, i).real(), 1.5 * others * (1 - 1e-14));
    EXPECT_NEAR(shifted(i, i).real(), a(i, i).real() - 3, 1e-14 * a(i, i).real());
  }
}

TEST(ComplexGenerators, PlaneWavesPassTheInnerPointsOfHelmholtz) {
  // 2 - 2 cos(t) along each axis adds up to (k h)^2: a wave of the lattice.
  for (const int dimension : {2, 3}) {
    const std::int64_t n = dimension == 2 ? 20 : 6;
    const double h = 1 / static_cast<double>(n);
    std::vector<double> angles{0.3, 0.2};
    if (dimension == 3) angles.push_back(-0.4);
    double square = 0;
    for (const double t : angles) square += 2 - 2 * std::cos(t);
    const ComplexDense a =
        dense(fmt::format("helmholtz{}d:n={},k={:.17g}", dimension, n, std::sqrt(square) / h));
    std::vector<Complex> wave;
    std::vector<bool> is_inner;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double phase = 0;
      bool inner = true;
      std::int64_t rest = i;
      for (const double t : angles) {
        const std::int64_t at = rest % n;
        rest /= n;
        phase += t * static_cast<double>(at);
        inner = inner && at > 0 && at < n - 1;
      }
      wave.push_back(std::polar(1.0, phase));
      is_inner.push_back(inner);
    }
    const auto residual = times(a, wave);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (is_inner[i]) {
        EXPECT_NEAR(std::abs(residual[i]), 0, 1e-13);
      }
    }
  }
}

TEST(ComplexGenerators, HelmholtzAbsorbsWhatLeavesStraight) {
  // A wave along x: nothing is left at the far side but the error of the lattice, (k h)^3 / 8; at the near
  // side it enters, and the condition misses it by 2 k h.
  const std::int64_t n = 20;
  const double kh = 0.25;
  const ComplexDense a = dense("helmholtz2d:n=20,k=5");
  const double angle = 2 * std::asin(kh / 2);
  std::vector<Complex> wave;
  for (std::int64_t i = 0; i < a.rows; ++i)
    wave.push_back(std::polar(1.0, angle * static_cast<double>(i % n)));
  const auto residual = times(a, wave);
  for (std::int64_t y = 1; y < n - 1; ++y) {
    EXPECT_LT(std::abs(residual[y * n + n - 1]), kh * kh * kh / 4);
    EXPECT_NEAR(std::abs(residual[y * n]), 2 * kh, 0.02);
  }
}

TEST(ComplexGenerators, DampingAndLayersOfHelmholtz) {
  const double square = 0.25;  // (k h)^2
  const ComplexDense a = dense("helmholtz2d:n=10,k=5,damping=0.5");
  EXPECT_NEAR(std::abs(a(55, 55) - Complex(4 - square, -0.5 * square)), 0, 1e-14);
  EXPECT_EQ(a(55, 54), Complex(-1));
  const ComplexDense layers = dense("helmholtz2d:n=10,k=5,contrast=4,layers=2");
  const auto inner = [&](std::int64_t y) { return layers(10 * y + 5, 10 * y + 5).real(); };
  EXPECT_EQ(inner(1), inner(4));
  EXPECT_EQ(inner(5), inner(8));
  EXPECT_NE(inner(4), inner(5));
  for (const std::int64_t y : {1, 8}) {
    EXPECT_GE(inner(y), 4 - square);
    EXPECT_LE(inner(y), 4 - square / 16);
  }
}

TEST(ComplexGenerators, MaxwellIsCurlCurlAndMass) {
  const Dense curl = real_dense("curlcurl3d:n=4,conductivity=0");
  const Dense with_mass = real_dense("curlcurl3d:n=4,conductivity=1");
  const ComplexDense a = dense("maxwell3d:n=4,k=3,sigma=2");
  ASSERT_EQ(a.rows, curl.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.rows; ++j) {
      const double mass = with_mass(i, j) - curl(i, j);
      EXPECT_NEAR(a(i, j).real(), curl(i, j) - 9 * mass, 1e-14);
      EXPECT_NEAR(a(i, j).imag(), -6 * mass, 1e-14);
    }
  }
}

TEST(ComplexGenerators, CircuitAtAFrequencyHasTheResistorsOfTheOther) {
  const Dense direct = real_dense("circuit:n=150,controlled=0.3");
  const ComplexDense low = dense("circuit-ac:n=150,controlled=0.3,inductors=0");
  const ComplexDense high = dense("circuit-ac:n=150,controlled=0.3,inductors=0,frequency=4");
  ASSERT_EQ(low.rows, direct.rows);
  bool has_capacitors = false;
  for (std::int64_t i = 0; i < low.rows; ++i) {
    for (std::int64_t j = 0; j < low.rows; ++j) {
      EXPECT_NEAR(low(i, j).real(), direct(i, j), 1e-13 * std::abs(direct(i, j)) + 1e-18);
      EXPECT_EQ(high(i, j).imag(), 4 * low(i, j).imag());
      if (i != j) {
        EXPECT_LE(low(i, j).imag(), 0);
      }
      has_capacitors = has_capacitors || low(i, j).imag() > 0;
    }
  }
  EXPECT_TRUE(has_capacitors);
}

TEST(ComplexGenerators, CircuitAtAFrequencyObeysKirchhoff) {
  const std::int64_t pins = 400;
  const std::int64_t nodes = pins + 8;
  const ComplexDense a = dense("circuit-ac:n=400,range=3,inductors=0.25");
  const ComplexDense high = dense("circuit-ac:n=400,range=3,inductors=0.25,frequency=2");
  std::int64_t inductors = 0;
  std::int64_t elements = 0;
  double least = 1;  // least of the inductors' admittances, which span the decades, too
  for (std::int64_t j = 0; j < nodes; ++j) {
    Complex sum = 0;  // sum of the currents into all nodes
    for (std::int64_t i = 0; i < nodes; ++i) {
      sum += a(i, j);
      if (i >= j || a(i, j).imag() == 0) continue;
      ++elements;
      if (a(i, j).imag() < 0) continue;
      ++inductors;
      least = std::min(least, a(i, j).imag());
      EXPECT_NEAR(high(i, j).imag(), a(i, j).imag() / 2, 1e-15);
    }
    EXPECT_NEAR(std::abs(sum - 1e-12), 0, 1e-12) << j;
  }
  EXPECT_LT(least, 1e-2);
  EXPECT_NEAR(static_cast<double>(inductors) / static_cast<double>(elements), 0.25, 0.05);
}

TEST(ComplexGenerators, ElectronFeelsTheFluxAlone) {
  const Dense free = real_dense("poisson2d-5:n=5");
  const ComplexDense without = dense("hamiltonian2d:n=5,flux=0,disorder=0");
  for (std::int64_t i = 0; i < 25; ++i)
    for (std::int64_t j = 0; j < 25; ++j) EXPECT_EQ(without(i, j), Complex(free(i, j)));
  // Once around any square of four sites.
  const ComplexDense a = dense("hamiltonian2d:n=5,flux=0.15,disorder=2");
  for (std::int64_t y = 0; y < 4; ++y) {
    for (std::int64_t x = 0; x < 4; ++x) {
      const std::int64_t i = 5 * y + x;
      const Complex around = a(i, i + 1) * a(i + 1, i + 6) * a(i + 6, i + 5) * a(i + 5, i);
      EXPECT_NEAR(std::abs(around - std::polar(1.0, 2 * std::numbers::pi * 0.15)), 0, 1e-14);
    }
  }
  for (std::int64_t i = 0; i < 25; ++i) {
    EXPECT_GE(a(i, i).real(), 4);
    EXPECT_LT(a(i, i).real(), 6);
  }
}

TEST(ComplexGenerators, TransportIsTheResolventsMatrix) {
  const ComplexDense h = dense("hamiltonian2d:n=5,flux=0.15");
  const ComplexDense a = dense("transport2d:n=5,flux=0.15,energy=3,eta=0.25");
  for (std::int64_t i = 0; i < 25; ++i)
    for (std::int64_t j = 0; j < 25; ++j)
      EXPECT_NEAR(std::abs(a(i, j) - (i == j ? Complex(3, 0.25) - h(i, j) : -h(i, j))), 0, 1e-14);
}

}  // namespace
}  // namespace ayatori::io
