#include <algorithm>

#include "ayatori/base/array.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes.hpp"

namespace ayatori::machine {

namespace {

constexpr double sample_seconds = 2e-4;
/// Of what all ranks together receive in an allgather or alltoall, on each rank.
constexpr std::int64_t most_received = 64 << 20;

/// Whether every rank has something else for or from every other.
bool grows_with_ranks(const std::string& operation) {
  return operation == "allgather" || operation == "alltoall";
}

}  // namespace

std::vector<CollectiveFigure> probe_collectives(const ProbeContext& context) {
  const auto& comm = context.comm;
  if (comm.size() < 2) return {};
  std::vector<CollectiveFigure> figures{{"barrier", 0, {}}};
  for (const char* operation : {"broadcast", "allreduce", "allgather", "alltoall"}) {
    for (std::int64_t bytes = 8; bytes <= 1 << 20; bytes *= context.quick ? 32 : 8) {
      if (!grows_with_ranks(operation) || bytes * comm.size() <= most_received)
        figures.push_back({operation, bytes, {}});
    }
  }
  std::int64_t most = 0;
  for (const auto& figure : figures)
    most = std::max(most, figure.bytes / 8 * (grows_with_ranks(figure.operation) ? comm.size() : 1));
  Array<double> mine;
  Array<double> all;
  comm::agree(comm, [&] {
    mine.assign(most, 1.0);
    all.assign(most, 0.0);
  });

  const auto perform = [&](const CollectiveFigure& figure) {
    const auto& collectives = comm.collectives();
    const std::int64_t count = figure.bytes / 8;
    if (figure.operation == "barrier") collectives.barrier(comm);
    if (figure.operation == "broadcast")
      collectives.broadcast(comm, mine.data(), count, comm::DataType::float64, 0);
    if (figure.operation == "allreduce")
      collectives.allreduce(comm, mine.data(), count, comm::DataType::float64, comm::ReduceOp::max);
    if (figure.operation == "allgather")
      collectives.allgather(comm, mine.data(), count, all.data(), comm::DataType::float64);
    if (figure.operation == "alltoall")
      collectives.alltoall(comm, mine.data(), count, all.data(), comm::DataType::float64);
  };
  std::vector<int> repetitions(figures.size(), 0);  // in a sample; 0 before the warm-up
  const auto measure = [&](int i) {
    const int times = std::max(repetitions[i], 1);
    comm.barrier();
    const Stopwatch watch;
    for (int k = 0; k < times; ++k) perform(figures[i]);
    const double seconds = comm.allreduce(watch.seconds(), comm::ReduceOp::max) / times;
    if (repetitions[i] == 0) repetitions[i] = repetitions_for(sample_seconds, seconds, 100);
    return seconds;
  };
  const auto seconds = measure_in_turns(static_cast<int>(figures.size()), context.limits(), measure,
                                        [&] { return context.clock(); });
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i].seconds = seconds[i];
  std::erase_if(figures, [](const CollectiveFigure& figure) { return figure.seconds.samples == 0; });
  return figures;
}

}  // namespace ayatori::machine
