#include "ayatori/solvers/global_sum.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/base/timing.hpp"

namespace ayatori::solvers {

namespace {

/// Room for the reduction of a long basis, so that the buffer does not grow while a method iterates.
constexpr std::size_t usual_length = 1024;

}  // namespace

GlobalSum::GlobalSum(comm::Comm comm, std::function<bool()> wants_stop)
    : comm_(std::move(comm)), wants_stop_(std::move(wants_stop)) {
  buffer_.reserve(usual_length);
}

void GlobalSum::operator()(std::span<double> partial) const {
  ++count_;
  const bool wants_stop = wants_stop_ && wants_stop_();
  if (comm_.size() == 1) {
    stop_requested_ = wants_stop;
    return;
  }
  const ScopedTimer timer(seconds_);
  buffer_.assign(partial.begin(), partial.end());
  buffer_.push_back(wants_stop ? 1.0 : 0.0);
  comm_.allreduce(std::span<double>(buffer_), comm::ReduceOp::sum);
  std::copy_n(buffer_.begin(), partial.size(), partial.begin());
  stop_requested_ = buffer_.back() > 0;
}

double GlobalSum::operator()(double partial) const {
  (*this)(std::span<double>(&partial, 1));
  return partial;
}

}  // namespace ayatori::solvers
