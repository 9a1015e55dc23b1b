#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::solvers {

/// The reduction that solvers are written against: sums over ranks. On one rank it does nothing, so that
/// every algorithm is written once. Each reduction also carries a vote to stop (interrupt, time limit) at no
/// extra message, so that all ranks learn of it in the same iteration. All ranks get bitwise the same sums,
/// as MPI implementations give them: decisions taken from a sum are the same everywhere.
class GlobalSum {
 public:
  /// `wants_stop` is polled once in every reduction, must not throw, and should stay true once it was.
  explicit GlobalSum(comm::Comm comm, std::function<bool()> wants_stop = {});

  /// Collective. Replaces each rank's partial values by their sums over all ranks. All ranks pass the same
  /// length.
  void operator()(std::span<double> partial) const;
  /// Collective.
  double operator()(double partial) const;

  /// Whether some rank wanted to stop at the last reduction; the same on every rank.
  bool stop_requested() const { return stop_requested_; }

  const comm::Comm& comm() const { return comm_; }
  double seconds() const { return seconds_; }    ///< spent in reductions between ranks so far
  std::int64_t count() const { return count_; }  ///< reductions so far, also those on one rank

 private:
  comm::Comm comm_;
  std::function<bool()> wants_stop_;
  mutable std::vector<double> buffer_;  ///< partial sums, then the vote
  mutable bool stop_requested_ = false;
  mutable double seconds_ = 0;
  mutable std::int64_t count_ = 0;
};

}  // namespace ayatori::solvers
