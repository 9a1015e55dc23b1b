// eigen_messages N RxC BLOCK SAMPLES TABLES RESULT: what `ayatori eigen random:n=N --reduction one-stage`
// waits for messages, all pairs, from samples, on a simulated machine where computing takes no time. SAMPLES
// panels of the reduction and of the back-transformation, evenly spread, the first and the last among them,
// are run as they are, on a matrix of the order that is left then; in between the seconds are taken to be
// linear. The redistribution is done in full; of divide and conquer's messages each kind is sent some times
// at its mean length, and taken as often as there are. TABLES: of schedules, with colons between them, or
// none. RESULT: a JSON file, {"broadcast": seconds, ..., "total": seconds}, the mean of all ranks, in all
// that of the slowest: a rank that waits in a sum for one that is late in a broadcast is not counted twice;
// and beside them, not in "total", "pending": what the sums along grid rows, one for each column, take by
// comm::PendingSum, with nothing done meanwhile.

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/collectives/scheduled_collectives.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/transfers/pending_sum.hpp"
#include "ayatori/eigen/reduction/back_transform.hpp"
#include "ayatori/eigen/reduction/tridiagonalize.hpp"
#include "ayatori/eigen/tridiagonal/divide_and_conquer.hpp"
#include "ayatori/eigen/work.hpp"

