#include "bench/collectives/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <list>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/collectives/execution/executor.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/collective_operations.hpp"
#include "ayatori/machine/probes/call_time.hpp"
#include "ayatori/machine/probes/turns.hpp"
#include "ayatori/machine/topology.hpp"

namespace ayatori::bench {

namespace {

using collectives::Operation;
using comm::Comm;

/// Algorithms that are timed with care, of those that the MPI has for an operation.
constexpr std::size_t forced_finalists = 3;
/// Share of the time for finding them.
constexpr double finding_share = 0.5;
/// Calls of what is raced, at least: two that warm up, and a sample.
constexpr double least_calls = 3;

/// What is done: an operation of this many elements, of a block where it is by rank.
struct Task {
  const machine::CollectiveOperation* mpi;
  Operation operation;
  std::int64_t bytes;
  std::int64_t count;
  int ranks;

  Task(const CollectiveRace& race, const Comm& comm)
      : operation(race.operation), bytes(race.bytes), ranks(comm.size()) {
    const auto& type = collectives::type_of(operation);
    mpi =
        &*std::ranges::find(machine::collective_operations(), type.name, &machine::CollectiveOperation::name);
    const std::int64_t elements = std::max<std::int64_t>(bytes / 8, 1);
    count = type.is_by_rank ? std::max<std::int64_t>(elements / ranks, 1) : elements;
  }
  std::int64_t length() const { return is_by_rank() ? count * ranks : count; }
  bool is_by_rank() const { return collectives::type_of(operation).is_by_rank; }
  /// Operations by rank leave their result in a buffer of its own: one block, or all of them.
  bool has_one_block() const {
    return operation == Operation::scatter || operation == Operation::reduce_scatter;
  }
  /// Where this rank is promised something, in elements of all blocks.
  Range promised(int rank) const {
    const bool root_only = operation == Operation::reduce || operation == Operation::gather;
    if ((root_only && rank != 0) || operation == Operation::barrier) return {0, 0};
    if (has_one_block()) return {rank * count, (rank + 1) * count};
    return {0, length()};
  }
};

/// Buffers as long as the longest task needs. MPI's operations by rank send from `mine` and receive in `all`;
/// the others, and schedules, work in place.
struct Buffers {
  Array<double> ours;
  Array<double> mine;
  Array<double> all;
};

double value(int rank, std::int64_t element) {
  return static_cast<double>((std::int64_t{17} * rank + element) % 101);
}

/// Schedules work in place, where MPI's operations by rank have a buffer to send from and one to receive in:
/// what a program would have to copy before, from one to the other.
void hand_in(const Task& task, int rank, const Array<double>& from, Array<double>& to) {
  if (task.operation == Operation::gather || task.operation == Operation::allgather)
    std::copy_n(from.begin(), task.count, to.begin() + rank * task.count);
  if (task.operation == Operation::reduce_scatter || task.operation == Operation::alltoall)
    std::copy_n(from.begin(), task.length(), to.begin());
}

/// And afterwards.
void take_out(const Task& task, int rank, const Array<double>& from, Array<double>& to) {
  if (task.has_one_block()) std::copy_n(from.begin() + rank * task.count, task.count, to.begin());
}

/// Who takes part, in a race: the MPI by itself, by an algorithm, or a schedule.
struct Contestant {
  const Task* task;
  const comm::MpiAlgorithm* algorithm = nullptr;  ///< forced, in a communicator made for it
  const Comm* forced = nullptr;
  std::optional<collectives::Executor> schedule = {};
  bool is_timed = true;
  double roughly = 0;  ///< seconds of a call
  bool is_warm = false;
};

class Bench {
 public:
  Bench(const Comm& comm, const CollectiveOptions& options, ForcedComms* forced, std::int64_t longest)
      : comm_(comm),
        options_(options),
        node_(machine::find_nodes_of_ranks(comm)[comm.rank()]),
        forced_(forced),
        channel_(comm::make_node_channel(comm, comm.split_by_node())) {
    comm::agree(comm, [&] {
      for (Array<double>* buffer : {&buffers_.ours, &buffers_.mine, &buffers_.all})
        buffer->assign(longest, 0.0);
    });
  }

  /// Collective. Seconds of one first call of the MPI's own, whose result is kept to compare with.
  double run_reference(const Task& task) {
    fill(task, buffers_.mine);
    const double seconds = time_first([&] { run_mpi(task, comm_, buffers_.mine); });
    const double* result = result_of(task);
    expected_.assign(result, result + task.promised(comm_.rank()).size());
    return seconds;
  }

  /// Collective. Likewise of a schedule, which must do the same. Throws EnvironmentError, agreed.
  double run_schedule(const Task& task, collectives::Executor& schedule, const collectives::WordPlan& plan) {
    fill(task, buffers_.ours);
    fill(task, buffers_.mine);
    hand_in(task, comm_.rank(), buffers_.mine, buffers_.ours);
    const double seconds = time_first([&] { run(schedule, task); });
    const Range range = task.promised(comm_.rank());
    comm::agree(comm_, [&] {
      for (auto i = range.begin; i < range.end; ++i) {
        if (buffers_.ours[i] == expected_[i - range.begin]) continue;
        throw EnvironmentError(fmt::format(
            "{} by {}, {} bytes: element {} on rank {} is {}, and {} by the MPI", task.mpi->name,
            describe(plan), task.bytes, i, comm_.rank(), buffers_.ours[i], expected_[i - range.begin]));
      }
    });
    return seconds;
  }

