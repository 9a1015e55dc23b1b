// spmv_libraries FILE REPETITIONS: products with the square matrix of a PETSc file by the libraries that were
// found, by OMP_NUM_THREADS threads in one process, and by ours as the cycles of multigrid have them, in
// double and in float. Every product is checked; a timed one follows an untimed one. Prints JSON: median and
// least seconds of each.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/io/petsc_binary.hpp"
#include "ayatori/solvers/preconditioners/multigrid/sliced.hpp"
#include "spmv_peer.hpp"

namespace {

using namespace ayatori;

sparse::Csr read(const comm::Comm& comm, const std::string& path) {
  const auto block = io::read_petsc_matrix(comm, path).block;
  sparse::Csr a;
  a.rows = static_cast<std::int32_t>(block.global_rows);
  a.columns = static_cast<std::int32_t>(block.global_columns);
  if (a.rows != a.columns)
    throw InputError(fmt::format("{}: {} rows, {} columns: not square", path, a.rows, a.columns));
  a.row_start = block.row_start;
  a.value = block.value;
  for (const auto column : block.column) a.column.push_back(static_cast<std::int32_t>(column));
  return a;
}

bool is_symmetric(const sparse::Csr& a) {
  const auto at = [&](std::int32_t i, std::int32_t j) {
    const auto* begin = a.column.data() + a.row_start[i];
    const auto* end = a.column.data() + a.row_start[i + 1];
    const auto* found = std::lower_bound(begin, end, j);
    return found == end || *found != j ? 0.0 : a.value[found - a.column.data()];
  };
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      if (at(a.column[k], i) != a.value[k]) return false;
    }
  }
  return true;
}

/// Whether all nonzeros lie in full blocks of B x B.
template <int B>
std::optional<solvers::amg::BlockCsr<B>> blocks_of(const sparse::Csr& a) {
  if (a.rows % B != 0) return std::nullopt;
  solvers::amg::BlockCsr<B> blocks{a.rows / B, a.rows / B, {0}, {}, {}};
  for (std::int64_t row = 0; row < a.rows; row += B) {
    const auto length = a.row_start[row + 1] - a.row_start[row];
    if (length % B != 0) return std::nullopt;
    for (std::int64_t k = 0; k < length; k += B) {
      const auto first = a.column[a.row_start[row] + k];
      if (first % B != 0) return std::nullopt;
      blocks.column.push_back(first / B);
      for (int r = 0; r < B; ++r) {
        const auto from = a.row_start[row + r] + k;
        if (a.row_start[row + r + 1] - a.row_start[row + r] != length) return std::nullopt;
        for (int c = 0; c < B; ++c) {
          if (a.column[from + c] != first + c) return std::nullopt;
          blocks.value.push_back(a.value[from + c]);
        }
      }
    }
    blocks.row_start.push_back(blocks.blocks());
  }
  return blocks;
}

template <int B, class T>
void with_sliced(const solvers::amg::BlockCsr<B>& a, const bench::SpmvProblem& problem,
                 const bench::UsePeer& use) {
  namespace amg = solvers::amg;
  constexpr bool is_single = std::is_same_v<T, float>;
  const amg::Shape shape(a.rows, 0);
  const amg::Sliced<B, T> sliced(a, shape);
  Array<T> x(shape.stride * B, T{});
  Array<T> y(shape.stride * B, T{});
  for (std::int32_t row = 0; row < problem.matrix.rows; ++row)
    x[row % B * shape.stride + row / B] = static_cast<T>(problem.x[row]);
  use({fmt::format("sliced {}{}", is_single ? "float" : "double", B > 1 ? fmt::format(" {0}x{0}", B) : ""),
       is_single ? 1e-5 : 1e-12,
       [&] {
         sliced.multiply(x.data(), [&](std::int64_t s, const amg::Slice<T>* sums) {
           for (int c = 0; c < B; ++c) amg::store_slice(&y[c * shape.stride + s * amg::slice_rows], sums[c]);
         });
       },
       [&](std::int32_t row) { return static_cast<double>(y[row % B * shape.stride + row / B]); }});
}

void with_ours(const bench::SpmvProblem& problem, const bench::UsePeer& use) {
  const auto both = [&](const auto& blocks) {
    if (!blocks) return;
    constexpr int b = std::remove_cvref_t<decltype(*blocks)>::block_entries == 9 ? 3 : 1;
    with_sliced<b, double>(*blocks, problem, use);
    with_sliced<b, float>(*blocks, problem, use);
  };
  both(blocks_of<1>(problem.matrix));
  both(blocks_of<3>(problem.matrix));
}

/// Throws InternalError where a product is wrong.
void check(const bench::SpmvPeer& peer, const bench::SpmvProblem& problem, std::span<const double> expected,
           std::span<const double> scale) {
  for (std::int32_t row = 0; row < problem.matrix.rows; ++row) {
    if (!(std::abs(peer.result(row) - expected[row]) <= peer.tolerance * scale[row]))
      throw InternalError(fmt::format("the product of {} is wrong in row {}: {} for {}", peer.name, row + 1,
                                      peer.result(row), expected[row]));
  }
}

nlohmann::ordered_json measure(const bench::SpmvProblem& problem, int repetitions) {
  const auto& a = problem.matrix;
  std::vector<double> expected(a.rows);
  sparse::multiply_reference(a, problem.x, expected);
  std::vector<double> scale(a.rows, 0.0);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k) scale[i] += std::abs(a.value[k]);
  }
  nlohmann::ordered_json found;
  const bench::UsePeer use = [&](const bench::SpmvPeer& peer) {
    peer.multiply();
    check(peer, problem, expected, scale);
    std::vector<double> seconds;
    for (int k = 0; k < repetitions; ++k) {
      peer.multiply();
      const Stopwatch watch;
      peer.multiply();
      seconds.push_back(watch.seconds());
    }
    const auto times = spread(seconds);
    found[peer.name] = {times.median, times.min};
  };
  with_ours(problem, use);
#ifdef AYATORI_EIGEN3
  bench::with_eigen(problem, use);
#endif
#ifdef AYATORI_LIBRSB
  bench::with_librsb(problem, use);
#endif
  return found;
}

}  // namespace

int main(int argc, char** argv) try {
  const comm::Environment environment(argc, argv);
  const auto world = comm::Comm::world();
  const int threads = comm::set_threads(world, 0);
  if (argc != 3 || world.size() != 1)
    throw InputError("usage: spmv_libraries FILE REPETITIONS, in one process");
  const auto a = read(world, argv[1]);
  Array<double> x(a.rows);
  for (std::int32_t i = 0; i < a.rows; ++i) x[i] = 2 * random_uniform(1, i) - 1;
  fmt::print("{}\n", measure({a, x, is_symmetric(a), threads}, std::atoi(argv[2])).dump());
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "spmv_libraries: {}\n", error.what());
  return 2;
}
