// npb_peers CLASS REPEATS [KERNEL]: `NpbCg` beside CG as the NAS specification writes it: compressed sparse
// rows with 32-bit columns, each row one sum, every loop by itself. On one rank with OMP_NUM_THREADS threads,
// by turns (A B, B A, ...), each run verified. Prints the least and the median of the times, and ratios.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/environment.hpp"
#include "bench/npb/cg.hpp"
#include "bench/npb/matrix.hpp"

namespace {

using namespace ayatori;

/// The benchmark by the letter.
class PlainCg {
 public:
  PlainCg(const sparse::Csr& matrix, const bench::NpbClass& size)
      : size_(size),
        rows_(matrix.rows),
        start_(matrix.row_start.size()),
        column_(matrix.column.size()),
        value_(matrix.value.size()),
        x_(rows_),
        z_(rows_),
        p_(rows_),
        q_(rows_),
        r_(rows_) {
#pragma omp parallel for
    for (int i = 0; i < rows_; ++i) {
      start_[i + 1] = static_cast<int>(matrix.row_start[i + 1]);
      for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
        column_[k] = matrix.column[k], value_[k] = matrix.value[k];
    }
    start_[0] = 0;
  }

  /// Seconds of the timed part. Throws InternalError unless zeta is right.
  double run() {
    std::ranges::fill(x_, 1);
    iterate();
    std::ranges::fill(x_, 1);
    const Stopwatch watch;
    double zeta = 0;
    for (int k = 0; k < size_.iterations; ++k) zeta = iterate();
    const double seconds = watch.seconds();
    if (std::abs(zeta - size_.reference_zeta) > 1e-10 * size_.reference_zeta)
      throw InternalError(fmt::format("the plain loops give zeta {:.13f}", zeta));
    return seconds;
  }

 private:
  void multiply(const Array<double>& from, Array<double>& to) {
#pragma omp parallel for
    for (int i = 0; i < rows_; ++i) {
      double sum = 0;
      for (int k = start_[i]; k < start_[i + 1]; ++k) sum += value_[k] * from[column_[k]];
      to[i] = sum;
    }
  }

  /// One step of the inverse iteration; its zeta.
  double iterate() {
    double rho = 0;
#pragma omp parallel for reduction(+ : rho)
    for (int i = 0; i < rows_; ++i) {
      z_[i] = 0;
      r_[i] = p_[i] = x_[i];
      rho += r_[i] * r_[i];
    }
    for (int step = 0; step < 25; ++step) {
      multiply(p_, q_);
      double curvature = 0;
#pragma omp parallel for reduction(+ : curvature)
      for (int i = 0; i < rows_; ++i) curvature += p_[i] * q_[i];
      const double alpha = rho / curvature;
      double next = 0;
#pragma omp parallel for reduction(+ : next)
      for (int i = 0; i < rows_; ++i) {
        z_[i] += alpha * p_[i];
        r_[i] -= alpha * q_[i];
        next += r_[i] * r_[i];
      }
      const double beta = next / rho;
      rho = next;
#pragma omp parallel for
      for (int i = 0; i < rows_; ++i) p_[i] = r_[i] + beta * p_[i];
    }
    multiply(z_, r_);
    double xz = 0;
    double zz = 0;
#pragma omp parallel for reduction(+ : xz, zz)
    for (int i = 0; i < rows_; ++i) xz += x_[i] * z_[i], zz += z_[i] * z_[i];
    const double scale = 1 / std::sqrt(zz);
#pragma omp parallel for
    for (int i = 0; i < rows_; ++i) x_[i] = scale * z_[i];
    return size_.shift + 1 / xz;
  }

  const bench::NpbClass& size_;
  int rows_;
  Array<int> start_;
  Array<int> column_;
  Array<double> value_;
  Array<double> x_, z_, p_, q_, r_;
};

/// Times of the runs of one program.
struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;  ///< time of all threads, which other work on the machine disturbs less

  template <class Run>
  void add(Run&& run) {
    const std::clock_t before = std::clock();
    wall.push_back(run());
    cpu.push_back(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
};

void print_ratios(const char* what, const std::vector<double>& ours, const std::vector<double>& plain) {
  const Spread a = spread(ours);
  const Spread b = spread(plain);
  fmt::print("{}: ours {:.4f} s (median {:.4f}), plain {:.4f} s (median {:.4f}); plain / ours {:.2f} of the ",
             what, a.min, a.median, b.min, b.median, b.min / a.min);
  fmt::print("least, {:.2f} of the medians\n", b.median / a.median);
}

void compare(const std::string& name, int repeats, const std::string& kernel) {
  const auto& size = bench::npb_class(name);
  bench::NpbCg cg(comm::Comm::self(), size, {kernel, "auto", "auto"});
  PlainCg reference(bench::npb_matrix(comm::Comm::self(), size).interior, size);
  Times ours;
  Times plain;
  for (int k = 0; k < repeats; ++k) {
    if (k % 2 == 0) plain.add([&] { return reference.run(); });
    ours.add([&] { return cg.run().seconds; });
    if (k % 2 == 1) plain.add([&] { return reference.run(); });
  }
  fmt::print("class {}, threads: {}, kernel {}, reductions: {}\n", name, max_threads(), cg.product().kernel,
             cg.reductions());
  print_ratios("wall clock", ours.wall, plain.wall);
  print_ratios("CPU, untimed iteration included", ours.cpu, plain.cpu);
}

}  // namespace

int main(int argc, char** argv) {
  const comm::Environment environment(argc, argv);
  if (argc < 3 || argc > 4) {
    fmt::print(stderr, "usage: npb_peers CLASS REPEATS [KERNEL]\n");
    return 2;
  }
  try {
    compare(argv[1], std::max(1, std::atoi(argv[2])), argc > 3 ? argv[3] : "auto");
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "npb_peers: {}\n", error.what());
    return static_cast<int>(error.kind());
  }
}
