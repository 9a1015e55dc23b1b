#include "ayatori/solvers/global_sum.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/base/timing.hpp"

namespace ayatori::solvers {

namespace {

/// Room for the reduction of a long basis, so that the buffer does not grow while a method iterates.
constexpr std::size_t usual_length = 1024;

}  // namespace

GlobalSum::GlobalSum(comm::Comm comm, std::function<bool()> wants_stop, std::function<double()> clock)
    : comm_(std::move(comm)), wants_stop_(std::move(wants_stop)), clock_(std::move(clock)) {
  if (!clock_) clock_ = wall_time;
  buffer_.reserve(usual_length);
}

void GlobalSum::operator()(std::span<double> partial) const {
  ++count_;
  const bool wants_stop = wants_stop_ && wants_stop_();
  const double now = clock_();
  if (comm_.size() == 1) {
    stop_requested_ = wants_stop;
    agreed_seconds_ = now;
    carried_.insert(carried_.end(), cargo_.begin(), cargo_.end());
    cargo_.clear();
    return;
  }
  const ScopedTimer timer(seconds_);
  buffer_.assign(partial.begin(), partial.end());
  buffer_.insert(buffer_.end(), cargo_.begin(), cargo_.end());
  buffer_.push_back(wants_stop ? 1.0 : 0.0);
  buffer_.push_back(now);
  comm_.allreduce(std::span<double>(buffer_), comm::ReduceOp::sum);
  std::copy_n(buffer_.begin(), partial.size(), partial.begin());
  carried_.insert(carried_.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(partial.size()),
                  buffer_.end() - 2);
  cargo_.clear();
  stop_requested_ = buffer_[buffer_.size() - 2] > 0;
  agreed_seconds_ = buffer_.back() / comm_.size();
}

double GlobalSum::operator()(double partial) const {
  (*this)(std::span<double>(&partial, 1));
  return partial;
}

}  // namespace ayatori::solvers
