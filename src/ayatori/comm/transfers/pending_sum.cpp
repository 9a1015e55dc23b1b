#include "ayatori/comm/transfers/pending_sum.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::comm {

namespace {

/// Tag of both rounds, which differ in who talks to whom.
constexpr int sum_tag = 32005;

/// total += values, of `count` vectors of `length` each, in their order.
void add_up(std::span<const double> values, std::size_t count, std::span<double> total) {
  std::ranges::fill(total, 0.0);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += values[k * total.size() + i];
}

}  // namespace

PendingSum::PendingSum(Comm comm, std::size_t length)
    : comm_(std::move(comm)),
      group_size_(static_cast<int>(std::ceil(std::sqrt(comm_.size())))),
      groups_((comm_.size() + group_size_ - 1) / group_size_),
      own_group_(comm_.rank() / group_size_) {
  reserve(length);
  from_members_.reserve(group_size_);
  from_groups_.reserve(groups_);
}

PendingSum::~PendingSum() {
  if (!active_) return;
  try {
    std::vector<double> unused(length_);
    finish(unused);
  } catch (const Error&) {  // the transport has failed: nothing more to wait for
    active_ = false;
  }
}

PendingSum::Group PendingSum::group(int number) const {
  const int first = number * group_size_;
  return {first, std::min(group_size_, comm_.size() - first)};
}

void PendingSum::reserve(std::size_t length) {
  of_members_.reserve(length * group_size_);
  of_groups_.reserve(length * groups_);
}

void PendingSum::start(std::span<const double> partial) {
  AYATORI_ASSERT(!active_);
  length_ = partial.size();
  of_members_.resize(length_ * group_size_);
  of_groups_.resize(length_ * groups_);
  active_ = true;
  sent_group_sum_ = false;
  const Group mine = group(own_group_);
  const int place = comm_.rank() - mine.first;
  std::ranges::copy(partial, value(of_members_, place).begin());
  for (int k = 0; k < mine.size; ++k) {
    if (k != place) from_members_.push_back(comm_.irecv(value(of_members_, k), mine.first + k, sum_tag));
  }
  for (int g = 0; g < groups_; ++g) {
    const Group other = group(g);
    if (g != own_group_)
      from_groups_.push_back(comm_.irecv(value(of_groups_, g), other.first + place % other.size, sum_tag));
  }
  const std::span<const double> own = value(of_members_, place);
  for (int k = 0; k < mine.size; ++k) {
    if (k != place) sends_.push_back(comm_.isend(own, mine.first + k, sum_tag));
  }
  progress();
}

void PendingSum::progress() {
  if (!active_ || sent_group_sum_) return;
  const bool complete = std::ranges::all_of(from_members_, [](Request& request) { return request.test(); });
  if (complete) send_group_sum();
}

void PendingSum::send_group_sum() {
  from_members_.clear();
  const Group mine = group(own_group_);
  const std::span<double> sum = value(of_groups_, own_group_);
  add_up(of_members_, mine.size, sum);
  const int place = comm_.rank() - mine.first;
  for (int g = 0; g < groups_; ++g) {
    if (g == own_group_) continue;
    const Group other = group(g);
    for (int k = 0; k < other.size; ++k) {
      if (k % mine.size == place)
        sends_.push_back(comm_.isend(std::span<const double>(sum), other.first + k, sum_tag));
    }
  }
  sent_group_sum_ = true;
}

void PendingSum::finish(std::span<double> sums) {
  AYATORI_ASSERT(active_ && sums.size() == length_);
  if (!sent_group_sum_) {
    wait_all(from_members_);
    send_group_sum();
  }
  wait_all(from_groups_);
  from_groups_.clear();
  add_up(of_groups_, groups_, sums);
  wait_all(sends_);
  sends_.clear();
  active_ = false;
}

}  // namespace ayatori::comm
