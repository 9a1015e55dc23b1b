#include "ayatori/io/generator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "dense.hpp"
#include "error_text.hpp"

extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace ayatori::io {
namespace {

/// Small and odd-shaped cases of every generator.
const std::vector<std::string> small_specs{"poisson2d-5:n=1",
                                           "poisson2d-5:n=7",
                                           "poisson3d-7:n=5",
                                           "poisson3d-27:n=5",
                                           "elliptic2d-5:n=9",
                                           "elliptic2d-5:n=6,reaction=-50",
                                           "elliptic3d-7:n=5,convection=20",
                                           "convection2d:n=9",
                                           "convection2d:n=6,upwind=0,recirculating=0",
                                           "convection3d:n=5,peclet=1000",
                                           "convection3d:n=4,recirculating=0,peclet=3,upwind=0",
                                           "anisotropic2d:n=8",
                                           "anisotropic2d:n=8,angle=-45,epsilon=1e-6",
                                           "anisotropic3d:n=5",
                                           "jump2d:n=9,blocks=3",
                                           "jump2d:n=8,blocks=20,seed=4,ratio=1e-8",
                                           "jump3d:n=5,blocks=2",
                                           "jump3d:n=5,seed=1",
                                           "elasticity3d:n=1",
                                           "elasticity3d:n=3",
                                           "elasticity3d:n=2,nu=0.49",
                                           "tetrahedra3d:n=1",
                                           "tetrahedra3d:n=4",
                                           "oseen2d:n=4",
                                           "oseen2d:n=5,upwind=0,reynolds=10,level=0",
                                           "oseen3d:n=3,reynolds=1000",
                                           "darcy2d:n=2",
                                           "darcy2d:n=5,blocks=3,seed=2",
                                           "darcy3d:n=3,blocks=2,level=0",
                                           "kkt:n=1",
                                           "kkt:n=5,mu=1e-10",
                                           "biharmonic2d:n=1",
                                           "biharmonic2d:n=6",
                                           "heat3d:n=1",
                                           "heat3d:n=4,dt=10",
                                           "curlcurl3d:n=2",
                                           "curlcurl3d:n=4,conductivity=1e-3",
                                           "dg-advection:n=1,order=1",
                                           "dg-advection:n=4,order=0,recirculating=0",
                                           "dg-advection:n=3,order=3",
                                           "drift-diffusion:n=1",
                                           "drift-diffusion:n=5,bias=-15",
                                           "circuit:n=4,controlled=1",
                                           "circuit:n=150,sources=0.1,controlled=0.5",
                                           "least-squares:n=2",
                                           "least-squares:n=4,datum=0,spread=4",
                                           "random:n=1",
                                           "random:n=2,per_row=50",
                                           "random:n=60,per_row=5",
                                           "random-spd:n=1",
                                           "random-spd:n=2,per_row=50",
                                           "random-spd:n=61,per_row=6",
                                           "random-spd:n=64,per_row=1"};

const Generator& generator_of(const std::string& spec) {
  for (const Generator& g : generators()) {
    if (g.name == spec.substr(0, spec.find(':'))) return g;
  }
  throw InternalError("no such generator");
}

Dense dense(const std::string& spec) {
  const auto world = comm::Comm::world();
  return to_dense(world, generate(world, spec));
}

bool is_positive_definite(Dense a) {
  const int n = static_cast<int>(a.rows);
  int info = 0;
  dpotrf_("L", &n, a.value.data(), &n, &info);
  return info == 0;
}

bool is_saddle_point(const std::string& spec) {
  return spec.starts_with("stokes") || spec.starts_with("darcy") || spec.starts_with("kkt");
}

/// A x
std::vector<double> times(const Dense& a, const std::vector<double>& x) {
  std::vector<double> y(a.rows, 0);
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) y[i] += a(i, j) * x[j];
  return y;
}

TEST(Generators, SmallMatricesByHand) {
  EXPECT_EQ(dense("poisson2d-5:n=2").value,
            dense_rows({{4, -1, -1, 0}, {-1, 4, 0, -1}, {-1, 0, 4, -1}, {0, -1, -1, 4}}).value);
  EXPECT_EQ(dense("anisotropic3d:n=1,epsilon_y=0.5,epsilon_z=0.25").value, std::vector{3.5});
  // Cells with k = 1 and 4 in a checkerboard: harmonic mean 1.6 between them, 2 k at the boundary.
  const auto jump = dense("jump2d:n=2,blocks=2,ratio=4").value;
  const auto expected =
      dense_rows({{7.2, -1.6, -1.6, 0}, {-1.6, 19.2, 0, -1.6}, {-1.6, 0, 19.2, -1.6}, {0, -1.6, -1.6, 7.2}});
  for (std::size_t k = 0; k < jump.size(); ++k) EXPECT_DOUBLE_EQ(jump[k], expected.value[k]);
}

TEST(Generators, InnerRowOfEachStencil) {
  const Dense seven = dense("poisson3d-7:n=3");
  const Dense all = dense("poisson3d-27:n=3");
  for (int j = 0; j < 27; ++j) {
    const int distance = std::abs(j % 3 - 1) + std::abs(j / 3 % 3 - 1) + std::abs(j / 9 - 1);
    EXPECT_EQ(seven(13, j), distance == 0 ? 6 : distance == 1 ? -1 : 0) << j;
    EXPECT_EQ(all(13, j), distance == 0 ? 26 : -1) << j;
  }
  // No anisotropy: the bilinear element's 8/3 and -1/3.
  const Dense nine = dense("anisotropic2d:n=3,epsilon=1,angle=20");
  for (int j = 0; j < 9; ++j) EXPECT_NEAR(nine(4, j), j == 4 ? 8.0 / 3 : -1.0 / 3, 1e-15) << j;
}

TEST(Generators, EllipticCoefficientsAtAPoint) {
  // n = 1: the point (1/2, 1/2), h = 1/2, only the diagonal remains.
  const double expected =
      std::exp(-0.125) + std::exp(-0.375) + std::exp(0.125) + std::exp(0.375) + 0.25 / 1.25;
  EXPECT_NEAR(dense("elliptic2d-5:n=1,convection=7").value[0], expected, 1e-14);
  const double without = expected - 0.25 / 1.25;
  EXPECT_NEAR(dense("elliptic2d-5:n=1,reaction=-50").value[0], without - 50 * 0.25 / 1.25, 1e-13);
  EXPECT_NEAR(dense("elliptic3d-7:n=1,reaction=-50").value[0] - dense("elliptic3d-7:n=1,reaction=0").value[0],
              -50 * 0.25 / 1.125, 1e-13);
  // n = 2, h = 1/3: from (1/3, 1/3) to (2/3, 1/3), diffusion at x = 1/2, convection c = 3 (x + y).
  const Dense two = dense("elliptic2d-5:n=2,convection=3");
  EXPECT_NEAR(two(0, 1), -std::exp(-1.0 / 6) + (2.0 + 3.0) / 6, 1e-14);
  EXPECT_NEAR(two(1, 0), -std::exp(-1.0 / 6) - (2.0 + 3.0) / 6, 1e-14);
}

TEST(Generators, NothingFixesTheLevelInNeumannsProblem) {
  for (const std::string spec : {"neumann2d:n=2", "neumann2d:n=7", "neumann3d:n=2", "neumann3d:n=4"}) {
    const Dense a = dense(spec);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < a.rows; ++j) {
        sum += a.value[i + j * a.rows];
        EXPECT_EQ(a.value[i + j * a.rows], a.value[j + i * a.rows]);
      }
      EXPECT_EQ(sum, 0) << spec << ", row " << i;
    }
    Dense shifted = a;
    shifted.value[0] += 1;
    EXPECT_TRUE(is_positive_definite(shifted)) << spec;
  }
}

