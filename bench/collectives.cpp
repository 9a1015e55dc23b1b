#include "bench/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/collectives/executor.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/call_time.hpp"
#include "ayatori/machine/collective_operations.hpp"
#include "ayatori/machine/topology.hpp"
#include "ayatori/machine/turns.hpp"

namespace ayatori::bench {

namespace {

using collectives::Operation;

/// A case ready to run, both ways.
struct Rivals {
  const CollectiveCase* what;
  const machine::CollectiveOperation* mpi;
  collectives::Executor ours;
  std::int64_t count;  ///< elements, of a block where the operation is by rank

  std::int64_t length(const comm::Comm& comm) const {
    return collectives::type_of(what->plan.operation).is_by_rank ? count * comm.size() : count;
  }
};

double value(int rank, std::int64_t element) {
  return static_cast<double>((std::int64_t{17} * rank + element) % 101);
}

/// Where this rank is promised something, in elements.
Range promised(const Rivals& r, const comm::Comm& comm) {
  const Operation operation = r.what->plan.operation;
  const bool root_only = operation == Operation::reduce || operation == Operation::gather;
  if (root_only && comm.rank() != r.what->plan.root) return {0, 0};
  if (operation == Operation::scatter || operation == Operation::reduce_scatter)
    return {comm.rank() * r.count, (comm.rank() + 1) * r.count};
  return {0, r.length(comm)};
}

/// Seconds of a first call, to the slowest rank.
struct FirstCalls {
  double mpi = 0;
  double ours = 0;
};

/// Collective. The same numbers through both.
FirstCalls check_result(Rivals& r, const comm::Comm& comm, int node, Array<double>& ours, Array<double>& mine,
                        Array<double>& all) {
  const std::int64_t length = r.length(comm);
  const Operation operation = r.what->plan.operation;
  const bool collects = operation == Operation::gather || operation == Operation::allgather;
  for (std::int64_t i = 0; i < length; ++i) ours[i] = mine[i] = value(comm.rank(), i);
  const std::int64_t own = comm.rank() * r.count;
  if (collects) std::copy_n(mine.begin(), r.count, ours.begin() + own);
  constexpr double unhurried = 1e-3;  // nobody is late for what is appointed by this
  const double ours_seconds = machine::time_calls(comm, node, 1, unhurried, [&] {
    r.ours.run(comm, ours.data(), r.count, comm::DataType::float64, comm::ReduceOp::max);
  });
  const double mpi_seconds = machine::time_calls(comm, node, 1, unhurried,
                                                 [&] { r.mpi->run(comm, mine.data(), all.data(), r.count); });
  // Operations by rank leave their result in `all`: one block, or all of them.
  const bool is_by_rank = collectives::type_of(operation).is_by_rank;
  const bool has_one_block = operation == Operation::scatter || operation == Operation::reduce_scatter;
  const Range range = promised(r, comm);
  const double* expected = is_by_rank ? all.data() - (has_one_block ? own : 0) : mine.data();
  comm::agree(comm, [&] {
    for (auto i = range.begin; i < range.end; ++i) {
      if (ours[i] == expected[i]) continue;
      throw EnvironmentError(fmt::format("{} by {}, {} bytes: element {} on rank {} is {}, and {} by the MPI",
                                         r.mpi->name, describe(r.what->plan), r.what->bytes, i, comm.rank(),
                                         ours[i], expected[i]));
    }
  });
  return {mpi_seconds, ours_seconds};
}

}  // namespace

std::vector<CollectiveTiming> time_collectives(const comm::Comm& comm, std::span<const CollectiveCase> cases,
                                               const CollectiveOptions& options) {
  std::vector<Rivals> rivals;
  std::int64_t longest = 0;
  comm::agree(comm, [&] {
    for (const CollectiveCase& c : cases) {
      const auto& type = collectives::type_of(c.plan.operation);
      if (c.plan.ranks != comm.size())
        throw InputError(fmt::format("a schedule for {} ranks cannot run on {}", c.plan.ranks, comm.size()));
      const auto mpi =
          std::ranges::find(machine::collective_operations(), type.name, &machine::CollectiveOperation::name);
      const std::int64_t elements = std::max<std::int64_t>(c.bytes / 8, 1);
      const std::int64_t count =
          type.is_by_rank ? std::max<std::int64_t>(elements / comm.size(), 1) : elements;
      rivals.push_back({&c, &*mpi, {c.plan, comm.rank()}, count});
      longest = std::max(longest, rivals.back().length(comm));
    }
  });
  Array<double> ours;
  Array<double> mine;
  Array<double> all;
  comm::agree(comm, [&] {
    for (Array<double>* buffer : {&ours, &mine, &all}) buffer->assign(longest, 0.0);
  });
  const int node = machine::find_nodes_of_ranks(comm)[comm.rank()];
  std::vector<double> roughly;
  for (Rivals& r : rivals) {
    const FirstCalls seconds = check_result(r, comm, node, ours, mine, all);
    roughly.push_back(seconds.mpi);
    roughly.push_back(seconds.ours);
  }

  std::vector<bool> is_warm(roughly.size(), false);
  const auto measure = [&](int i, int repetitions) {
    Rivals& r = rivals[i / 2];
    const bool is_mpi = i % 2 == 0;
    if (is_mpi ? !options.mpi : !options.ours) return 0.0;
    const auto call = [&] {
      if (is_mpi)
        r.mpi->run(comm, mine.data(), all.data(), r.count);
      else
        r.ours.run(comm, ours.data(), r.count, comm::DataType::float64, comm::ReduceOp::max);
    };
    if (!is_warm[i] && options.calls == 0) {
      is_warm[i] = true;
      return roughly[i] = machine::time_roughly(comm, call);
    }
    return machine::time_calls(comm, node, repetitions, roughly[i], call);
  };
  std::vector<machine::Estimate> estimates;
  if (options.calls > 0) {
    for (int i = 0; i < std::ssize(roughly); ++i) {
      // A schedule keeps nothing from a call to the next: its first one is as good as any, and every one is
      // dear.
      const bool is_known = i % 2 == 1 && options.calls == 1;
      const double seconds = is_known && options.ours ? roughly[i] : measure(i, options.calls);
      estimates.push_back({seconds, seconds, seconds, options.calls});
    }
  } else {
    machine::TurnLimits limits;
    limits.seconds = options.seconds;
    limits.most_repetitions = 20;
    estimates = machine::measure_in_turns(static_cast<int>(roughly.size()), limits, measure,
                                          [&] { return comm.broadcast(wall_time(), 0); });
  }
  std::vector<CollectiveTiming> timings;
  for (std::size_t i = 0; i < rivals.size(); ++i) timings.push_back({estimates[2 * i], estimates[2 * i + 1]});
  return timings;
}

}  // namespace ayatori::bench