  /// Collective. Seconds since this was made.
  double elapsed() const { return comm_.broadcast(wall_time(), 0) - start_; }

  /// Collective. The algorithms that do what the MPI by itself does; of more than a few the fastest in a few
  /// calls. Begins none after `end`, nor where a call that takes `usual` seconds would end after that: those
  /// are counted as left out.
  std::vector<Contestant> find_forced(const Task& task, const AlgorithmFilter& filter, double end,
                                      double usual, int& left_out) {
    std::vector<Contestant> able;
    if (!filter || forced_ == nullptr) return able;
    for (const auto& [algorithm, comm] : forced_->of(task.operation)) {
      if (algorithm.segment_bytes >= task.bytes || !filter(algorithm)) continue;  // or nothing to cut
      if (elapsed() + usual > end) {
        ++left_out;
        continue;
      }
      Contestant contestant{&task, &algorithm, &comm};
      if (const auto seconds = try_forced(contestant)) {
        contestant.roughly = *seconds;
        able.push_back(std::move(contestant));
      }
    }
    std::ranges::sort(able, {}, &Contestant::roughly);
    if (able.size() <= forced_finalists) return able;
    // First calls are slow for many reasons. What takes many times as long as another is not timed again.
    constexpr double hopeless = 4;
    while (able.size() > 3 * forced_finalists ||
           (able.size() > forced_finalists && able.back().roughly > hopeless * able.front().roughly))
      able.pop_back();
    // Where calls are this long the first one tells enough.
    constexpr double long_call = 0.01;
    const int turns = able.front().roughly > long_call ? 0 : 2;
    for (int turn = 0; turn < turns; ++turn) {
      for (Contestant& contestant : able) {
        const double seconds = time(contestant, 3);
        contestant.roughly = turn == 0 ? seconds : std::min(contestant.roughly, seconds);
      }
    }
    std::ranges::sort(able, {}, &Contestant::roughly);
    if (able.size() > forced_finalists) able.erase(able.begin() + forced_finalists, able.end());
    return able;
  }

  /// Collective. Mean seconds of a call.
  double measure(Contestant& contestant, int repetitions) {
    if (!contestant.is_timed) return 0;
    if (!contestant.is_warm && options_.calls == 0) {
      contestant.is_warm = true;
      return contestant.roughly = in_force(
                 contestant, [&] { return machine::time_roughly(comm_, [&] { call(contestant); }); });
    }
    return time(contestant, repetitions);
  }

 private:
  void fill(const Task& task, Array<double>& buffer) const {
    for (std::int64_t i = 0; i < task.length(); ++i) buffer[i] = value(comm_.rank(), i);
  }
  /// Where the MPI puts what this rank is promised.
  const double* result_of(const Task& task) const {
    return task.is_by_rank() ? buffers_.all.data() : buffers_.mine.data() + task.promised(comm_.rank()).begin;
  }
  double time_first(const std::function<void()>& call) const {
    constexpr double unhurried = 1e-3;  // nobody is late for what is appointed by this
    return machine::time_calls(comm_, node_, 1, unhurried, call);
  }
  void run_mpi(const Task& task, const Comm& comm, Array<double>& mine) {
    task.mpi->run(comm, mine.data(), buffers_.all.data(), task.count);
  }
  void run(collectives::Executor& schedule, const Task& task) {
    schedule.run(comm_, buffers_.ours.data(), task.count, comm::DataType::float64, comm::ReduceOp::max,
                 channel_.get());
  }
  void call(Contestant& contestant) {
    const Task& task = *contestant.task;
    if (!contestant.schedule) {
      run_mpi(task, contestant.forced != nullptr ? *contestant.forced : comm_, buffers_.mine);
      return;
    }
    hand_in(task, comm_.rank(), buffers_.mine, buffers_.ours);
    run(*contestant.schedule, task);
    take_out(task, comm_.rank(), buffers_.ours, buffers_.all);
  }
  template <class F>
  double in_force(const Contestant& contestant, F&& f) const {
    std::optional<comm::ForcedAlgorithm> forced;
    if (contestant.algorithm != nullptr) forced.emplace(forced_->access(), *contestant.algorithm);
    return f();
  }
  double time(Contestant& contestant, int calls) {
    return in_force(contestant, [&] {
      return machine::time_calls(comm_, node_, calls, contestant.roughly, [&] { call(contestant); });
    });
  }

