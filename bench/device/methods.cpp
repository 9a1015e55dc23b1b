#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/solvers/device/device_method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "bench/device/device.hpp"

namespace ayatori::bench::device {

namespace {

struct Case {
  const char* spec;
  const char* quick;
  const char* method;
  const char* preconditioner;
};

constexpr Case cases[] = {{"poisson2d-5:n=100", "poisson2d-5:n=30", "cg", "jacobi"},
                          {"poisson2d-5:n=220", "poisson2d-5:n=40", "cg", "jacobi"},
                          {"heat3d:n=36", "heat3d:n=9", "cg", "jacobi"},
                          {"poisson3d-7:n=160", "poisson3d-7:n=12", "cg", "jacobi"},
                          {"poisson3d-7:n=160", "poisson3d-7:n=12", "cg", "chebyshev"},
                          {"poisson3d-7:n=256", "poisson3d-7:n=16", "cg", "amg"},
                          {"tetrahedra3d:n=120", "tetrahedra3d:n=12", "cg", "amg"},
                          {"elasticity3d:n=50", "elasticity3d:n=7", "cg", "amg"},
                          {"jump3d:n=120", "jump3d:n=14", "cg", "amg"},
                          {"anisotropic2d:n=1500", "anisotropic2d:n=40", "cg", "amg"},
                          {"convection3d:n=150", "convection3d:n=12", "bicgstab", "jacobi"},
                          {"convection3d:n=150", "convection3d:n=12", "gmres", "jacobi"},
                          {"elliptic3d-7:n=130", "elliptic3d-7:n=12", "bicgstab", "amg"},
                          {"elliptic3d-7:n=130", "elliptic3d-7:n=12", "gmres", "amg"}};

constexpr double rtol = 1e-8;

struct Solved {
  solvers::MethodResult result;
  double seconds = 0;
  double residual = 0;
};

double norm(std::span<const double> v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

}  // namespace

bool run_methods(const comm::Comm& comm, gpu::Device& device, bool quick, nlohmann::json& results) {
  bool all_right = true;
  const solvers::GlobalSum sum(comm);
  fmt::print("{:20} {:8} {:9} {:>9} {:>6} {:>9} {:>10} {:>9} {:>9} {:>6} {:>10} {:>6}\n", "solve", "method",
             "with", "rows", "its", "residual", "us/it", "solve ms", "set-up ms", "its", "cpu us/it",
             "ratio");
  for (const Case& one : cases) {
    const std::string spec = quick ? one.quick : one.spec;
    const sparse::DistributedMatrix a(comm, io::generate(comm, spec), {.kernel = "run-sell"});
    const auto n = static_cast<std::size_t>(a.local_size());
    Array<double> b(n), r(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = random_uniform(3, static_cast<std::int64_t>(i)) - 0.5;
    solvers::MethodOptions options;
    options.target = rtol * norm(b);
    options.max_iterations = 3000;
    options.restart = 30;
    const auto judge = [&](std::span<const double> x) {
      a.apply(x, r);
      for (std::size_t i = 0; i < n; ++i) r[i] = b[i] - r[i];
      return norm(r) / norm(b);
    };

    Solved on_device, on_host;
    double set_up = 0, each_on_device = 0;
    {
      Array<double> x(n, 0.0);
      const Stopwatch watch;
      const solvers::DeviceMatrix there(device, a);
      const auto m = solvers::find_device_preconditioner(one.preconditioner)->make(there, sum, {});
      device.synchronize();
      set_up = watch.seconds();
      const solvers::DeviceSystem system{there, *m.op, b, sum};
      for (int run = 0; run < 2; ++run) {
        std::ranges::fill(x, 0.0);
        // From the second news on: x, b and what is recorded are there then.
        Stopwatch watch_between;
        int first = 0;
        double between = 0;
        int last = 0;
        const auto progress = [&](int iteration, double) {
          if (first == 0) {
            first = iteration;
            watch_between.restart();
          }
          last = iteration;
          between = watch_between.seconds();
          return true;
        };
        const Stopwatch of_solve;
        on_device.result = solvers::find_device_method(one.method)->solve(system, x, options, progress);
        on_device.seconds = of_solve.seconds();
        each_on_device = between / std::max(last - first, 1);
      }
      on_device.residual = judge(x);
    }
    {
      Array<double> x(n, 0.0);
      const auto m = solvers::preconditioner(one.preconditioner).make(a, sum, {});
      solvers::MethodOptions limited = options;
      // An iteration's time is all that is wanted of long ones.
      if (!quick) limited.max_iterations = std::min(on_device.result.iterations + 1, 60);
      const Stopwatch watch;
      on_host.result =
          solvers::method(one.method)
              .solve({a, *m.op, b, sum}, x, limited, solvers::orthogonalization("cgs").apply, {});
      on_host.seconds = watch.seconds();
    }
    const double each_on_host = on_host.seconds / std::max(on_host.result.iterations, 1);
    const bool claims = on_device.result.stop == solvers::Stop::converged;
    const bool is_right = claims && on_device.residual <= 1.01 * rtol;
    all_right = all_right && is_right;
    fmt::print("{:20} {:8} {:9} {:9} {:6} {:9.1e} {:10.1f} {:9.1f} {:9.1f} {:6} {:10.1f} {:6.1f} {}{}\n",
               spec, one.method, one.preconditioner, n, on_device.result.iterations, on_device.residual,
               1e6 * each_on_device, 1e3 * on_device.seconds, 1e3 * set_up, on_host.result.iterations,
               1e6 * each_on_host, each_on_host / each_on_device,
               is_right ? "" : "WRONG: ", is_right ? "" : on_device.result.reason);
    std::fflush(stdout);
    results.push_back({{"part", "method"},
                       {"system", spec},
                       {"method", one.method},
                       {"preconditioner", one.preconditioner},
                       {"rows", n},
                       {"iterations", on_device.result.iterations},
                       {"residual", on_device.residual},
                       {"seconds", on_device.seconds},
                       {"iteration_seconds", each_on_device},
                       {"set_up_seconds", set_up},
                       {"host_iterations", on_host.result.iterations},
                       {"host_seconds", on_host.seconds},
                       {"host_threads", max_threads()},
                       {"right", is_right}});
  }
  return all_right;
}

}  // namespace ayatori::bench::device
