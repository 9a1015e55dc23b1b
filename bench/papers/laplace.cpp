#include "bench/papers/laplace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "bench/kernels/stream.hpp"

namespace ayatori::bench {

namespace {

constexpr std::array forms{
    LaplaceForm{"two-sided", "messages, then sweeps", false, false},
    LaplaceForm{"one-sided", "puts into the neighbours' memory, then sweeps", true, false},
    LaplaceForm{"overlap", "messages travel while the inside is swept", false, true},
    LaplaceForm{"one-sided-overlap", "puts travel while the inside is swept", true, true},
};

/// own without `by` rows and columns at the sides where other ranks are.
Rect inside_of(const Rect& own, std::int64_t n, std::int64_t by) {
  const auto shrink = [&](const Range& range) {
    return Range{range.begin + (range.begin > 0 ? by : 0), range.end - (range.end < n ? by : 0)};
  };
  return {shrink(own.rows), shrink(own.columns)};
}

/// own without inside, in up to four pieces.
std::vector<Rect> around(const Rect& own, const Rect& inside) {
  if (inside.empty()) return {own};
  return {{{own.rows.begin, inside.rows.begin}, own.columns},
          {inside.rows, {own.columns.begin, inside.columns.begin}},
          {inside.rows, {inside.columns.end, own.columns.end}},
          {{inside.rows.end, own.rows.end}, own.columns}};
}

/// What the options say, found to be possible.
struct Plan {
  RankGrid grid;
  std::int64_t smallest;  ///< rows or columns of a block
  const LaplaceForm* form;
};

Plan make_plan(int ranks, const LaplaceOptions& options) {
  if (options.n < 1 || options.n > std::numeric_limits<int>::max())
    throw InputError(fmt::format("Laplace grid of size {}: choose 1 to 2^31 - 1", options.n));
  const auto grid = most_square_grid(ranks, options.n);
  if (!grid)
    throw InputError(fmt::format(
        "a Laplace grid of {0} x {0} points cannot be cut for {1} ranks: use fewer ranks", options.n, ranks));
  const std::int64_t smallest = options.n / grid->rows;
  if (options.depth < 0 || options.depth > smallest)
    throw InputError(
        fmt::format("depth {}: a rank has {} rows, choose 1 to that, or 0", options.depth, smallest));
  if (options.sweeps < 1) throw InputError("Laplace: at least one sweep");
  if (options.stream_elements < 0)
    throw InputError("Laplace: STREAM vectors cannot have fewer elements than none");
  if (options.repetitions < 1) throw InputError("Laplace: at least one repetition");
  return {*grid, smallest, &find_named(laplace_forms(), options.form, "form")};
}

template <class Value>
void fill(GridBlock& block, const Value& value) {
  const Rect& own = block.own();
  parallel_for(own.rows.size(), [&](std::int64_t r) {
    const std::int64_t i = own.rows.begin + r;
    for (std::int64_t j = own.columns.begin; j < own.columns.end; ++j) *block.at(i, j) = value(i, j);
  });
}

/// Collective. Sweeps of a small grid of random values against plain ones, with passes that are not full.
void check_small(const comm::Comm& comm, const Plan& plan, std::int64_t n, int depth) {
  const std::int64_t small = std::min<std::int64_t>(n, std::int64_t{plan.grid.rows} * depth + 7);
  const int sweeps = 2 * depth + depth / 2 + 1;
  Laplace laplace(comm, plan.grid, small, depth, *plan.form);
  const auto random = [&](std::int64_t i, std::int64_t j) { return random_uniform(6, i * small + j) - 0.5; };
  fill(laplace.values(), random);
  double unused = 0;
  laplace.run(sweeps, unused, unused);
  comm::agree(comm, [&] {
    std::vector<double> expected(small * small);
    for (std::int64_t e = 0; e < small * small; ++e) expected[e] = random(e / small, e % small);
    for (int s = 0; s < sweeps; ++s) expected = plain_sweep(expected, small);
    const Rect& own = laplace.values().own();
    for (std::int64_t i = own.rows.begin; i < own.rows.end; ++i) {
      for (std::int64_t j = own.columns.begin; j < own.columns.end; ++j) {
        if (*laplace.values().at(i, j) != expected[i * small + j])
          throw InternalError(
              fmt::format("Laplace, depth {}: point ({}, {}) differs from plain sweeps", depth, i, j));
      }
    }
  });
}

/// The lowest eigenmode sin(pi x) sin(pi y); a sweep multiplies it by cos(pi / (n + 1)).
class Eigenmode {
 public:
  explicit Eigenmode(std::int64_t n)
      : sines_(n), decay_(std::cos(std::numbers::pi / static_cast<double>(n + 1))) {
    for (std::int64_t i = 0; i < n; ++i)
      sines_[i] = std::sin(std::numbers::pi * static_cast<double>(i + 1) / static_cast<double>(n + 1));
  }

