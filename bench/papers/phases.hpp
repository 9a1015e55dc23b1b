#pragma once

#include <span>
#include <string>
#include <vector>

#include "ayatori/base/statistics.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::bench {

/// What a part of a run takes on the slowest rank.
struct Phase {
  std::string name;
  Spread seconds;
};

/// Seconds of the parts of a run, repetition by repetition.
class PhaseTimes {
 public:
  explicit PhaseTimes(std::vector<std::string> names) : names_(std::move(names)), seconds_(names_.size()) {}

  /// Collective. Those of one repetition on this rank, in the order of the names; the slowest rank's count.
  void add(const comm::Comm& comm, std::vector<double> mine);

  /// After one repetition at least.
  std::vector<Phase> phases() const;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<double>> seconds_;
};

}  // namespace ayatori::bench