namespace {

using namespace ayatori;

constexpr std::int64_t repeats = 16;         // repeats of each kind of message of divide and conquer
constexpr std::int64_t pending_repeats = 4;  // repeats of the sums of a panel's columns by PendingSum

/// Seconds of this rank, by operation, and "total".
using Seconds = std::map<std::string, double>;

void add(Seconds& sum, const Seconds& more, double factor) {
  for (const auto& [name, seconds] : more) sum[name] += factor * seconds;
}

/// Collective. What `run` waits for on a grid whose operations are timed.
template <class Run>
Seconds measure(const eigen::ProcessGrid& grid, Run&& run) {
  const auto timed = std::make_shared<eigen::TimedCollectives>(grid.all);
  const auto counted = with_collectives(grid, timed);
  grid.all.barrier();
  const Stopwatch watch;
  run(counted);
  Seconds seconds{{"broadcast", 0}, {"allreduce", 0}, {"total", watch.seconds()}};
  for (const auto& [operation, cost] : timed->costs()) seconds[operation] = cost.seconds;
  return seconds;
}

/// Collective. A panel when `rest` rows are left: of the reduction, and of the back-transformation.
Seconds panel(const eigen::ProcessGrid& grid, std::int64_t rest, std::int64_t block) {
  auto a = eigen::make_dense(grid, rest);
  fill(a, [](std::int64_t i, std::int64_t j) { return static_cast<double>((7 * i + 13 * j) % 17) / 17; });
  Seconds seconds = measure(grid, [&](const eigen::ProcessGrid& counted) {
    a.grid = counted;
    tridiagonalize(a, block, block);
  });
  const Seconds back = measure(grid, [&](const eigen::ProcessGrid& counted) {
    a.grid = counted;
    gather_columns(a, {0, std::min(eigen::panels_together * block, rest)}, 1);
  });
  add(seconds, back, 1.0 / static_cast<double>(eigen::panels_together));
  std::vector<double> sum(a.rows.count() + 1, 1.0);
  comm::PendingSum pending(grid.along_row, sum.size());
  const std::int64_t sums = std::min(block, pending_repeats);
  seconds["pending"] =
      static_cast<double>(block) / static_cast<double>(sums) * measure(grid, [&](const eigen::ProcessGrid&) {
                                                                 for (std::int64_t k = 0; k < sums; ++k) {
                                                                   pending.start(sum);
                                                                   pending.finish(sum);
                                                                 }
                                                               }).at("total");
  return seconds;
}

/// Collective. All panels, from some.
Seconds panels(const eigen::ProcessGrid& grid, std::int64_t n, std::int64_t block, std::int64_t samples) {
  const std::int64_t count = (n - 3) / block + 1;
  samples = std::min(samples, count);
  std::vector<std::int64_t> places;
  for (std::int64_t s = 0; s < samples; ++s)
    places.push_back(samples == 1 ? 0 : s * (count - 1) / (samples - 1));
  Seconds sum;
  for (std::int64_t s = 0; s < samples; ++s) {
    double weight = samples == 1 ? static_cast<double>(count) : 0;
    // Among the panels up to the next sample, those nearer to this one count more.
    const auto share = [&](std::int64_t other) {
      const std::int64_t distance = std::abs(places[other] - places[s]);
      for (std::int64_t k = 1; k < distance; ++k)
        weight += 1 - static_cast<double>(k) / static_cast<double>(distance);
    };
    if (samples > 1) weight = 1;
    if (s > 0) share(s - 1);
    if (s + 1 < samples) share(s + 1);
    add(sum, panel(grid, n - places[s] * block, block), weight);
  }
  return sum;
}

/// Collective. Divide and conquer without deflation.
Seconds merges(const eigen::ProcessGrid& grid, const eigen::PhaseWork& work) {
  Seconds sum;
  const int ranks = grid.all.size();
  for (const eigen::Traffic& traffic : work.traffic) {
    const std::int64_t length =
        std::max<std::int64_t>(1, traffic.bytes / traffic.calls / static_cast<std::int64_t>(sizeof(double)));
    std::vector<double> mine(length, 1.0);
    std::vector<double> all(length * ranks);
    const std::int64_t calls = std::min(repeats, traffic.calls);
    const auto seconds = measure(grid, [&](const eigen::ProcessGrid& counted) {
      for (std::int64_t k = 0; k < calls; ++k) {
        if (traffic.operation == "broadcast") {
          counted.all.broadcast(std::span<double>(mine), static_cast<int>(k % ranks));
        } else if (traffic.operation == "allgather") {
          counted.all.collectives().allgather(counted.all, mine.data(), length, all.data(),
                                              comm::DataType::float64);
        } else if (traffic.operation == "allgatherv") {
          counted.all.allgatherv(std::span<const double>(mine));
        } else {
          throw InternalError(fmt::format("{} in divide and conquer", traffic.operation));
        }
      }
    });
    add(sum, seconds, static_cast<double>(traffic.calls) / static_cast<double>(calls));
  }
  return sum;
}

/// Collective.
Seconds redistribution(const eigen::ProcessGrid& grid, std::int64_t n) {
  eigen::TridiagonalPairs<double> pairs{{}, {0, n}, {n, grid.all.size(), grid.all.rank()}, {}, {}};
  pairs.vectors.assign(pairs.rows.count() * n, 1.0);
  for (std::int64_t j = 0; j < n; ++j) pairs.column_of.push_back(j);
  const auto seconds =
      measure(grid, [&](const eigen::ProcessGrid& counted) { eigen::spread_by_columns(counted.all, pairs); });
  return {{"redistribution", seconds.at("total")}, {"total", seconds.at("total")}};
}

int run(int argc, char** argv) {
  if (argc != 7) throw InputError("eigen_messages N RxC BLOCK SAMPLES TABLES RESULT");
  const std::int64_t n = std::atoll(argv[1]);
  const eigen::GridShape shape = eigen::parse_grid_shape(argv[2]);
  const std::int64_t block = std::atoll(argv[3]);
  const std::int64_t samples = std::atoll(argv[4]);
  const std::string tables = argv[5];
  auto comm = comm::Comm::world();
  if (n < 3 || block < 1 || samples < 1) throw InputError("N is at least 3, BLOCK and SAMPLES at least 1");
  if (tables != "none") {
    comm = comm.with_collectives(std::make_shared<collectives::ScheduledCollectives>(
        collectives::ScheduleTable(collectives::read_schedules(tables))));
  }
  const auto grid = eigen::make_grid(comm, shape);
  eigen::EigenOptions options;
  options.block = block;
  options.reduction = "one-stage";
  const auto work = eigen::work_of(n, shape, comm.rank(), options, eigen::ProblemKind::standard);
  Seconds seconds = panels(grid, n, block, samples);
  add(seconds, merges(grid, work[1]), 1);
  add(seconds, redistribution(grid, n), 1);
  nlohmann::ordered_json json;
  for (const char* name : {"broadcast", "allreduce", "redistribution"})
    json[name] = comm.allreduce(seconds[name], comm::ReduceOp::sum) / comm.size();
  for (const char* name : {"total", "pending"})
    json[name] = comm.allreduce(seconds[name], comm::ReduceOp::max);
  if (comm.rank() == 0) write_file(argv[6], json.dump(2) + "\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const comm::Environment environment(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "eigen_messages: {}\n", error.what());
    return 2;
  }
}
