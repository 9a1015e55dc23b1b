#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// A sum over ranks that goes on while the program computes: an allreduce in two rounds of direct messages.
/// The ranks are cut into about sqrt(p) groups of consecutive ones. Every rank sends its values to those of
/// its group, adds up what it gets, and sends that to one rank of every other group: 2 (sqrt(p) - 1) messages
/// where a tree has log2(p) rounds, none of which would begin before the one before it is waited for. Values
/// are added in the order of the ranks, so that all get bitwise the same sums, which MPI_Iallreduce need not
/// give.
///
/// The second round begins when progress() or finish() finds the first one complete.
class PendingSum {
 public:
  /// Room for `length` values without further memory.
  explicit PendingSum(Comm comm, std::size_t length = 0);
  PendingSum(const PendingSum&) = delete;
  PendingSum& operator=(const PendingSum&) = delete;
  /// Ends what has been started: collective then.
  ~PendingSum();

  /// Collective. Begins the sum of `partial`, which is copied; the same length on all ranks. One at a time in
  /// a communicator; its other operations may come in between.
  void start(std::span<const double> partial);
  /// Goes on if there is something to go on with. Never waits.
  void progress();
  /// Collective. Waits for the sums of what was started.
  void finish(std::span<double> sums);

  bool is_active() const { return active_; }

 private:
  /// Ranks [first, first + size) of a group.
  struct Group {
    int first;
    int size;
  };
  Group group(int number) const;
  void reserve(std::size_t length);
  void send_group_sum();
  std::span<double> value(std::vector<double>& values, int place) const {
    return std::span(values).subspan(place * length_, length_);
  }

  Comm comm_;
  int group_size_;  ///< size of all groups but the last, which may be smaller
  int groups_;
  int own_group_;
  std::size_t length_ = 0;
  std::vector<double> of_members_;  ///< by the rank's place in this group
  std::vector<double> of_groups_;
  std::vector<Request> from_members_;
  std::vector<Request> from_groups_;
  std::vector<Request> sends_;
  bool active_ = false;
  bool sent_group_sum_ = false;
};

}  // namespace ayatori::comm