TEST(Generators, EllipticReactionMakesItIndefinite) {
  EXPECT_TRUE(is_positive_definite(dense("elliptic2d-5:n=20,convection=0")));
  EXPECT_TRUE(is_positive_definite(dense("elliptic2d-5:n=20,convection=0,reaction=-25")));
  EXPECT_FALSE(is_positive_definite(dense("elliptic2d-5:n=20,convection=0,reaction=-50")));
}

TEST(Generators, UpwindAndCentralDifferences) {
  // One point's step is 1/3; the constant wind is (2, 1) / sqrt(5).
  const double x = 6 / 3.0 * 2 / std::sqrt(5.0);
  const Dense upwind = dense("convection2d:n=2,peclet=6,recirculating=0");
  EXPECT_NEAR(upwind(1, 0), -1 - x, 1e-14);
  EXPECT_NEAR(upwind(0, 1), -1, 1e-14);
  EXPECT_NEAR(upwind(0, 0), 4 + 1.5 * x, 1e-14);
  const Dense central = dense("convection2d:n=2,peclet=6,recirculating=0,upwind=0");
  EXPECT_NEAR(central(1, 0), -1 - x / 2, 1e-14);
  EXPECT_NEAR(central(0, 1), -1 + x / 2, 1e-14);
  EXPECT_NEAR(central(0, 0), 4, 1e-14);
}

