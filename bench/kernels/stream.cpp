#include "bench/kernels/stream.hpp"

#include <utility>

#include "ayatori/base/find_named.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/memory_kernels.hpp"

namespace ayatori::bench {

namespace {

constexpr std::array names{"copy", "scale", "add", "triad"};  // in McCalpin's order

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

Stream::Stream(comm::Comm comm, std::int64_t elements)
    : comm_(std::move(comm)), a_(elements), b_(elements), c_(elements) {
  parallel_for(elements, [&](std::int64_t i) {
    a_[i] = 1;
    b_[i] = 2;
    c_[i] = 0;
  });
}

void Stream::run() {
  const auto elements = static_cast<std::int64_t>(a_.size());
  const machine::MemoryVectors vectors{a_.data(), b_.data(), c_.data()};
  parallel_for(elements, [&](std::int64_t i) { vectors.a[i] = 1; });  // the kernels would let it grow
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto& kernel = find_named(machine::memory_kernels(), names[k], "memory kernel");
    rates_[k].push_back(bandwidth(comm_, elements, kernel.bytes_per_element,
                                  [&](Range range) { kernel.run(vectors, range); }));
  }
}

StreamResult Stream::result() const {
  comm::agree(comm_, [&] {
    // From a = 1, exactly: c = a, b = 3 c, c = a + b, a = b + 3 c.
    check(15, a_, "a");
    check(3, b_, "b");
    check(4, c_, "c");
  });
  return {spread(rates_[0]), spread(rates_[1]), spread(rates_[2]), spread(rates_[3])};
}

StreamResult stream(const comm::Comm& comm, std::int64_t elements, int repetitions) {
  Stream stream(comm, elements);
  stream.run();
  stream.forget();
  for (int k = 0; k < repetitions; ++k) stream.run();
  return stream.result();
}

}  // namespace ayatori::bench
