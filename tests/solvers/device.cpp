#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/solvers/device/device_method.hpp"
#include "world.hpp"

// Methods on a device: the processor stands in for one, and a GPU does where there is one.

namespace ayatori::solvers {
namespace {

struct OnDevice {
  MethodResult result;
  Array<double> x;
};

class DeviceSystemOf {
 public:
  explicit DeviceSystemOf(const std::string& spec, const char* kind = "host")
      : matrix(world(), io::generate(world(), spec)), sum(world()) {
    device = gpu::device_type(kind).open(world().split_by_node().rank());
    there.emplace(*device, matrix);
    b.resize(matrix.local_size());
    const std::int64_t first = matrix.partition().range(world().rank()).begin;
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = random_uniform(9, first + static_cast<std::int64_t>(i)) - 0.5;
  }

  OnDevice solve(const char* method, const char* preconditioner, double rtol, int restart = 30,
                 int most = 2000, const Progress& progress = {}) {
    OnDevice solved{.result = {}, .x = Array<double>(b.size(), 0.25)};
    const auto m = find_device_preconditioner(preconditioner)->make(*there, sum, {});
    MethodOptions options;
    options.target = rtol * norm(sum, b);
    options.restart = restart;
    options.max_iterations = most;
    solved.result = find_device_method(method)->solve({*there, *m.op, b, sum}, solved.x, options, progress);
    return solved;
  }
  double residual(const Array<double>& x) {
    Array<double> r(b.size());
    matrix.apply(x, r);
    subtract(b, r, r);
    return norm(sum, r);
  }
  double b_norm() { return norm(sum, b); }

  sparse::DistributedMatrix matrix;
  GlobalSum sum;
  std::unique_ptr<gpu::Device> device;
  std::optional<DeviceMatrix> there;
  Array<double> b;
};

struct Case {
  const char* spec;
  const char* method;
  const char* preconditioner;
  const char* kind = "host";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.method << " + " << c.preconditioner << " on " << c.kind << ", " << c.spec;
}

class DeviceMethods : public testing::TestWithParam<Case> {};

TEST_P(DeviceMethods, SolveWithinAFewIterationsOfTheProcessor) {
  const Case& c = GetParam();
  if (const std::string why = gpu::device_type(c.kind).why_not(); !why.empty())
    GTEST_SKIP() << "no device: " << why;
  if (world().size() > 1 && !find_device_preconditioner(c.preconditioner)->on_several_ranks)
    GTEST_SKIP() << "of one rank";
  DeviceSystemOf system(c.spec, c.kind);
  std::vector<int> told;
  const OnDevice solved =
      system.solve(c.method, c.preconditioner, 1e-6, 30, 2000, [&](int iteration, double) {
        told.push_back(iteration);
        return true;
      });
  EXPECT_EQ(solved.result.stop, Stop::converged) << solved.result.reason;
  EXPECT_LE(system.residual(solved.x), 1.05e-6 * system.b_norm());
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.back(), solved.result.iterations);

