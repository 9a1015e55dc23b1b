#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/transfers/pending_sum.hpp"

namespace ayatori::solvers {

/// The reduction that solvers are written against: sums over ranks. On one rank it does nothing, so that
/// every algorithm is written once. All ranks get bitwise the same sums, as MPI implementations give them:
/// decisions taken from a sum are the same everywhere. Each reduction also carries, at no extra message, what
/// the ranks have to agree on while they iterate: a vote to stop (interrupt, time limit), the time, and
/// values that carry() has put aboard.
class GlobalSum {
 public:
  /// `wants_stop` and `clock` (seconds; wall time by default) are called once in every reduction and must not
  /// throw; `wants_stop` should stay true once it was.
  explicit GlobalSum(comm::Comm comm, std::function<bool()> wants_stop = {},
                     std::function<double()> clock = {});

  /// Collective. Replaces each rank's partial values by their sums over all ranks. All ranks pass the same
  /// length.
  void operator()(std::span<double> partial) const;
  /// Collective.
  double operator()(double partial) const;
  /// Collective. The same as (*this)(partial), while work() runs: what the sums do not depend on. It may make
  /// other sums, but not another during(), and should call progress() now and then.
  template <class Work>
  void during(std::span<double> partial, Work&& work) const {
    start(partial);
    try {
      work();
    } catch (...) {  // everybody's: see comm::agree
      finish(partial);
      throw;
    }
    finish(partial);
  }
  /// Goes on with the sum that is under way, if there is one. Never waits.
  void progress() const;

  /// Whether some rank wanted to stop at the last reduction; the same on every rank.
  bool stop_requested() const { return stop_requested_; }
  /// The mean of all ranks' clocks at the last reduction: the time, to within an iteration, on which every
  /// rank agrees.
  double agreed_seconds() const { return agreed_seconds_; }

  /// Collective. The next reduction also sums this value over ranks.
  void carry(double value) const { cargo_.push_back(value); }
  /// Sums of the values carried by reductions since the last call, oldest first: on every rank the same.
  std::vector<double> take_carried() const { return std::exchange(carried_, {}); }

  const comm::Comm& comm() const { return comm_; }
  double seconds() const { return seconds_; }              ///< spent in reductions between ranks so far
  std::int64_t count() const { return count_; }            ///< reductions so far, also those on one rank
  std::int64_t overlapped() const { return overlapped_; }  ///< reductions among them by during()

 private:
  void start(std::span<const double> partial) const;
  void finish(std::span<double> sums) const;
  /// Puts this rank's part of a reduction together: partial sums, cargo, vote and clock ...
  void pack(std::span<const double> partial, std::vector<double>& buffer) const;
  /// ... and takes the sums of all ranks apart.
  void unpack(std::span<const double> buffer, std::span<double> sums) const;

  comm::Comm comm_;
  std::function<bool()> wants_stop_;
  std::function<double()> clock_;
  mutable std::vector<double> buffer_;  ///< sums that are waited for
  mutable std::vector<double> overlapped_buffer_;
  mutable comm::PendingSum pending_;
  mutable std::vector<double> cargo_;
  mutable std::vector<double> carried_;
  mutable bool stop_requested_ = false;
  mutable double agreed_seconds_ = 0;
  mutable double seconds_ = 0;
  mutable std::int64_t count_ = 0;
  mutable std::int64_t overlapped_ = 0;
};

}  // namespace ayatori::solvers
