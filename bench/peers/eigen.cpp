// eigen_peers N REPEATS [BLOCK]: `solve_symmetric` as it is by default, by each of its reductions and in each
// precision, beside LAPACK and, where their libraries are found, beside
// ScaLAPACK and ELPA: all pairs of the same matrix, one solver after the other, in turn from the first and
// from the last, REPEATS times. LAPACK runs on rank 0 alone while the others wait. Prints the least and the
// median of the times, and their ratios to ours.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "eigen_peer.hpp"

namespace {

using namespace ayatori;

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Adds to `verification` the seconds of what the others do not do.
bench::EigenPeer ours(const std::string& name, const eigen::DistributedDense& a,
                      const eigen::EigenOptions& options, double& verification) {
  const bool is_single = options.precision == eigen::Precision::float32;
  return {name, true,
          [&, options](const std::vector<double>&, int) {
            return [&, options, copy = a]() mutable {
              const auto result = eigen::solve_symmetric(std::move(copy), options);
              verification += result.times.verification;
              return result.values;
            };
          },
          is_single ? 1e-4 : 1e-12};
}

std::vector<bench::EigenPeer> all_of_ours(const eigen::DistributedDense& a,
                                          const eigen::EigenOptions& options, double& verification) {
  std::vector<bench::EigenPeer> solvers{ours("ayatori", a, options, verification)};
  for (const eigen::Reduction& reduction : eigen::reductions()) {
    eigen::EigenOptions other = options;
    other.reduction = reduction.name;
    solvers.push_back(ours(other.reduction, a, other, verification));
  }
  for (const auto precision : {eigen::Precision::float32, eigen::Precision::mixed}) {
    eigen::EigenOptions other = options;
    other.precision = precision;
    solvers.push_back(ours(std::string(eigen::name_of(precision)), a, other, verification));
  }
  return solvers;
}

std::vector<bench::EigenPeer> all_solvers([[maybe_unused]] eigen::GridShape shape) {
  std::vector<bench::EigenPeer> solvers = bench::lapack_peers();
  const auto add = [&](std::vector<bench::EigenPeer> more) {
    solvers.insert(solvers.end(), more.begin(), more.end());
  };
#ifdef AYATORI_SCALAPACK
  add(bench::scalapack_peers(shape));
#endif
#ifdef AYATORI_ELPA
  add(bench::elpa_peers(shape));
#endif
  add({});
  return solvers;
}

}  // namespace

int main(int argc, char** argv) {
  const comm::Environment environment(argc, argv);
  const auto world = comm::Comm::world();
  const int threads = comm::set_threads(world, 0);
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  const eigen::EigenOptions options{
      .selection = {}, .vectors = true, .block = argc > 3 ? std::atoll(argv[3]) : 32};
  const auto grid = eigen::make_grid(world, {});
  const eigen::TestMatrix spec{n, "uniform", 1, 1};
  const auto a = eigen::make_test_matrix(grid, spec);
  const auto expected = eigen::eigenvalues_of(spec);
  const auto gathered = eigen::gather_columns(a, {0, n}, 0);
  const std::vector<double> dense(gathered.begin(), gathered.end());

  double verification = 0;
  auto solvers = all_of_ours(a, options, verification);
  for (auto& peer : all_solvers(grid.shape)) solvers.push_back(std::move(peer));
  std::vector<std::vector<double>> seconds(solvers.size());
  bool is_good = true;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t turn = 0; turn < solvers.size(); ++turn) {
      const std::size_t which = repeat % 2 == 0 ? turn : solvers.size() - 1 - turn;
      const auto& solver = solvers[which];
      world.barrier();
      if (solver.is_parallel || world.rank() == 0) {
        const eigen::BlasThreads blas_threads;
        const auto solve = solver.prepare(dense, n);
        if (solver.is_parallel) world.barrier();
        const Stopwatch watch;
        const auto values = solve();
        seconds[which].push_back(watch.seconds() - std::exchange(verification, 0));
        is_good = is_good && distance(values, expected) < solver.tolerance;
      }
      world.barrier();
    }
  }
  is_good = !world.any(!is_good);
  if (world.rank() != 0) return is_good ? 0 : 1;
  const double least = spread(seconds[0]).min;
  for (std::size_t which = 0; which < solvers.size(); ++which) {
    const Spread times = spread(seconds[which]);
    fmt::print("{:9} n={} ranks={} threads={}: least {:.3f} s, median {:.3f} s, {:.2f} of ours\n",
               solvers[which].name, n, world.size(), threads, times.min, times.median, times.min / least);
  }
  if (!is_good) fmt::print("A RESULT IS WRONG\n");
  return is_good ? 0 : 1;
}