TEST(Generators, SymmetricOnesAreSymmetricAndDefinite) {
  for (const auto& spec : small_specs) {
    SCOPED_TRACE(spec);
    const Dense a = dense(spec);
    if (a.rows != a.columns) continue;
    double unsymmetry = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t j = 0; j < i; ++j) unsymmetry = std::max(unsymmetry, std::abs(a(i, j) - a(j, i)));
    }
    if (generator_of(spec).symmetric) {
      EXPECT_EQ(unsymmetry, 0);
      EXPECT_EQ(is_positive_definite(a), !is_saddle_point(spec));
    } else {
      EXPECT_TRUE(unsymmetry > 0 || a.rows == 1);
    }
  }
}

TEST(Generators, RowsSumToTheBoundary) {
  // Where no neighbour is missing, a constant is in the kernel of diffusion and convection.
  for (const std::string spec : {"poisson2d-5:n=3", "convection2d:n=3", "anisotropic2d:n=3"}) {
    const Dense a = dense(spec);
    double sum = 0;
    for (int j = 0; j < 9; ++j) sum += a(4, j);
    EXPECT_NEAR(sum, 0, 1e-14) << spec;
  }
}

TEST(Generators, ElasticityHasRigidMotions) {
  // Nodes x = 2, 3 of three elements along x do not touch the clamped face: translations and a rotation
  // about z are free of stress there.
  const int n = 3;
  const Dense a = dense("elasticity3d:n=3,nu=0.2");
  ASSERT_EQ(a.rows, 3 * n * (n + 1) * (n + 1));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (i / 3 % n == 0) continue;
    double translation = 0;
    double rotation = 0;
    for (std::int64_t j = 0; j < a.columns; ++j) {
      const double x = static_cast<double>(j / 3 % n + 1);
      const double y = static_cast<double>(j / 3 / n % (n + 1));
      if (j % 3 == 1) translation += a(i, j);
      rotation += a(i, j) * (j % 3 == 0 ? -y : j % 3 == 1 ? x : 0);
    }
    EXPECT_NEAR(translation, 0, 1e-14);
    EXPECT_NEAR(rotation, 0, 1e-14);
  }
}

TEST(Generators, TetrahedraAreExactForLinearFunctions) {
  for (const std::string spec : {"tetrahedra3d:n=3,jitter=0", "tetrahedra3d:n=3,seed=7"}) {
    SCOPED_TRACE(spec);
    const Dense a = dense(spec);
    double constant = 0;
    double linear = 0;
    for (int j = 0; j < 27; ++j) {
      constant += a(13, j);
      linear += a(13, j) * (j % 3 - 1 + 2 * (j / 9 - 1));
    }
    EXPECT_NEAR(constant, 0, 1e-13);
    EXPECT_GT(a(13, 13), 0);
    if (spec.ends_with("=0")) {
      EXPECT_NEAR(linear, 0, 1e-13);
    }
  }
}

TEST(Generators, RandomIsDominantAndSpread) {
  for (const std::string spec :
       {"random:n=60,per_row=5,dominance=1.5", "random-spd:n=60,per_row=5,dominance=1.5"}) {
    SCOPED_TRACE(spec);
    const Dense a = dense(spec);
    int far = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double others = 0;
      for (std::int64_t j = 0; j < a.columns; ++j) {
        if (j != i) others += std::abs(a(i, j));
        if (std::abs(i - j) > 15 && a(i, j) != 0) ++far;
      }
      EXPECT_GE(a(i, i), 1.5 * others * (1 - 1e-14));
    }
    EXPECT_GT(far, 60);
  }
  EXPECT_NE(dense("random:n=60,seed=1").value, dense("random:n=60,seed=2").value);
}