  double operator()(std::int64_t i, std::int64_t j) const { return sines_[i] * sines_[j]; }

  /// Collective. Largest deviation of the values after this many sweeps. Throws InternalError, agreed, if it
  /// is above what rounding in every sweep can add up to.
  double checked_error(const comm::Comm& comm, const GridBlock& block, std::int64_t sweeps) const {
    const double factor = std::pow(decay_, static_cast<double>(sweeps));
    const Rect& own = block.own();
    double error = 0;
    for (std::int64_t i = own.rows.begin; i < own.rows.end; ++i) {
      for (std::int64_t j = own.columns.begin; j < own.columns.end; ++j)
        error = worse(error, std::abs(*block.at(i, j) - factor * (*this)(i, j)));
    }
    error = comm.allreduce(error, comm::ReduceOp::max);
    const double bound = 4 * std::numeric_limits<double>::epsilon() * static_cast<double>(sweeps + 1);
    if (!(error <= bound)) {
      comm::agree(comm, [&] {
        throw InternalError(fmt::format("Laplace: {:.3g} off the eigenmode after {} sweeps", error, sweeps));
      });
    }
    return error;
  }

 private:
  std::vector<double> sines_;
  double decay_;
};

/// A Laplace whose runs are timed.
class TimedLaplace {
 public:
  TimedLaplace(const comm::Comm& comm, const Plan& plan, std::int64_t n, int depth, const Eigenmode& mode)
      : comm_(comm),
        laplace_(comm, plan.grid, n, depth, *plan.form),
        times_({"total", "compute", "exchange"}) {
    fill(laplace_.values(), mode);
  }

  /// Collective. Seconds of the slowest rank.
  double run(int sweeps, bool keep) {
    std::vector<double> seconds(3);
    comm_.barrier();
    const Stopwatch watch;
    laplace_.run(sweeps, seconds[1], seconds[2]);
    seconds[0] = watch.seconds();
    sweeps_ += sweeps;
    if (keep) times_.add(comm_, seconds);
    return comm_.allreduce(seconds[0], comm::ReduceOp::max);
  }

  double checked_error(const Eigenmode& mode) {
    return mode.checked_error(comm_, laplace_.values(), sweeps_);
  }
  std::vector<Phase> phases() const { return times_.phases(); }

