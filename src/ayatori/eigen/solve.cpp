#include "ayatori/eigen/solve.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/back_transform.hpp"
#include "ayatori/eigen/divide_and_conquer.hpp"
#include "ayatori/eigen/tridiagonalize.hpp"

namespace ayatori::eigen {

namespace {

/// Of all eigenvalues, ascending, those selected; `exponent` is that of the scale they are in.
Range select(const Selection& selection, std::span<const double> values, int exponent) {
  const auto n = static_cast<std::int64_t>(values.size());
  switch (selection.kind) {
    case Selection::Kind::smallest:
      return {0, selection.count};
    case Selection::Kind::largest:
      return {n - selection.count, n};
    case Selection::Kind::range: {
      const auto in_user_scale = [&](double value) { return std::ldexp(value, exponent); };
      const auto begin = std::ranges::lower_bound(values, selection.lower, {}, in_user_scale);
      const auto end = std::ranges::upper_bound(values, selection.upper, {}, in_user_scale);
      return {begin - values.begin(), end - values.begin()};
    }
    case Selection::Kind::all:
      break;
  }
  return {0, n};
}

/// Brings the largest element to [1, 2) by a power of two, exactly but for elements that vanish beside it.
/// Gives the exponent of what it took out.
int normalize(DistributedDense& a) {
  const double largest = max_abs(a);
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest);
  const double half = std::ldexp(1.0, -exponent / 2);  // the whole may be beyond the range of doubles
  const double rest = std::ldexp(1.0, -exponent + exponent / 2);
  for (double& value : a.values) value = value * half * rest;
  return exponent;
}

struct Pairs {
  std::vector<double> all_values;
  Range selected;
  Array<double> vectors;
};

/// Collective. The eigenpairs of T.
Pairs solve_tridiagonal(const comm::Comm& comm, const Tridiagonal& t, const EigenOptions& options,
                        int exponent, EigenTimes& times) {
  const auto choose = [&](std::span<const double> values) {
    return select(options.selection, values, exponent);
  };
  std::optional<ScopedTimer> timer(times.tridiagonal_solve);
  if (!options.vectors) {
    std::vector<double> values = t.diagonal;
    std::vector<double> off = t.off_diagonal;
    comm::agree(comm, [&] {
      if (!tridiagonal_values(static_cast<std::int64_t>(values.size()), values.data(), off.data()))
        throw InternalError("QR iteration did not converge");
    });
    // Where ranks are of different kinds, they still have to select the same.
    comm.broadcast(std::span<double>(values), 0);
    const Range selected = choose(values);
    return {std::move(values), selected, {}};
  }
  auto pairs = divide_and_conquer(comm, t.diagonal, t.off_diagonal, choose);
  timer.emplace(times.redistribution);
  auto vectors = spread_by_columns(comm, pairs);
  return {std::move(pairs.values), pairs.selected, std::move(vectors)};
}

/// Collective. The largest of all ranks.
void take_slowest(const comm::Comm& comm, EigenTimes& times) {
  std::vector<double> seconds{times.total,          times.tridiagonalization,  times.tridiagonal_solve,
                              times.redistribution, times.back_transformation, times.verification};
  // A rank may have called no operation of a kind along a grid row or column of one rank: all others then did
  // neither.
  for (const auto& [operation, cost] : times.collectives) seconds.push_back(cost.seconds);
  comm.allreduce(std::span<double>(seconds), comm::ReduceOp::max);
  auto next = seconds.begin();
  for (double* value : {&times.total, &times.tridiagonalization, &times.tridiagonal_solve,
                        &times.redistribution, &times.back_transformation, &times.verification})
    *value = *next++;
  for (auto& [operation, cost] : times.collectives) cost.seconds = *next++;
}

}  // namespace

double memory_needed(std::int64_t n, int ranks, const EigenOptions& options) {
  const double share = std::ceil(static_cast<double>(n) / ranks) * static_cast<double>(n);
  const double width = static_cast<double>(std::max<std::int64_t>(std::min(options.block, n), 64));
  const double panels = 4 * width * static_cast<double>(n);
  // The matrix, what it becomes, and at most: vectors twice, on their way three times.
  return 8 * (share * (options.vectors ? 5 : 2) + panels);
}

