#include "ayatori/eigen/solve.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/choose_reduction.hpp"
#include "ayatori/eigen/divide_and_conquer.hpp"
#include "ayatori/eigen/reduction.hpp"
#include "ayatori/eigen/standard_form.hpp"

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

/// Brings the largest element to [1, 2^step) by a power of 2^step, exactly but for elements that vanish
/// beside it. Gives the exponent of what it took out.
int normalize(DistributedDense& a, int step = 1) {
  const double largest = max_abs(a);
  if (largest == 0) return 0;
  const int whole = std::ilogb(largest);
  const int exponent = whole - (whole % step + step) % step;
  const double half = std::ldexp(1.0, -exponent / 2);  // the whole may be beyond the range of doubles
  const double rest = std::ldexp(1.0, -exponent + exponent / 2);
  for (double& value : a.values) value = value * half * rest;
  return exponent;
}

struct Pairs {
  std::vector<double> all_values;
  Range selected;
  Array<double> vectors;  ///< whole columns, as in a ColumnSpread

  std::span<const double> values() const {
    return std::span(all_values).subspan(selected.begin, selected.size());
  }
};

Block block_of(const comm::Comm& comm, std::int64_t n, Pairs& pairs) {
  const std::int64_t mine = split_evenly(pairs.selected.size(), comm.size(), comm.rank()).size();
  return {pairs.vectors.data(), n, mine, n};
}

/// Collective. The eigenpairs of T; `exponent` is that of the scale that T's eigenvalues are in.
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

/// Collective. The selected pairs of a matrix of size 1, which is destroyed; see solve_tridiagonal().
Pairs solve_standard(DistributedDense& a, const EigenOptions& options, int exponent, EigenTimes& times) {
  const std::int64_t n = a.order();
  const std::int64_t block = std::min(options.block, n);
  const Reduction& reduction = find_reduction(options.reduction, a.grid.all.size());
  const auto reduced = [&] {
    const ScopedTimer timer(times.tridiagonalization);
    return reduction.reduce(a, block, options.vectors);
  }();
  auto pairs = solve_tridiagonal(a.grid.all, reduced->tridiagonal(), options, exponent, times);
  if (options.vectors) {
    const ScopedTimer timer(times.back_transformation);
    reduced->back_transform(block_of(a.grid.all, n, pairs));
  }
  return pairs;
}

/// Collective. The largest of all ranks.
void take_slowest(const comm::Comm& comm, EigenTimes& times) {
  const std::initializer_list<double*> phases{
      &times.total,          &times.reduction,           &times.tridiagonalization, &times.tridiagonal_solve,
      &times.redistribution, &times.back_transformation, &times.back_substitution,  &times.verification};
  std::vector<double> seconds;
  for (const double* phase : phases) seconds.push_back(*phase);
  // A rank may have called no operation of a kind along a grid row or column of one rank: all others then did
  // neither.
  for (const auto& [operation, cost] : times.collectives) seconds.push_back(cost.seconds);
  comm.allreduce(std::span<double>(seconds), comm::ReduceOp::max);
  auto next = seconds.begin();
  for (double* phase : phases) *phase = *next++;
  for (auto& [operation, cost] : times.collectives) cost.seconds = *next++;
}

/// Throws InputError unless eigenvalues of `a` can be asked for.
void check_problem(const DistributedDense& a, const EigenOptions& options) {
  check(options, a.order(), a.grid.all.size());
  if (!std::ranges::all_of(a.values, [](double value) { return std::isfinite(value); }))
    throw InputError("the matrix has elements that are not finite numbers");
}

/// Collective. Eigenvalues in the user's scale, and the times of the slowest ranks.
void finish(const comm::Comm& comm, const Pairs& pairs, int exponent, EigenResult& result) {
  for (const double value : pairs.values()) result.values.push_back(std::ldexp(value, exponent));
  comm::agree(comm, [&] {
    if (std::ranges::all_of(result.values, [](double value) { return std::isfinite(value); })) return;
    throw InputError("eigenvalues are beyond the range of doubles: divide the matrix by its order");
  });
  take_slowest(comm, result.times);
}

}  // namespace

double memory_needed(std::int64_t n, int ranks, const EigenOptions& options, ProblemKind kind) {
  const double share = std::ceil(static_cast<double>(n) / ranks) * static_cast<double>(n);
  const double width = static_cast<double>(std::max<std::int64_t>(std::min(options.block, n), 64));
  const double panels = 4 * width * static_cast<double>(n);
  // A matrix, what it becomes, and at most: vectors twice, on their way three times.
  const int matrices = kind == ProblemKind::standard ? 2 : 4;
  const int reflectors = options.vectors && options.reduction == "two-stage" ? 1 : 0;  // of the second stage
  return 8 * (share * ((options.vectors ? matrices + 3 : matrices) + reflectors) + panels);
}