 private:
  comm::Comm comm_;
  Laplace laplace_;
  PhaseTimes times_;
  std::int64_t sweeps_ = 0;
};

/// Collective. Of 1, 2, 4, ..., as long as blocks have as many rows and a deeper one is not twice as slow.
int fastest_depth(const comm::Comm& comm, const Plan& plan, const LaplaceOptions& options,
                  const Eigenmode& mode) {
  int best = 1;
  double best_seconds = std::numeric_limits<double>::infinity();
  for (int depth = 1; depth <= std::min<std::int64_t>(plan.smallest, options.sweeps); depth *= 2) {
    TimedLaplace laplace(comm, plan, options.n, depth, mode);
    laplace.run(depth, false);
    const double first = laplace.run(options.sweeps, false);
    const double seconds = std::min(first, laplace.run(options.sweeps, false));
    if (seconds > 2 * best_seconds) break;
    if (seconds < best_seconds) best = depth;
    best_seconds = std::min(best_seconds, seconds);
  }
  return best;
}

}  // namespace

std::span<const LaplaceForm> laplace_forms() {
  return forms;
}

Laplace::Laplace(const comm::Comm& comm, const RankGrid& grid, std::int64_t n, int depth,
                 const LaplaceForm& form)
    : comm_(comm),
      depth_(depth),
      overlap_(form.overlap),
      inside_(inside_of(block_of(grid, n, comm.rank()), n, depth)),
      around_(around(block_of(grid, n, comm.rank()), inside_)),
      blocks_(comm::agree(comm, [&] {
        const GridBlock block(block_of(grid, n, comm.rank()), n, depth);
        return std::array{block, block};
      })) {
  if (comm.size() > 1) exchange_ = make_block_exchange(comm, grid, n, depth, form.one_sided);
}

void Laplace::run(int sweeps, double& compute, double& exchange) {
  for (int done = 0; done < sweeps; done += depth_) pass(std::min(depth_, sweeps - done), compute, exchange);
}

void Laplace::pass(int sweeps, double& compute, double& exchange) {
  GridBlock& from = blocks_[current_];
  GridBlock& to = blocks_[1 - current_];
  const auto timed = [](double& seconds, auto&& step) {
    const ScopedTimer timer(seconds);
    step();
  };
  current_ = 1 - current_;
  if (!exchange_) return timed(compute, [&] { sweep(from, to, from.own(), sweeps); });
  timed(exchange, [&] { exchange_->begin(from); });
  if (overlap_) timed(compute, [&] { sweep(from, to, inside_, sweeps, [&] { comm_.poke(); }); });
  timed(exchange, [&] { exchange_->finish(from); });
  timed(compute, [&] {
    if (!overlap_) return sweep(from, to, from.own(), sweeps);
    for (const Rect& part : around_) sweep(from, to, part, sweeps);
  });
}

LaplaceResult time_laplace(const comm::Comm& comm, const LaplaceOptions& options) {
  const Plan plan = comm::agree(comm, [&] { return make_plan(comm.size(), options); });
  const auto mode = comm::agree(comm, [&] { return Eigenmode(options.n); });
  LaplaceResult result;
  result.grid = plan.grid;
  result.depth = options.depth > 0 ? options.depth : fastest_depth(comm, plan, options, mode);
  check_small(comm, plan, options.n, result.depth);
  TimedLaplace blocked(comm, plan, options.n, result.depth, mode);
  TimedLaplace unblocked(comm, plan, options.n, 1, mode);
  std::optional<Stream> stream;
  if (options.stream_elements > 0)
    stream = comm::agree(comm, [&] { return Stream(comm, options.stream_elements); });
  for (int repetition = -1; repetition < options.repetitions; ++repetition) {  // the first warms up
    const bool keep = repetition >= 0;
    blocked.run(options.sweeps, keep);
    if (stream) stream->run();
    if (stream && !keep) stream->forget();
    unblocked.run(options.sweeps, keep);
  }
  result.error = std::max(blocked.checked_error(mode), unblocked.checked_error(mode));
  result.phases = blocked.phases();
  result.unblocked = unblocked.phases();
  const double updates = static_cast<double>(options.n) * static_cast<double>(options.n) * options.sweeps;
  result.updates_per_second = updates / result.phases.front().seconds.median;
  result.unblocked_updates_per_second = updates / result.unblocked.front().seconds.median;
  constexpr double bytes_per_update = 16;  // read once, written once
  if (stream) result.stream_updates_per_second = stream->result().copy.median / bytes_per_update;
  return result;
}

}  // namespace ayatori::bench