void check_memory(const comm::Comm& comm, std::int64_t n, const EigenOptions& options) {
  const int ranks = comm.split_by_node().size();
  comm::agree(comm, [&] {
    const double needed = memory_needed(n, comm.size(), options) * ranks;
    const auto free = static_cast<double>(available_memory());
    if (needed <= free) return;
    throw EnvironmentError(fmt::format(
        "out of memory: a dense matrix of order {} needs about {:.3g} GB on each node, {:.3g} are free: use "
        "more nodes, or a smaller problem",
        n, needed * 1e-9, free * 1e-9));
  });
}

void check(const EigenOptions& options, std::int64_t n) {
  const Selection& selection = options.selection;
  if (n < 1) throw InputError("the matrix has no rows");
  if (options.block < 1) throw InputError(fmt::format("blocks of {} columns: 1 at least", options.block));
  const bool counts =
      selection.kind == Selection::Kind::smallest || selection.kind == Selection::Kind::largest;
  if (counts && (selection.count < 1 || selection.count > n)) {
    throw InputError(
        fmt::format("{} eigenpairs of a matrix of order {}: 1 to {} are possible", selection.count, n, n));
  }
  if (selection.kind == Selection::Kind::range && !(selection.lower <= selection.upper)) {
    throw InputError(fmt::format("the range from {} to {} is empty: the lower end comes first",
                                 selection.lower, selection.upper));
  }
}

EigenResult solve_symmetric(DistributedDense a, const EigenOptions& options) {
  comm::agree(a.grid.all, [&] {
    check(options, a.order());
    if (!std::ranges::all_of(a.values, [](double value) { return std::isfinite(value); }))
      throw InputError("the matrix has elements that are not finite numbers");
  });
  const comm::Comm untimed = a.grid.all;
  const auto timed = std::make_shared<TimedCollectives>(untimed);
  a.grid = with_collectives(a.grid, timed);
  const comm::Comm& comm = a.grid.all;
  const BlasThreads threads;
  const std::int64_t n = a.order();
  const std::int64_t block = std::min(options.block, n);

  const Stopwatch total;
  EigenResult result;
  EigenTimes& times = result.times;
  const int exponent = normalize(a);
  DistributedDense reduced = a;
  const auto t = [&] {
    const ScopedTimer timer(times.tridiagonalization);
    return tridiagonalize(reduced, block);
  }();
  auto pairs = solve_tridiagonal(comm, t, options, exponent, times);
  const std::int64_t selected = pairs.selected.size();
  if (options.vectors) {
    const ScopedTimer timer(times.back_transformation);
    const std::int64_t mine = split_evenly(selected, comm.size(), comm.rank()).size();
    back_transform(reduced, t.tau, block, {pairs.vectors.data(), n, mine, n});
    result.vectors = {n, selected, std::move(pairs.vectors)};
  }
  Array<double>().swap(reduced.values);
  times.total = total.seconds();
  times.collectives = timed->costs();

  const std::span<const double> values = std::span(pairs.all_values).subspan(pairs.selected.begin, selected);
  {
    const ScopedTimer timer(times.verification);
    result.check.moments = moment_ratio(a, pairs.all_values);
    if (options.vectors) {
      result.check.residual = residual_ratio(a, values, result.vectors);
      result.check.orthogonality = orthogonality_ratio(comm, result.vectors);
    }
  }
  for (const double value : values) result.values.push_back(std::ldexp(value, exponent));
  comm::agree(untimed, [&] {
    if (std::ranges::all_of(result.values, [](double value) { return std::isfinite(value); })) return;
    throw InputError("eigenvalues are beyond the range of doubles: divide the matrix by its order");
  });
  take_slowest(untimed, times);
  return result;
}

}  // namespace ayatori::eigen