TEST(Generators, SmallestStokesByHand) {
  // Two cells per edge, h = 1/2. Of a velocity, the walls at its ends weigh 1, the one beside it, half a cell
  // away, 2, and the other face 1: u(0,0), v(0,0), v(1,0), p(0,0), p(1,0); u(0,1), p(0,1), p(1,1).
  const double h = 0.5;
  const std::vector<std::vector<double>> rows{{5, 0, 0, -h, h, -1, 0, 0}, {0, 5, -1, -h, 0, 0, h, 0},
                                              {0, -1, 5, 0, -h, 0, 0, h}, {-h, -h, 0, 0, 0, 0, 0, 0},
                                              {h, 0, -h, 0, 0, 0, 0, 0},  {-1, 0, 0, 0, 0, 5, -h, h},
                                              {0, h, 0, 0, 0, -h, 0, 0},  {0, 0, h, 0, 0, h, 0, 0}};
  for (const bool has_last : {true, false}) {
    const Dense a = dense(has_last ? "stokes2d:n=2,level=0" : "stokes2d:n=2");
    ASSERT_EQ(a.rows, has_last ? 8 : 7);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.rows; ++j) EXPECT_EQ(a(i, j), rows[i][j]) << i << ' ' << j;
  }
}

/// The rows and columns that have a diagonal entry, the velocities.
Dense velocity_block(const Dense& a) {
  std::vector<std::int64_t> velocities;
  for (std::int64_t i = 0; i < a.rows; ++i)
    if (a(i, i) != 0) velocities.push_back(i);
  std::vector<std::vector<double>> rows;
  for (const auto i : velocities) {
    rows.emplace_back();
    for (const auto j : velocities) rows.back().push_back(a(i, j));
  }
  return dense_rows(rows);
}

TEST(Generators, SaddlePointsAreThoseOfStokesAndOseen) {
  struct Case {
    std::string spec;
    std::int64_t velocities;
    std::int64_t pressures;
  };
  for (const auto& [spec, velocities, pressures] :
       {Case{"stokes2d:n=5,level=0", 40, 25}, Case{"stokes2d:n=6,ratio=100,blocks=2,level=0", 60, 36},
        Case{"stokes3d:n=3,level=0", 54, 27}, Case{"stokes3d:n=4,ratio=0.01,level=0", 144, 64},
        Case{"oseen2d:n=5,reynolds=20,level=0", 40, 25},
        Case{"oseen3d:n=3,upwind=0,reynolds=10,level=0", 54, 27}}) {
    SCOPED_TRACE(spec);
    const Dense a = dense(spec);
    ASSERT_EQ(a.rows, velocities + pressures);
    Dense flow = velocity_block(a);
    ASSERT_EQ(flow.rows, velocities);
    double unsymmetry = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double of_pressures = 0;  // B^T 1: the level of the pressure exerts no force
      for (std::int64_t j = 0; j < a.rows; ++j) {
        if (a(j, j) != 0) {
          unsymmetry = std::max(unsymmetry, a(i, i) != 0 ? std::abs(a(i, j) - a(j, i)) : 0.0);
          continue;
        }
        of_pressures += a(i, j);
        EXPECT_EQ(a(i, j), a(j, i));
      }
      EXPECT_EQ(of_pressures, 0);
    }
    EXPECT_EQ(unsymmetry > 0, !generator_of(spec).symmetric);
    // The symmetric part, which the wind leaves as it is where differences are central: diffusion.
    Dense symmetric = flow;
    for (std::int64_t i = 0; i < flow.rows; ++i)
      for (std::int64_t j = 0; j < flow.rows; ++j)
        symmetric.value[i + j * flow.rows] = (flow(i, j) + flow(j, i)) / 2;
    EXPECT_TRUE(is_positive_definite(symmetric));
    // Without the last pressure it is the same matrix but for its row and column.
    const Dense without = dense(spec.substr(0, spec.rfind(",level=0")));
    ASSERT_EQ(without.rows, a.rows - 1);
    for (std::int64_t i = 0; i < without.rows; ++i)
      for (std::int64_t j = 0; j < without.rows; ++j) EXPECT_EQ(without(i, j), a(i, j));
  }
}

