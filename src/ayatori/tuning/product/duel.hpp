#pragma once

#include <string>
#include <vector>

namespace ayatori::tuning {

/// Two ways to do the same work, timed in turns: C, then C I I C, C I I C, ... The order cancels drifts of a
/// noisy machine, whose slow phases last for many repetitions. The first run of the challenger C finds cold
/// caches and counts only where it is hopeless. Runs are started before the times of earlier ones are known.
class Duel {
 public:
  enum class Verdict { undecided, incumbent, challenger };
  /// Runs of each, the challenger's first one not counted: with fewer a disturbance decides.
  static constexpr int runs = 6;

  /// `usual`: seconds of the incumbent so far.
  explicit Duel(double usual) : usual_(usual) {}

  /// Starts a run: true if it is the challenger's.
  bool next();
  /// The seconds of the oldest run not recorded yet.
  void record(double seconds);

  Verdict verdict() const { return verdict_; }
  double incumbent_seconds() const { return incumbent_; }    ///< median, once decided
  double challenger_seconds() const { return challenger_; }  ///< median, once decided
  /// What the challenger's runs cost more than the incumbent's would have.
  double excess() const;

 private:
  void judge();

  double usual_;
  int started_ = 0;
  int recorded_ = 0;
  std::vector<double> incumbents_;
  std::vector<double> challengers_;
  double first_ = 0;  ///< seconds of the challenger's first run
  Verdict verdict_ = Verdict::undecided;
  double incumbent_ = 0;
  double challenger_ = 0;
};

}  // namespace ayatori::tuning
