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
    : comm_(std::move(comm)), wants_stop_(std::move(wants_stop)), clock_(std::move(clock)), pending_(comm_) {
  if (!clock_) clock_ = wall_time;
  buffer_.reserve(usual_length);
}

void GlobalSum::pack(std::span<const double> partial, std::vector<double>& buffer) const {
  ++count_;
  buffer.assign(partial.begin(), partial.end());
  buffer.insert(buffer.end(), cargo_.begin(), cargo_.end());
  buffer.push_back(wants_stop_ && wants_stop_() ? 1.0 : 0.0);
  buffer.push_back(clock_());
  cargo_.clear();
}

void GlobalSum::unpack(std::span<const double> buffer, std::span<double> sums) const {
  std::copy_n(buffer.begin(), sums.size(), sums.begin());
  carried_.insert(carried_.end(), buffer.begin() + static_cast<std::ptrdiff_t>(sums.size()),
                  buffer.end() - 2);
  stop_requested_ = buffer[buffer.size() - 2] > 0;
  agreed_seconds_ = buffer.back() / comm_.size();
}

void GlobalSum::operator()(std::span<double> partial) const {
  pack(partial, buffer_);
  if (comm_.size() > 1) {
    const ScopedTimer timer(seconds_);
    comm_.allreduce(std::span<double>(buffer_), comm::ReduceOp::sum);
  }
  unpack(buffer_, partial);
}

double GlobalSum::operator()(double partial) const {
  (*this)(std::span<double>(&partial, 1));
  return partial;
}

void GlobalSum::start(std::span<const double> partial) const {
  ++overlapped_;
  pack(partial, overlapped_buffer_);
  if (comm_.size() == 1) return;
  const ScopedTimer timer(seconds_);
  pending_.start(overlapped_buffer_);
}

void GlobalSum::progress() const {
  if (!pending_.is_active()) return;
  const ScopedTimer timer(seconds_);
  pending_.progress();
}

void GlobalSum::finish(std::span<double> sums) const {
  if (comm_.size() > 1) {
    const ScopedTimer timer(seconds_);
    pending_.finish(overlapped_buffer_);
  }
  unpack(overlapped_buffer_, sums);
}

}  // namespace ayatori::solvers