TEST(Generators, DarcysFluxFollowsTheSlopeOfThePressure) {
  // Two cells per edge, h = 1/2: u(0,0), v(0,0), v(1,0), p(0,0), p(1,0); u(0,1), p(0,1), p(1,1).
  const Dense a = dense("darcy2d:n=2,ratio=2,blocks=2,level=0");
  const double m = (0.5 + 0.25) / 3;  // entry for cells with k = 1 and 2
  const std::vector<std::vector<double>> rows{{m, 0, 0, -1, 1, 0, 0, 0}, {0, m, 0, -1, 0, 0, 1, 0},
                                              {0, 0, m, 0, -1, 0, 0, 1}, {-1, -1, 0, 0, 0, 0, 0, 0},
                                              {1, 0, -1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, m, -1, 1},
                                              {0, 1, 0, 0, 0, -1, 0, 0}, {0, 0, 1, 0, 0, 1, 0, 0}};
  ASSERT_EQ(a.rows, 8);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 0; j < 8; ++j) EXPECT_DOUBLE_EQ(a(i, j), rows[i][j]) << i << ' ' << j;
  for (const std::string spec : {"darcy2d:n=5,level=0", "darcy3d:n=4,blocks=2,seed=3,level=0"}) {
    SCOPED_TRACE(spec);
    const Dense b = dense(spec);
    EXPECT_TRUE(is_positive_definite(velocity_block(b)));
    for (std::int64_t i = 0; i < b.rows; ++i) {
      double level = 0;
      for (std::int64_t j = 0; j < b.rows; ++j) level += b(j, j) == 0 ? b(i, j) : 0;
      EXPECT_EQ(level, 0);
    }
  }
}

TEST(Generators, ClampedPlateIsExactForPolynomials) {
  // Inside, 13 points give Laplace(Laplace(x^2 y^2)) = 8 and 0 of x^3 y; near a corner two points are
  // mirrored.
  const int n = 7;
  const Dense a = dense("biharmonic2d:n=7");
  std::vector<double> fourth;
  std::vector<double> third;
  for (int i = 0; i < n * n; ++i) {
    const double x = i % n;
    const double y = i / n;
    fourth.push_back(x * x * y * y);
    third.push_back(x * x * x * y);
  }
  const auto of_fourth = times(a, fourth);
  const auto of_third = times(a, third);
  for (int y = 2; y < n - 2; ++y) {
    for (int x = 2; x < n - 2; ++x) {
      EXPECT_EQ(of_fourth[y * n + x], 8);
      EXPECT_EQ(of_third[y * n + x], 0);
    }
  }
  EXPECT_EQ(a(0, 0), 22);
  EXPECT_EQ(a(3, 3), 21);
  EXPECT_EQ(a(24, 24), 20);
}

TEST(Generators, HeatIsMassAndStiffness) {
  const Dense mass = dense("heat3d:n=3,dt=0");
  const Dense step = dense("heat3d:n=3,dt=0.25");
  double of_mass = 0;
  double of_step = 0;
  double of_square = 0;
  for (int j = 0; j < 27; ++j) {
    of_mass += mass(13, j);
    of_step += step(13, j);
    of_square += (step(13, j) - mass(13, j)) * (j % 3 - 1) * (j % 3 - 1);
  }
  EXPECT_NEAR(of_mass, 1, 1e-14);
  EXPECT_NEAR(of_step, 1, 1e-13);
  EXPECT_NEAR(of_square, -2 * 0.25 * 16, 1e-13);  // -dt (x^2)'' / h^2
  EXPECT_NEAR(mass(13, 13), 8.0 / 27, 1e-15);
}

TEST(Generators, CurlOfGradientsVanishes) {
  const std::int64_t n = 4;
  const Dense a = dense("curlcurl3d:n=4,conductivity=0");
  ASSERT_EQ(a.rows, 3 * n * (n - 1) * (n - 1));
  std::vector<double> node(static_cast<std::size_t>((n + 1) * (n + 1) * (n + 1)), 0);
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) -> double& {
    return node[(z * (n + 1) + y) * (n + 1) + x];
  };
  for (std::int64_t z = 1; z < n; ++z)
    for (std::int64_t y = 1; y < n; ++y)
      for (std::int64_t x = 1; x < n; ++x) at(x, y, z) = std::cos(static_cast<double>(x + 5 * y + 25 * z));
  std::vector<double> gradient;
  for (std::int64_t z = 0; z < n; ++z) {
    for (std::int64_t y = 1; z > 0 && y < n; ++y)
      for (std::int64_t x = 0; x < n; ++x) gradient.push_back(at(x + 1, y, z) - at(x, y, z));
    for (std::int64_t y = 0; z > 0 && y < n; ++y)
      for (std::int64_t x = 1; x < n; ++x) gradient.push_back(at(x, y + 1, z) - at(x, y, z));
    for (std::int64_t y = 1; y < n; ++y)
      for (std::int64_t x = 1; x < n; ++x) gradient.push_back(at(x, y, z + 1) - at(x, y, z));
  }
  ASSERT_EQ(gradient.size(), static_cast<std::size_t>(a.rows));
  for (const double value : times(a, gradient)) EXPECT_NEAR(value, 0, 1e-14);
  EXPECT_GT(a(0, 0), 1);
}

