#include "ayatori/eigen/solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/reduction/back_transform.hpp"
#include "ayatori/eigen/reduction/choose_reduction.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/eigen/refine.hpp"
#include "ayatori/eigen/standard_form.hpp"
#include "ayatori/eigen/tridiagonal/divide_and_conquer.hpp"

namespace ayatori::eigen {

namespace {

/// Those selected among all eigenvalues, ascending; `exponent` is that of the scale they are in.
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
  if (exponent != 0) {
    for (double& value : a.values) value = value * half * rest;
  }
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

/// One eigenproblem of standard form, and what is noted about its solution.
struct Task {
  const EigenOptions& options;
  ProblemKind kind;  ///< that it came from
  int exponent;      ///< exponent of the scale that its eigenvalues are in
  ProcessGrid grid;  ///< whose collective operations are timed
  EigenResult& result;
};

template <class T>
std::vector<double> as_doubles(std::vector<T> values) {
  if constexpr (std::is_same_v<T, double>) return values;
  return {values.begin(), values.end()};
}

template <class T>
Array<double> as_doubles(Array<T> values) {
  if constexpr (std::is_same_v<T, double>) return values;
  return {values.begin(), values.end()};
}

/// Collective. All eigenvalues of T, without vectors.
template <class T>
Pairs tridiagonal_values_of(const comm::Comm& comm, const TridiagonalOf<T>& t, const Task& task) {
  std::vector<T> values = t.diagonal;
  std::vector<T> off = t.off_diagonal;
  comm::agree(comm, [&] {
    if (!tridiagonal_values<T>(static_cast<std::int64_t>(values.size()), values.data(), off.data()))
      throw InternalError("QR iteration did not converge");
  });
  // Where ranks are of different kinds, they still have to select the same.
  comm.broadcast(std::span<T>(values), 0);
  Pairs pairs{as_doubles(std::move(values)), {}, {}};
  pairs.selected = select(task.options.selection, pairs.all_values, task.exponent);
  return pairs;
}

/// Collective. The selected pairs of a matrix of size 1, which is destroyed, in its own numbers.
template <class T>
Pairs solve_in(DenseOf<T>& a, const Task& task) {
  EigenOptions options = task.options;
  EigenTimes& times = task.result.times;
  options.reduction = task.result.reduction = choose_reduction(a, options, task.kind);
  a.grid = task.grid;
  const comm::Comm& comm = a.grid.all;
  const std::int64_t n = a.order();
  const std::int64_t block = std::min(options.block, n);
  const auto& reduction = find_reduction<T>(options.reduction, comm.size());
  const auto reduced = [&] {
    const ScopedTimer timer(times.tridiagonalization);
    return reduction.reduce(a, block, options.vectors);
  }();
  const TridiagonalOf<T>& t = reduced->tridiagonal();
  std::optional<ScopedTimer> timer(times.tridiagonal_solve);
  if (!options.vectors) return tridiagonal_values_of(comm, t, task);
  const auto choose = [&](std::span<const T> values) {
    return select(options.selection, as_doubles(std::vector<T>(values.begin(), values.end())), task.exponent);
  };
  auto pairs = divide_and_conquer(comm, t.diagonal, t.off_diagonal, choose);
  timer.emplace(times.redistribution);
  auto vectors = spread_by_columns(comm, pairs);
  timer.emplace(times.back_transformation);
  const std::int64_t mine = split_evenly(pairs.selected.size(), comm.size(), comm.rank()).size();
  reduced->back_transform({vectors.data(), n, mine, n});
  return {as_doubles(std::move(pairs.values)), pairs.selected, as_doubles(std::move(vectors))};
}

/// Collective. All pairs in floats, refined; or in doubles, if that does not converge.
Pairs solve_mixed(DistributedDense& a, const Task& task) {
  Pairs pairs = [&] {
    auto single = convert<float>(a);
    return solve_in(single, task);
  }();
  {
    const ScopedTimer timer(task.result.times.refinement);
    const ProcessGrid untimed = std::exchange(a.grid, task.grid);
    if (task.kind == ProblemKind::generalized) mirror_lower(a);  // its reduction leaves the lower triangle
    ColumnSpread x{a.order(), pairs.selected.size(), std::move(pairs.vectors)};
    const Refinement refined = refine(a, pairs.all_values, x);
    a.grid = untimed;
    pairs.vectors = std::move(x.values);
    task.result.refinement_steps = refined.steps;
    if (refined.converged) return pairs;
  }
  Array<double>().swap(pairs.vectors);
  task.result.precision = Precision::float64;
  return solve_in(a, task);
}

/// Collective. The selected pairs of a matrix of size 1.
Pairs solve_standard(DistributedDense a, const Task& task) {
  task.result.precision = task.options.precision;
  if (task.options.precision == Precision::float64) return solve_in(a, task);
  if (task.options.precision == Precision::mixed) return solve_mixed(a, task);
  auto single = convert<float>(a);
  Array<double>().swap(a.values);
  return solve_in(single, task);
}

/// Collective. The largest of all ranks.
void take_slowest(const comm::Comm& comm, EigenTimes& times) {
  const std::initializer_list<double*> phases{
      &times.total,          &times.reduction,           &times.tridiagonalization, &times.tridiagonal_solve,
      &times.redistribution, &times.back_transformation, &times.back_substitution,  &times.refinement,
      &times.verification};
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

/// Collective. Eigenvalues in the user's scale, ratios in the eps of the numbers they came by, and the times
/// of the slowest ranks.
void finish(const comm::Comm& comm, const Pairs& pairs, int exponent, EigenResult& result) {
  if (result.precision == Precision::float32) {
    constexpr double fewer_digits =
        std::numeric_limits<double>::epsilon() / std::numeric_limits<float>::epsilon();
    for (double* ratio : {&result.check.residual, &result.check.orthogonality, &result.check.moments})
      *ratio *= fewer_digits;
  }
  for (const double value : pairs.values()) result.values.push_back(std::ldexp(value, exponent));
  comm::agree(comm, [&] {
    if (std::ranges::all_of(result.values, [](double value) { return std::isfinite(value); })) return;
    throw InputError("eigenvalues are beyond the range of doubles: divide the matrix by its order");
  });
  take_slowest(comm, result.times);
}

}  // namespace

Precision parse_precision(std::string_view name) {
  for (const auto precision : {Precision::float64, Precision::float32, Precision::mixed}) {
    if (name_of(precision) == name) return precision;
  }
  throw InputError(fmt::format("precision '{}': there are double, float, mixed", name));
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::float32:
      return "float";
    case Precision::mixed:
      return "mixed";
    case Precision::float64:
      break;
  }
  return "double";
}

double memory_needed(std::int64_t n, int ranks, const EigenOptions& options, ProblemKind kind) {
  const double share = std::ceil(static_cast<double>(n) / ranks) * static_cast<double>(n);
  const double width =
      static_cast<double>(std::max<std::int64_t>(std::min(panels_together * options.block, n), 64));
  const double panels = 4 * width * static_cast<double>(n);
  // A matrix, what it becomes, and at most: vectors twice, on their way three times.
  const int matrices = kind == ProblemKind::standard ? 2 : 4;
  const int refined = options.precision == Precision::mixed ? 2 : 0;                   // A X, S, R, X + X E
  const int reflectors = options.vectors && options.reduction == "two-stage" ? 1 : 0;  // the second stage's
  return 8 * (share * ((options.vectors ? matrices + 3 : matrices) + reflectors + refined) + panels);
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
  if (options.precision == Precision::mixed && (!options.vectors || selection.kind != Selection::Kind::all))
    throw InputError("mixed precision refines all pairs with their vectors: ask for these, or for another");
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
  Pairs pairs =
      solve_standard(a, {options, ProblemKind::standard, exponent, with_collectives(a.grid, timed), result});
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
  Pairs pairs =
      solve_standard(std::move(c), {options, ProblemKind::generalized, exponent, timed_grid, result});
  if (options.vectors) {
    const ScopedTimer timer(times.back_substitution);
    l.grid = timed_grid;
    const std::int64_t mine = split_evenly(pairs.selected.size(), comm.size(), comm.rank()).size();
    back_substitute(l, block, {pairs.vectors.data(), n, mine, n});
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
