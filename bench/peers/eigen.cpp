// eigen_peers N REPEATS [BLOCK]: `solve_symmetric` beside LAPACK's dsyevd and dsyevr on the same matrix, one
// after the other, REPEATS times. LAPACK runs on rank 0 alone while the others wait. Prints the least and the
// median of the times, and their ratios.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/eigen/test_matrix.hpp"

extern "C" {
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dsyevr_(const char* job, const char* range, const char* uplo, const int* n, double* a, const int* lda,
             const double* vl, const double* vu, const int* il, const int* iu, const double* abstol, int* m,
             double* w, double* z, const int* ldz, int* isuppz, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
}

namespace {

using namespace ayatori;

/// Calls a LAPACK routine twice: for the sizes of its work space, and to work.
void with_work_space(
    const std::function<void(double* work, const int* lwork, int* iwork, const int* liwork)>& call) {
  double size = 0;
  int integers = 0;
  const int ask = -1;
  call(&size, &ask, &integers, &ask);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(integers);
  const int lwork = static_cast<int>(size);
  call(work.data(), &lwork, iwork.data(), &integers);
}

std::vector<double> by_dsyevd(std::vector<double> a, int n) {
  std::vector<double> w(n);
  int info = 0;
  with_work_space([&](double* work, const int* lwork, int* iwork, const int* liwork) {
    dsyevd_("V", "L", &n, a.data(), &n, w.data(), work, lwork, iwork, liwork, &info);
  });
  return w;
}

std::vector<double> by_dsyevr(std::vector<double> a, int n) {
  std::vector<double> w(n);
  std::vector<double> z(a.size());
  std::vector<int> support(2 * w.size());
  const double none = 0;
  const int zero = 0;
  int found = 0;
  int info = 0;
  with_work_space([&](double* work, const int* lwork, int* iwork, const int* liwork) {
    dsyevr_("V", "A", "L", &n, a.data(), &n, &none, &none, &zero, &zero, &none, &found, w.data(), z.data(),
            &n, support.data(), work, lwork, iwork, liwork, &info);
  });
  return w;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  const comm::Environment environment(argc, argv);
  const auto world = comm::Comm::world();
  const int threads = comm::set_threads(world, 0);
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 3;
  const eigen::EigenOptions options{
      .selection = {}, .vectors = true, .block = argc > 3 ? std::atoll(argv[3]) : 32};
  const auto grid = eigen::make_grid(world, {});
  const auto a = eigen::make_test_matrix(grid, {n, "uniform", 1, 1});
  const auto gathered = eigen::gather_columns(a, {0, n}, 0);
  const std::vector<double> dense(gathered.begin(), gathered.end());

  std::vector<double> ours;
  std::vector<double> dsyevd;
  std::vector<double> dsyevr;
  bool is_good = true;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::vector<double> reference;
    if (world.rank() == 0) {
      const eigen::BlasThreads blas_threads;
      Stopwatch watch;
      reference = by_dsyevd(dense, static_cast<int>(n));
      dsyevd.push_back(watch.seconds());
      watch.restart();
      by_dsyevr(dense, static_cast<int>(n));
      dsyevr.push_back(watch.seconds());
    }
    world.barrier();
    const auto result = eigen::solve_symmetric(a, options);
    ours.push_back(result.times.total);
    is_good = is_good && result.check.passed();
    if (world.rank() == 0) is_good = is_good && distance(result.values, reference) < 1e-12;
  }
  if (world.rank() != 0) return 0;
  const auto row = [&](const char* name, const std::vector<double>& seconds) {
    const Spread times = spread(seconds);
    fmt::print("{:8} n={} ranks={} threads={}: least {:.3f} s, median {:.3f} s, {:.2f} of ours\n", name, n,
               world.size(), threads, times.min, times.median, times.min / spread(ours).min);
  };
  row("ayatori", ours);
  row("dsyevd", dsyevd);
  row("dsyevr", dsyevr);
  if (!is_good) fmt::print("A RESULT IS WRONG\n");
  return is_good ? 0 : 1;
}