TEST(Generators, AdvectionConservesAndKeepsConstants) {
  for (const std::string spec :
       {"dg-advection:n=3,order=2,reaction=0.5", "dg-advection:n=4,order=1,reaction=0.5"}) {
    SCOPED_TRACE(spec);
    const Dense a = dense(spec);
    const std::int64_t block = spec.find("order=2") != std::string::npos ? 9 : 4;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      double of_constants = 0;  // w . grad 1 = 0
      double content = 0;       // what flows out of an element flows into others
      for (std::int64_t j = 0; j < a.rows; j += block) {
        of_constants += a(i, j);
        content += a(j, i);
      }
      EXPECT_NEAR(of_constants, i % block == 0 ? 0.5 : 0, 1e-13);
      EXPECT_NEAR(content, i % block == 0 ? 0.5 : 0, 1e-13);
    }
  }
  // In the middle of nine elements, by linear modes: the constant wind carries u = x, whose slope along it is
  // 2 / sqrt(5); u = (element + 1/2) h in the mean and h / sqrt(12) in the mode along x, h = 1/3.
  const Dense a = dense("dg-advection:n=3,order=1,reaction=0,recirculating=0");
  std::vector<double> u(static_cast<std::size_t>(a.rows), 0);
  for (std::int64_t element = 0; element < 9; ++element) {
    u[4 * element] = (static_cast<double>(element % 3) + 0.5) / 3;
    u[4 * element + 1] = 1 / (3 * std::sqrt(12.0));
  }
  const auto slope = times(a, u);
  EXPECT_NEAR(slope[16], 2 / std::sqrt(5.0), 1e-13);
  for (const int i : {17, 18, 19}) EXPECT_NEAR(slope[i], 0, 1e-13);
}

TEST(Generators, LateInteriorPointsSpanMu) {
  for (const double mu : {1e-4, 1e-10}) {
    const Dense a = dense(fmt::format("kkt:n=15,beta=0,mu={}", mu));
    double least = 1e300;
    double most = 0;
    for (std::int64_t i = 1; i < a.rows; i += 3) {
      least = std::min(least, a(i, i) * 256);
      most = std::max(most, a(i, i) * 256);
      EXPECT_EQ(a(i, i + 1), -1.0 / 256);
      EXPECT_EQ(a(i + 1, i + 1), 0);
      EXPECT_EQ(a(i + 1, i - 1), 4);
    }
    EXPECT_LT(least, 10 * mu);
    EXPECT_GT(most, 0.1 / mu);
  }
}

TEST(Generators, DiodeInEquilibriumCarriesNoCurrent) {
  // A shift of the potential with the densities that belong to it changes no current; recombination neither.
  const std::int64_t n = 9;
  const Dense a = dense("drift-diffusion:n=9,bias=0,doping=1e15");
  const double thermal_voltage = 0.02585;
  std::vector<double> shift;
  std::vector<double> size(static_cast<std::size_t>(a.rows), 0);
  for (std::int64_t i = 0; i < n * n; ++i) {
    const double x = static_cast<double>(i % n + 1) / static_cast<double>(n + 1);
    const double y = (static_cast<double>(i / n) + 0.5) / static_cast<double>(n);
    const double junction = 0.5 + 0.1 * std::cos(2 * std::numbers::pi * y);
    const double level = std::asinh(1e15 * std::tanh((x - junction) / 0.02) / 2e10);
    shift.insert(shift.end(),
                 {1.0, 1e10 * std::exp(level) / thermal_voltage, -1e10 * std::exp(-level) / thermal_voltage});
  }
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) size[i] += std::abs(a(i, j) * shift[j]);
  const auto image = times(a, shift);
  for (std::int64_t i = 0; i < n * n; ++i) {
    if (i % n == 0 || i % n == n - 1) continue;  // beside the contacts
    EXPECT_NEAR(image[3 * i + 1] / size[3 * i + 1], 0, 1e-13);
    EXPECT_NEAR(image[3 * i + 2] / size[3 * i + 2], 0, 1e-13);
  }
}