  Array<double> x(system.b.size(), 0.25);
  const auto m = preconditioner(c.preconditioner).make(system.matrix, system.sum, {});
  MethodOptions options;
  options.target = 1e-6 * system.b_norm();
  options.max_iterations = 2000;
  const auto here = method(c.method).solve({system.matrix, *m.op, system.b, system.sum}, x, options,
                                           orthogonalization("ircgs").apply, {});
  EXPECT_NEAR(solved.result.iterations, here.iterations, 2 + here.iterations / 10);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DeviceMethods,
    testing::Values(
        Case{"poisson2d-5:n=23", "cg", "jacobi"}, Case{"jump2d:n=20", "cg", "chebyshev"},
        Case{"heat3d:n=8", "cg", "none"}, Case{"poisson3d-7:n=12", "cg", "amg"},
        Case{"elasticity3d:n=3", "cg", "block-jacobi"}, Case{"dg-advection:n=5", "gmres", "block-jacobi"},
        Case{"convection2d:n=20", "bicgstab", "block-jacobi"},
        Case{"convection2d:n=18", "gmres", "gmres-polynomial"},
        Case{"elliptic2d-5:n=25", "bicgstab", "gmres-polynomial"}, Case{"elasticity3d:n=4", "cg", "amg"},
        Case{"elasticity3d:n=3", "cg", "jacobi"}, Case{"convection2d:n=20", "bicgstab", "jacobi"},
        Case{"elliptic3d-7:n=9", "bicgstab", "none"}, Case{"elliptic2d-5:n=30", "bicgstab", "amg"},
        Case{"convection2d:n=18", "gmres", "jacobi"}, Case{"dg-advection:n=5", "gmres", "none"},
        Case{"elliptic2d-5:n=30", "gmres", "amg"}, Case{"poisson2d-5:n=23", "cg", "jacobi", "cuda"},
        Case{"poisson3d-7:n=12", "cg", "amg", "cuda"},
        Case{"convection2d:n=20", "bicgstab", "jacobi", "cuda"},
        Case{"convection2d:n=18", "gmres", "jacobi", "cuda"}));

TEST(DeviceCg, NamesWhatIsNotDefinite) {
  DeviceSystemOf system("stokes2d:n=6");
  const OnDevice solved = system.solve("cg", "jacobi", 1e-10);
  EXPECT_EQ(solved.result.stop, Stop::breakdown);
  EXPECT_TRUE(solved.result.indefinite || !solved.result.reason.empty());
  for (const double value : solved.x) EXPECT_TRUE(std::isfinite(value));
}

TEST(DeviceCg, StopsWhereItIsTold) {
  DeviceSystemOf system("poisson2d-5:n=30");
  const OnDevice few = system.solve("cg", "jacobi", 1e-12, 30, 7);
  EXPECT_EQ(few.result.stop, Stop::max_iterations);
  EXPECT_EQ(few.result.iterations, 7);
  const OnDevice yielding =
      system.solve("cg", "jacobi", 1e-12, 30, 2000, [](int k, double) { return k < 20; });
  EXPECT_EQ(yielding.result.stop, Stop::yielded);
  EXPECT_EQ(yielding.result.iterations, 20);
  EXPECT_NEAR(system.residual(yielding.x), yielding.result.residual_norm, 0.6 * system.b_norm());
}

TEST(DeviceGmres, RestartsAndKeepsWhatItHas) {
  DeviceSystemOf system("convection2d:n=16");
  const OnDevice solved = system.solve("gmres", "jacobi", 1e-8, 5);
  EXPECT_EQ(solved.result.stop, Stop::converged) << solved.result.reason;
  EXPECT_GT(solved.result.iterations, 5);
  EXPECT_LE(system.residual(solved.x), 1.01e-8 * system.b_norm());
}

TEST(DeviceMethods, StartAtTheSolution) {
  DeviceSystemOf system("poisson2d-5:n=8");
  const Array<double> exact = system.solve("cg", "jacobi", 1e-13).x;
  for (const auto& method : device_methods()) {
    Array<double> x = exact;
    MethodOptions options;
    options.target = 1e-6 * system.b_norm();
    const auto m = find_device_preconditioner("jacobi")->make(*system.there, system.sum, {});
    const auto result = method.solve({*system.there, *m.op, system.b, system.sum}, x, options, {});
    EXPECT_EQ(result.stop, Stop::converged) << method.name;
    EXPECT_EQ(result.iterations, 0) << method.name;
    EXPECT_EQ(x, exact) << method.name;
  }
}

TEST(DeviceMethods, NotANumberEndsThem) {
  DeviceSystemOf system("poisson2d-5:n=8");
  if (!system.b.empty()) system.b[0] = NAN;
  for (const auto& method : device_methods()) {
    Array<double> x(system.b.size(), 0.0);
    MethodOptions options;
    options.target = 1e-6;
    const auto m = find_device_preconditioner("jacobi")->make(*system.there, system.sum, {});
    const auto result = method.solve({*system.there, *m.op, system.b, system.sum}, x, options, {});
    EXPECT_EQ(result.stop, Stop::breakdown) << method.name;
  }
}

}  // namespace
}  // namespace ayatori::solvers
