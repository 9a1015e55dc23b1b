#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ayatori/solvers/device/device_method.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/refinement.hpp"
#include "ayatori/tuning/run/cycle_tuner.hpp"
#include "ayatori/tuning/run/solve_state.hpp"
#include "ayatori/tuning/run/timed.hpp"

namespace ayatori::tuning {

/// An arm at work: it solves A d = b - A x for a correction d of the best x so far. While it iterates it may
/// be challenged: it is suspended where it stands, the challenger runs from the x reached, as long as it
/// is expected to finish first, and either finishes the solve or gives control back, with nothing of the
/// suspended iteration lost.
class ArmRun {
 public:
  /// `is_challenger`: another one is suspended meanwhile. No challenger is challenged: what is suspended
  /// keeps its factors and its Krylov space.
  explicit ArmRun(SolveState& state, std::size_t arm, bool is_challenger = false);

  /// Collective. Runs until the solve has converged or is stopped, or the arm is of no more use.
  void pursue();

 private:
  /// A decision of this trial, taken now or when the script was written; the iteration is that of the method
  /// at work.
  template <class Decide>
  std::optional<std::int64_t> decide(Decision::Kind kind, int iteration, Decide&& now) {
    return state_.decisions.ask(kind, static_cast<int>(trial_), trial().iterations + iteration,
                                std::forward<Decide>(now));
  }
  void set_up();
  bool declines(bool whether);
  bool is_on_trial() const;
  bool is_on_device() { return !trial().choice.device.empty(); }
  void make_preconditioner(const solvers::PreconditionerOptions& options);
  solvers::MethodResult run_here(const solvers::Progress& progress, const Meters& meters);
  solvers::MethodResult run_on_device(const solvers::Progress& progress);
  bool take_kept_preconditioner();
  void leave_preconditioner();
  void pass_over_what_was_given_up();
  void plan_cycle(solvers::Cycle& cycle);
  double begin();
  bool iterate();
  solvers::MethodResult run_method();
  solvers::MethodOptions method_options();
  double aim() const { return refinement_.aim(state_.target()); }
  void note_rounding();
  bool finds_rounded_solution();
  bool is_complete() { return uses_complete_factors(trial().choice) && !made_.built.reduced_accuracy; }
  void ask_for_full_accuracy();
  bool judge(const solvers::MethodResult& result, double before);

  bool goes_on(int iteration, double norm);
  template <class F>
  void beside_the_method(F&& work);
  void take_snapshot(const std::function<void(solvers::Vector)>& form_correction);
  bool confirms(solvers::Vector r);
  void note_norm(double norm);
  void note_progress(int iteration);
  std::optional<std::size_t> other_arm(int iteration);
  bool is_overtaken_by(std::size_t challenger, int iteration);

  double own_seconds() const { return state_.sum.agreed_seconds() - start_ - away_; }
  Arm& arm() { return state_.arms[arm_]; }
  Trial& trial() { return state_.report.trials[trial_]; }
  std::string name() { return describe(trial().choice); }

  SolveState& state_;
  std::size_t arm_;
  std::size_t trial_;
  bool is_challenger_;
  Meter challengers_;                   ///< time that went into challengers and snapshots
  double start_ = 0;                    ///< agreed time
  double away_ = 0;                     ///< agreed seconds in which this attempt was suspended
  double looked_at_ = 0;                ///< own seconds at the last look, or when the method started
  int looked_after_ = 0;                ///< iterations
  double cycle_from_ = 0;               ///< own seconds when the cycle began
  Expected expected_;                   ///< when it began
  double most_set_up_ = 0;              ///< products after which the set-up is given up
  std::atomic<bool> declined_ = false;  ///< the set-up: it was not its own failure; on this rank
  std::vector<float> gained_;  ///< digits after each iteration of the method at work, as if from x = 0
  double begins_with_ = 0;     ///< residual norm when the method started
  double smallest_norm_ = 0;
  std::string why_;    ///< another arm is expected to end sooner
  int next_look_ = 0;  ///< iteration at which the policy is asked again
  bool overtaken_ = false;
  bool behind_ = false;
  bool too_slow_ = false;  ///< for what factors of fewer digits can be expected to take
  solvers::Refinement refinement_;
  bool began_from_zero_ = false;
  MadePreconditioner made_;
  bool is_complex_ = false;                        ///< the system, with this preconditioner
  solvers::BuiltDevicePreconditioner made_there_;  ///< preconditioner of an arm on a device, instead
  std::optional<CycleTuner> cycle_tuner_;
  solvers::Orthogonalize orthogonalize_;
  solvers::Orthogonalize stronger_;
  Array<double> base_;        ///< x when the method started
  Array<double> right_side_;  ///< b - A base
  Array<double> correction_;
  Array<double> sum_of_both_;
  bool is_confirmed_ = false;  ///< the claim of the method at work
  int iteration_ = 0;          ///< iteration of the method at work
  double last_norm_ = 0;
};

}  // namespace ayatori::tuning
