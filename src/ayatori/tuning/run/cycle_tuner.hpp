#pragma once

#include <functional>
#include <string>

#include "ayatori/solvers/method.hpp"

namespace ayatori::tuning {

/// Chooses restart length and orthogonalization of a restarted method from cycle to cycle (Katagiri & Kuroda,
/// items ii and iii). The length doubles while that makes the residual shrink faster per second, and goes
/// back once it does not; it doubles at once after a cycle of no use. Where the recurrence and the true
/// residual part, the basis has lost orthogonality, and from then on it is orthogonalized twice.
class CycleTuner {
 public:
  struct Limits {
    int longest = 0;  ///< basis vectors; the first length or less: the length stays
    const solvers::Orthogonalize* stronger = nullptr;  ///< to change to when orthogonality is lost, if any
  };
  /// Told of every change, in words.
  using Say = std::function<void(const std::string& kind, const std::string& text)>;

  CycleTuner(double target, Limits limits, Say say);

  /// To be called by solvers::MethodOptions::next_cycle; `seconds` of the cycle, on which the ranks agree.
  void plan(solvers::Cycle& cycle, double seconds);
  /// The half of it that does not depend on times.
  void plan_orthogonalization(solvers::Cycle& cycle) const;

 private:
  void plan_length(solvers::Cycle& cycle, double seconds);
  void change_to(solvers::Cycle& cycle, int restart, const std::string& why);

  double target_;
  Limits limits_;
  Say say_;
  bool settled_ = false;
  int before_growth_ = 0;  ///< the length before the last doubling, 0 if none is on trial
  double decay_before_growth_ = 0;
};

}  // namespace ayatori::tuning