TEST(Generators, DiodeConservesCharge) {
  // Recombination takes as many electrons as holes: what one point loses the others get.
  const std::int64_t n = 6;
  const Dense a = dense("drift-diffusion:n=6,bias=0.7");
  for (std::int64_t j = 0; j < a.columns; ++j) {
    if (j / 3 % n == 0 || j / 3 % n == n - 1) continue;
    double current = 0;
    double size = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (i % 3 == 0) continue;
      current += i % 3 == 1 ? a(i, j) : -a(i, j);
      size += std::abs(a(i, j));
    }
    EXPECT_NEAR(current / size, 0, 1e-13) << j;
  }
}

TEST(Generators, CircuitObeysKirchhoff) {
  const std::int64_t pins = 400;
  const Dense a = dense("circuit:n=400,sources=0.05,controlled=0.3,range=3");
  const std::int64_t nodes = pins + 8;
  ASSERT_EQ(a.rows, nodes + 20);
  std::int64_t grounded = 0;
  std::int64_t widest = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;  // sum of the currents into all nodes
    std::int64_t entries = 0;
    for (std::int64_t i = 0; i < nodes; ++i) {
      sum += a(i, j);
      entries += a(i, j) != 0;
    }
    if (j < nodes) {
      EXPECT_NEAR(sum, 1e-12, 1e-12) << j;
      widest = std::max(widest, entries);
    } else {
      EXPECT_EQ(a(j, j), 0);
      for (std::int64_t i = 0; i < nodes; ++i) EXPECT_EQ(a(i, j), a(j, i));
      grounded += sum == 1;
      EXPECT_TRUE(sum == 1 || (sum == 0 && entries == 2));
    }
  }
  EXPECT_EQ(grounded, 10);
  EXPECT_GT(widest, 100);  // the largest net
}

TEST(Generators, FreeNetworkHasRigidMotions) {
  const std::int64_t n = 4;
  const Dense a = dense("least-squares:n=4,datum=0,jitter=0,spread=2");
  EXPECT_EQ(a.columns, 3 * n * n);
  EXPECT_EQ(a.rows, 3 * (2 * n * (n - 1) + 2 * (n - 1) * (n - 1)));
  std::vector<double> shift;
  std::vector<double> turn;
  for (std::int64_t i = 0; i < n * n; ++i) {
    shift.insert(shift.end(), {1.0, 2.0, 0.0});
    turn.insert(turn.end(), {-static_cast<double>(i / n), static_cast<double>(i % n), 1.0});
  }
  for (const double value : times(a, shift)) EXPECT_NEAR(value, 0, 1e-14);
  for (const double value : times(a, turn)) EXPECT_NEAR(value, 0, 1e-14);
  const Dense held = dense("least-squares:n=4,spread=2");
  Dense normal{held.columns, held.columns, std::vector<double>(held.columns * held.columns, 0.0)};
  for (std::int64_t i = 0; i < held.columns; ++i)
    for (std::int64_t j = 0; j < held.columns; ++j)
      for (std::int64_t k = 0; k < held.rows; ++k)
        normal.value[i + j * held.columns] += held(k, i) * held(k, j);
  EXPECT_TRUE(is_positive_definite(normal));
}

TEST(Generators, SameMatrixOnAnyNumberOfRanks) {
  const auto world = comm::Comm::world();
  for (const auto& spec : small_specs) {
    SCOPED_TRACE(spec);
    const auto block = generate(world, spec);
    EXPECT_EQ(block.rows(), split_evenly(block.global_rows, world.size(), world.rank()).size());
    for (std::int64_t i = 0; i < block.rows(); ++i) {
      for (std::int64_t k = block.row_start[i] + 1; k < block.row_start[i + 1]; ++k) {
        EXPECT_LT(block.column[k - 1], block.column[k]);
      }
    }
    const auto alone = comm::Comm::self();
    EXPECT_EQ(to_dense(world, block).value, to_dense(alone, generate(alone, spec)).value);
  }
}

