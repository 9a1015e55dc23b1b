#include "bench/stream.hpp"

#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::bench {

namespace {

constexpr double factor = 3;

/// Bytes per second of one kernel, all ranks together.
template <class Kernel>
double bandwidth(const comm::Comm& comm, std::int64_t elements, double bytes_per_element, Kernel&& kernel) {
  comm.barrier();
  const Stopwatch watch;
  parallel_ranges(elements, kernel);
  const double slowest = comm.allreduce(watch.seconds(), comm::ReduceOp::max);
  return bytes_per_element * static_cast<double>(elements) * comm.size() / slowest;
}

void check(double expected, const Array<double>& values, const char* name) {
  for (const double value : values) {
    if (value != expected) {
      throw EnvironmentError(fmt::format("STREAM: vector {} holds {} instead of {}", name, value, expected));
    }
  }
}

}  // namespace

StreamResult stream(const comm::Comm& comm, std::int64_t elements, int repetitions) {
  Array<double> a(elements);
  Array<double> b(elements);
  Array<double> c(elements);
  parallel_for(elements, [&](std::int64_t i) {
    a[i] = 1;
    b[i] = 2;
    c[i] = 0;
  });
  std::vector<double> copy;
  std::vector<double> scale;
  std::vector<double> add;
  std::vector<double> triad;
  double* pa = a.data();
  double* pb = b.data();
  double* pc = c.data();
  for (int k = 0; k <= repetitions; ++k) {
    parallel_for(elements,
                 [=](std::int64_t i) { pa[i] = 1; });  // the kernels would let it grow without bound
    const double rates[4] = {bandwidth(comm, elements, 16,
                                       [=](Range r) {
                                         for (auto i = r.begin; i < r.end; ++i) pc[i] = pa[i];
                                       }),
                             bandwidth(comm, elements, 16,
                                       [=](Range r) {
                                         for (auto i = r.begin; i < r.end; ++i) pb[i] = factor * pc[i];
                                       }),
                             bandwidth(comm, elements, 24,
                                       [=](Range r) {
                                         for (auto i = r.begin; i < r.end; ++i) pc[i] = pa[i] + pb[i];
                                       }),
                             bandwidth(comm, elements, 24, [=](Range r) {
                               for (auto i = r.begin; i < r.end; ++i) pa[i] = pb[i] + factor * pc[i];
                             })};
    if (k == 0) continue;  // warm-up
    copy.push_back(rates[0]);
    scale.push_back(rates[1]);
    add.push_back(rates[2]);
    triad.push_back(rates[3]);
  }
  comm::agree(comm, [&] {
    // From a = 1, exactly: c = a, b = 3 c, c = a + b, a = b + 3 c.
    check(15, a, "a");
    check(3, b, "b");
    check(4, c, "c");
  });
  return {spread(copy), spread(scale), spread(add), spread(triad)};
}

}  // namespace ayatori::bench
