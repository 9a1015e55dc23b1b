#pragma once

#include <algorithm>

namespace ayatori::tuning {

/// What finding out may cost: a share of the time that the solve has taken beside it, or is expected to take.
/// All times are seconds on which the ranks agree, so that every rank decides the same.
class Budget {
 public:
  explicit Budget(double share) : share_(share) {}

  /// Whether `cost` more may be spent (a clock may say 0 of what is short) in a solve that takes `time`
  /// without what was spent.
  bool allows(double cost, double time) const { return share_ > 0 && spent_ + cost <= share_ * time; }
  /// Whether it may be spent on what is expected to win: then the share is that of arms, but the whole at
  /// most.
  bool allows_expected(double cost, double time) const {
    return share_ > 0 && spent_ + cost <= std::min(1.0, on_arms * share_) * time;
  }
  /// Whether another arm may be tried, while trials take `cost` already beside what was spent: arms are
  /// expected to win, and more may be lost on them than on duels.
  bool allows_trial(double cost, double time) const {
    return share_ > 0 && spent_ + cost <= on_arms * share_ * time;
  }
  void spend(double seconds) { spent_ += seconds; }

  double spent() const { return spent_; }

 private:
  /// This many times the share: with the usual one trials that lose may take three times what the rest takes.
  static constexpr double on_arms = 30;

  double share_;
  double spent_ = 0;
};

}  // namespace ayatori::tuning
