#include "ayatori/machine/probes/call_time.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "ayatori/base/statistics.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/machine/probes/synchronized_clock.hpp"

namespace ayatori::machine {

double time_calls(const comm::Comm& comm, int node, int calls, double roughly,
                  const std::function<void()>& call) {
  constexpr double margin = 20e-6;
  const SynchronizedClock clock(comm, node);
  const double window = 2 * roughly + margin;
  const double first = comm.broadcast(clock.now() + 5 * window, 0);
  std::vector<double> seconds(calls);
  std::vector<double> late(calls);
  for (int k = 0; k < calls; ++k) {
    double start = first + k * window;
    late[k] = clock.wait_until(start) ? 0 : 1;
    if (late[k] > 0) start = clock.now();
    call();
    seconds[k] = clock.now() - start;
  }
  comm.allreduce(std::span(seconds), comm::ReduceOp::max);
  comm.allreduce(std::span(late), comm::ReduceOp::max);
  std::vector<double> in_time;
  for (int k = 0; k < calls; ++k) {
    if (late[k] == 0) in_time.push_back(seconds[k]);
  }
  return spread(in_time.empty() ? seconds : in_time).median;
}

double time_roughly(const comm::Comm& comm, const std::function<void()>& call) {
  call();
  const Stopwatch watch;
  call();
  return comm.allreduce(watch.seconds(), comm::ReduceOp::max);
}

}  // namespace ayatori::machine
