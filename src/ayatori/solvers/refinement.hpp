#pragma once

namespace ayatori::solvers {

/// How a method goes on whose claim of convergence the true residual refutes: again from the x it has
/// reached, which is iterative refinement.
struct Refinement {
  int refuted = 0;  ///< claims so far

  /// Takes a refuted claim, with the norms of the true residual before and after the run that made it.
  /// Whether to go on: while that gets clearly nearer, and a few times while it gets nearer at all.
  bool goes_on(double now, double before) {
    constexpr double clearly_nearer = 0.5;
    constexpr double nearer = 0.95;
    constexpr int most_small_gains = 5;
    ++refuted;
    return now < clearly_nearer * before || (refuted <= most_small_gains && now < nearer * before);
  }
  /// What to aim at for this target: lower once a claim was refuted.
  double aim(double target) const { return refuted > 0 ? target / 8 : target; }
};

}  // namespace ayatori::solvers