  /// Collective. Seconds of a first call, none if it cannot be done so or the result is another.
  std::optional<double> try_forced(Contestant& contestant) {
    const Task& task = *contestant.task;
    fill(task, buffers_.mine);
    bool is_right = true;
    comm_.barrier();  // no appointments: these are many calls, and clocks take long to agree
    const double seconds = in_force(contestant, [&] {
      const Stopwatch watch;
      try {
        call(contestant);
      } catch (const EnvironmentError&) {  // on all ranks
        is_right = false;
      }
      return comm_.allreduce(watch.seconds(), comm::ReduceOp::max);
    });
    is_right = is_right && std::equal(expected_.begin(), expected_.end(), result_of(task));
    if (comm_.any(!is_right)) return std::nullopt;
    return seconds;
  }

  Comm comm_;
  double start_ = comm_.broadcast(wall_time(), 0);
  const CollectiveOptions& options_;
  int node_;
  ForcedComms* forced_;
  std::unique_ptr<comm::NodeChannel> channel_;
  Buffers buffers_;
  std::vector<double> expected_;  ///< what this rank is promised of the task at hand
};

/// Algorithms of the MPI, until a race of the others may end in time; the slowest first.
void leave_out(std::vector<Contestant>& contestants, double seconds) {
  double needed = 0;
  std::vector<Contestant*> forced;
  for (Contestant& contestant : contestants) {
    if (!contestant.is_timed) continue;
    needed += least_calls * contestant.roughly;
    if (contestant.algorithm != nullptr) forced.push_back(&contestant);
  }
  std::ranges::sort(forced, std::ranges::greater(), [](const Contestant* one) { return one->roughly; });
  for (Contestant* const slowest : forced) {
    if (needed <= seconds) break;
    slowest->is_timed = false;
    needed -= least_calls * slowest->roughly;
  }
}

}  // namespace

std::vector<RaceTimes> time_collectives(const Comm& comm, std::span<const CollectiveRace> races,
                                        const CollectiveOptions& options, ForcedComms* forced) {
  std::list<Task> tasks;
  std::int64_t longest = 0;
  std::vector<Contestant> contestants;  // all races' contestants: the MPI, plans, algorithms
  std::vector<std::size_t> first_of_race;
  comm::agree(comm, [&] {
    for (const CollectiveRace& race : races) {
      for (const auto& plan : race.plans) {
        if (plan.ranks != comm.size())
          throw InputError(fmt::format("a schedule for {} ranks cannot run on {}", plan.ranks, comm.size()));
        if (plan.operation != collectives::type_of(race.operation).schedule || plan.root != 0)
          throw InputError("a schedule of another operation or root");
      }
      longest = std::max(longest, tasks.emplace_back(race, comm).length());
    }
  });
  Bench bench(comm, options, forced, longest);
  std::vector<RaceTimes> times(races.size());
  auto task = tasks.cbegin();
  for (std::size_t r = 0; r < races.size(); ++r, ++task) {
    const CollectiveRace& race = races[r];
    first_of_race.push_back(contestants.size());
    const double reference = bench.run_reference(*task);
    contestants.push_back({.task = &*task, .is_timed = options.mpi, .roughly = reference});
    for (const auto& plan : race.plans) {
      Contestant contestant{.task = &*task, .is_timed = options.ours};
      contestant.schedule.emplace(plan, comm.rank());
      contestant.roughly = bench.run_schedule(*task, *contestant.schedule, plan);
      contestants.push_back(std::move(contestant));
    }
    if (!options.mpi || forced == nullptr) continue;
    // What a race does not use is for those that follow.
    const double now = bench.elapsed();
    const double end = now + (finding_share * options.seconds - now) / static_cast<double>(races.size() - r);
    std::ranges::move(bench.find_forced(*task, race.algorithms, end, reference, times[r].left_out),
                      std::back_inserter(contestants));
  }
  first_of_race.push_back(contestants.size());

  std::vector<machine::Estimate> estimates;
  if (options.calls > 0) {
    for (Contestant& contestant : contestants) {
      // A schedule keeps nothing from a call to the next: its first one is as good as any, and every one is
      // dear.
      const bool is_known = contestant.schedule && options.calls == 1 && options.ours;
      const double seconds = is_known ? contestant.roughly : bench.measure(contestant, options.calls);
      estimates.push_back({seconds, seconds, seconds, options.calls});
    }
  } else {
    machine::TurnLimits limits;
    limits.seconds = std::max(0.0, options.seconds - bench.elapsed());
    leave_out(contestants, limits.seconds);
    limits.most_repetitions = 20;
    const auto measure = [&](int i, int repetitions) { return bench.measure(contestants[i], repetitions); };
    estimates = machine::measure_in_turns(static_cast<int>(contestants.size()), limits, measure,
                                          [&] { return comm.broadcast(wall_time(), 0); });
  }
  for (std::size_t r = 0; r < races.size(); ++r) {
    RaceTimes& of_race = times[r];
    of_race.mpi = estimates[first_of_race[r]];
    for (auto i = first_of_race[r] + 1; i < first_of_race[r + 1]; ++i) {
      if (contestants[i].schedule) {
        of_race.plans.push_back(estimates[i]);
      } else if (!contestants[i].is_timed) {
        ++of_race.left_out;
      } else if (!of_race.forced || estimates[i].median < of_race.forced->seconds.median) {
        of_race.forced = {*contestants[i].algorithm, estimates[i]};
      }
    }
  }
  return times;
}

}  // namespace ayatori::bench