TEST(Generators, ManyRowsByThreadsAreThoseOfOneRow) {
  const auto alone = comm::Comm::self();
  const auto block = generate(alone, "poisson3d-27:n=20");
  ASSERT_EQ(block.rows(), 8000);
  EXPECT_EQ(block.nonzeros(), 58 * 58 * 58);
  EXPECT_EQ(block.row_start.back(), block.nonzeros());
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
      ASSERT_EQ(block.value[k], block.column[k] == i ? 26 : -1);
    }
  }
}

TEST(Generators, DefaultsAndNames) {
  EXPECT_TRUE(is_generator("poisson3d-7"));
  EXPECT_TRUE(is_generator("poisson3d-7:n=oops"));
  EXPECT_FALSE(is_generator("poisson3d"));
  EXPECT_FALSE(is_generator(""));
  EXPECT_FALSE(is_generator("matrix.mtx"));
  const auto world = comm::Comm::world();
  EXPECT_EQ(generate(world, "poisson2d-5").global_rows, 10000);
  EXPECT_EQ(generate(world, "elliptic2d-5").global_rows, 160000);
  for (const Generator& g : generators()) {
    for (const auto& p : g.parameters) {
      EXPECT_LE(p.min, p.default_value) << g.name;
      EXPECT_LE(p.default_value, p.max) << g.name;
      EXPECT_FALSE(p.description.empty());
    }
  }
}

TEST(Generators, BadSpecsSayWhatIsAllowed) {
  const auto world = comm::Comm::world();
  const auto error = [&](const std::string& spec) { return input_error_of([&] { generate(world, spec); }); };
  EXPECT_TRUE(contains(error("magic:n=3"), "unknown generator 'magic': choose one of poisson2d-5, "));
  EXPECT_TRUE(contains(error(""), "unknown generator ''"));
  EXPECT_TRUE(
      contains(error("poisson2d-5:m=3"), "unknown parameter 'm'; poisson2d-5 takes n (1..10000000, whole)"));
  EXPECT_TRUE(contains(error("poisson2d-5:"), "'' is not key=value"));
  EXPECT_TRUE(contains(error("poisson2d-5:n"), "'n' is not key=value"));
  EXPECT_TRUE(contains(error("poisson2d-5:n=3,"), "'' is not key=value"));
  EXPECT_TRUE(contains(error("poisson2d-5:n=3,n=3"), "n is given twice"));
  EXPECT_TRUE(
      contains(error("convection2d:n=3,peclet=fast"), "peclet is 'fast', but must be a number from 0 to"));
  for (const std::string n : {"", "three", "3x", "0", "-1", "2.5", "nan", "inf", "1e99", " 3", "10000001"}) {
    EXPECT_TRUE(contains(error("poisson2d-5:n=" + n),
                         "n is '" + n + "', but must be a whole number from 1 to 10000000"));
  }
  // n^3 would not fit in 64 bits.
  EXPECT_TRUE(contains(error("poisson3d-7:n=3000000"), "from 1 to 100000"));
  EXPECT_TRUE(contains(error("elasticity3d:nu=0.5"), "from 0 to 0.4999"));
}

TEST(Generators, TooLargeForTheMachineIsAnEnvironmentError) {
  EXPECT_THROW(generate(comm::Comm::world(), "poisson3d-27:n=100000"), EnvironmentError);
}

TEST(RowBuilder, SortsAndSums) {
  RowBuilder row;
  EXPECT_TRUE(row.sorted().empty());
  for (const auto& [column, value] :
       std::vector<std::pair<int, double>>{{5, 1}, {2, 2}, {5, 3}, {9, 4}, {2, 5}}) {
    row.add(column, value);
  }
  const auto sorted = row.sorted();
  ASSERT_EQ(sorted.size(), 3U);
  EXPECT_EQ(sorted[0].column, 2);
  EXPECT_EQ(sorted[0].value, 7);
  EXPECT_EQ(sorted[1].column, 5);
  EXPECT_EQ(sorted[1].value, 4);
  EXPECT_EQ(sorted[2].value, 4);
}

}  // namespace
}  // namespace ayatori::io
