#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::solvers {

/// The reduction that solvers are written against: sums over ranks. On one rank it does nothing, so that every algorithm
/// is written once. Each reduction also carries a vote to stop (interrupt, time limit) at no extra message, so that all
/// ranks learn of it in the same iteration.
class GlobalSum {
 public:
  explicit GlobalSum(comm::Comm comm, std::function<bool()> wants_stop = {});

  /// Collective. Replaces each rank's partial values by their sums over all ranks.
  void operator()(std::span<double> partial) const;
  /// Collective.
  double operator()(double partial) const;

  /// Whether some rank wanted to stop at the last reduction; the same on every rank.
  bool stop_requested() const { return stop_requested_; }

  const comm::Comm& comm() const { return comm_; }
  double seconds() const { return seconds_; }           ///< spent in reductions so far
  std::int64_t count() const { return count_; }         ///< reductions so far

 private:
  comm::Comm comm_;
  std::function<bool()> wants_stop_;
  mutable std::vector<double> buffer_;
  mutable bool stop_requested_ = false;
  mutable double seconds_ = 0;
  mutable std::int64_t count_ = 0;
};

}  // namespace ayatori::solvers