void check_memory(const comm::Comm& comm, std::int64_t n, const EigenOptions& options, ProblemKind kind) {
  const int ranks = comm.split_by_node().size();
  comm::agree(comm, [&] {
    const double needed = memory_needed(n, comm.size(), options, kind) * ranks;
    const auto free = static_cast<double>(available_memory());
    if (needed <= free) return;
    throw EnvironmentError(fmt::format(
        "out of memory: a dense matrix of order {} needs about {:.3g} GB on each node, {:.3g} are free: use "
        "more nodes, or a smaller problem",
        n, needed * 1e-9, free * 1e-9));
  });
}

bool fits_memory(const comm::Comm& comm, std::int64_t n, const EigenOptions& options, ProblemKind kind) {
  const int ranks = comm.split_by_node().size();
  const double needed = memory_needed(n, comm.size(), options, kind) * ranks;
  return !comm.any(needed > static_cast<double>(available_memory()));
}

void check(const EigenOptions& options, std::int64_t n, int ranks) {
  const Selection& selection = options.selection;
  if (n < 1) throw InputError("the matrix has no rows");
  if (options.block < 1) throw InputError(fmt::format("blocks of {} columns: 1 at least", options.block));
  if (options.reduction != "auto") find_reduction(options.reduction, ranks);
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
  const comm::Comm& comm = a.grid.all;
  comm::agree(comm, [&] { check_problem(a, options); });
  const auto timed = std::make_shared<TimedCollectives>(comm);
  const BlasThreads threads;

  const Stopwatch total;
  EigenResult result;
  const int exponent = normalize(a);
  Pairs pairs;
  EigenOptions chosen = options;
  chosen.reduction = result.reduction = choose_reduction(a, options, ProblemKind::standard);
  {
    DistributedDense reduced = a;
    reduced.grid = with_collectives(a.grid, timed);
    pairs = solve_standard(reduced, chosen, exponent, result.times);
  }
  result.times.total = total.seconds();
  result.times.collectives = timed->costs();
  {
    const ScopedTimer timer(result.times.verification);
    result.check.moments = moment_ratio(moments_of(a), a.order(), pairs.all_values);
    if (options.vectors) {
      result.vectors = {a.order(), pairs.selected.size(), std::move(pairs.vectors)};
      result.check.residual = residual_ratio(a, pairs.values(), result.vectors);
      result.check.orthogonality = orthogonality_ratio(comm, result.vectors);
    }
  }
  finish(comm, pairs, exponent, result);
  return result;
}

EigenResult solve_generalized(DistributedDense a, DistributedDense b, const EigenOptions& options) {
  const comm::Comm& comm = a.grid.all;
  comm::agree(comm, [&] {
    if (a.order() != b.order())
      throw InputError(
          fmt::format("the matrix on the left has {} rows, that on the right {}", a.order(), b.order()));
    check_problem(a, options);
    check_problem(b, options);
  });
  const std::int64_t n = a.order();
  const std::int64_t block = std::min(options.block, n);
  const auto timed = std::make_shared<TimedCollectives>(comm);
  const BlasThreads threads;

  const Stopwatch total;
  EigenResult result;
  EigenTimes& times = result.times;
  const int exponent_of_b = normalize(b, 2);  // even: vectors take half of it
  const int exponent_of_a = normalize(a);
  DistributedDense c = a;
  DistributedDense l = b;
  const ProcessGrid timed_grid = with_collectives(a.grid, timed);
  {
    const ScopedTimer timer(times.reduction);
    c.grid = l.grid = timed_grid;
    reduce_to_standard(c, l, block);
    c.grid = l.grid = a.grid;
  }
  {
    const ScopedTimer timer(times.verification);
    result.check.reduction = reduction_ratio(a, b, c, l);
  }
  const int exponent_of_c = normalize(c);
  const int exponent = exponent_of_a - exponent_of_b + exponent_of_c;
  const Moments moments = moments_of(c);
  EigenOptions chosen = options;
  chosen.reduction = result.reduction = choose_reduction(c, options, ProblemKind::generalized);
  c.grid = l.grid = timed_grid;
  Pairs pairs = solve_standard(c, chosen, exponent, times);
  Array<double>().swap(c.values);
  if (options.vectors) {
    const ScopedTimer timer(times.back_substitution);
    back_substitute(l, block, block_of(comm, n, pairs));
  }
  Array<double>().swap(l.values);
  times.total = total.seconds() - times.verification;
  times.collectives = timed->costs();
  {
    const ScopedTimer timer(times.verification);
    result.check.moments = moment_ratio(moments, n, pairs.all_values);
    if (options.vectors) {
      result.vectors = {n, pairs.selected.size(), std::move(pairs.vectors)};
      std::vector<double> values(pairs.values().begin(), pairs.values().end());
      for (double& value : values) value = std::ldexp(value, exponent_of_c);
      result.check.residual = residual_ratio(a, b, values, result.vectors);
      result.check.orthogonality = orthogonality_ratio(b, result.vectors);
      for (double& value : result.vectors.values) value = std::ldexp(value, -exponent_of_b / 2);
    }
  }
  finish(comm, pairs, exponent, result);
  return result;
}

}  // namespace ayatori::eigen
