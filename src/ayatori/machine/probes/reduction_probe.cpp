#include "ayatori/base/array.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

ReductionCurve probe_reduction(const ProbeContext& context) {
  const auto& comm = context.comm;
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 8; bytes <= 4 << 20; bytes *= context.quick ? 64 : 4) sizes.push_back(bytes);
  Array<double> in;
  Array<double> inout;
  comm::agree(comm, [&] {
    in.assign(sizes.back() / 8, 1.0);
    inout.assign(sizes.back() / 8, 0.0);
  });
  const auto measure = [&](int i, int repetitions) {
    comm.barrier();
    const Stopwatch watch;
    for (int k = 0; k < repetitions; ++k) {
      comm::reduce_local(in.data(), inout.data(), sizes[i] / 8, comm::DataType::float64, comm::ReduceOp::sum);
    }
    return comm.allreduce(watch.seconds() / repetitions, comm::ReduceOp::max);
  };
  auto limits = context.limits();
  limits.most_repetitions = 10000;
  const auto seconds =
      measure_in_turns(static_cast<int>(sizes.size()), limits, measure, [&] { return context.clock(); });
  ReductionCurve curve;
  std::vector<TransferTime> times;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!(seconds[i].low > 0)) continue;
    curve.points.push_back({sizes[i], seconds[i]});
    times.push_back({static_cast<double>(sizes[i]), seconds[i].median});
  }
  curve.model = fit_transfers(times);
  return curve;
}

}  // namespace ayatori::machine
