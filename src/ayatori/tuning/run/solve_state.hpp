#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/base/timing.hpp"
#include "ayatori/base/work_clock.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/tuning/model/forecast.hpp"
#include "ayatori/tuning/policy/arms.hpp"
#include "ayatori/tuning/policy/policy.hpp"
#include "ayatori/tuning/product/budget.hpp"
#include "ayatori/tuning/product/product_tuner.hpp"
#include "ayatori/tuning/run/device_place.hpp"
#include "ayatori/tuning/run/scaled_system.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// Collective. The largest basis that fits in a quarter of the free memory of every node, with the triangle
/// of coefficients that every rank keeps; at most the order of the matrix.
int find_longest_restart(const comm::Comm& comm, const sparse::SplitMatrix& parts);

/// What may be tried, during a solve.
struct Arm {
  enum class State {
    untried,
    running,
    paused,    ///< gave way to a faster one; may go on from a better x
    finished,  ///< stagnated, broke down or failed
  };
  ListedArm listed;
  State state = State::untried;
  Seen seen = {};
  bool from_zero = false;            ///< what it has to begin with
  bool wants_full_accuracy = false;  ///< its complete factors of fewer digits have failed
  double gain = 0;  ///< powers of e by which it has made the residual smaller, where it was not overtaken

  bool may_run() const { return state == State::untried || state == State::paused; }
};

/// Arms that rounding ends before that is believed: one may have lost its way; complete factors count for
/// all.
constexpr int enough_rounded_off = 2;

/// What the attempts of one solve share: the system, the best x so far, the report that grows.
class SolveState {
 public:
  /// Collective.
  SolveState(const comm::Comm& communicator, std::shared_ptr<const sparse::SplitMatrix> parts,
             solvers::ConstVector b, solvers::Vector best, const SolveOptions& solve_options,
             const SolveHooks& solve_hooks, ReusableSetup* set_ups = nullptr);

  /// Seconds for decisions: on one rank those of work alone, whatever else runs on its core.
  double clock() const {
    if (options.deterministic) return counted_work_;
    if (hooks.clock) return hooks.clock();
    return comm.size() == 1 ? work_.seconds() : watch_.seconds();
  }
  /// Collective: the time on which the ranks agree, as of now.
  double agree_on_time() const;

  /// Collective: whether any rank wants to stop, also where no reduction of a method has asked.
  bool stopped();
  bool interrupted_by_time() const { return options.time_limit > 0 && watch_.seconds() > options.time_limit; }
  /// Collective. Until the time limit, where there is one.
  double seconds_left() const {
    return comm.allreduce(options.time_limit - watch_.seconds(), comm::ReduceOp::min);
  }
  bool done() {
    return converged() || is_least_squares || is_rounded_solution || out_of_iterations() || stopped();
  }
  /// Written so that a NaN on either side is not convergence.
  bool converged() const;
  int iterations_left() const;
  double target() const { return system->target(); }
  double residual_norm() const { return known.norm; }
  /// A norm as a share of what x has to solve for.
  double relative(double norm) const {
    return system->reference_norm() > 0 ? norm / system->reference_norm() : norm;
  }
  void note_stop() { stopped_ = true; }
  /// Whether the best x leaves hardly more than rounding it to double does, which is more than the tolerance.
  bool is_at_rounding() const;
  /// The same of any x, whatever is left of the right-hand side: no proof where that is much, as the system
  /// may be inconsistent.
  bool may_be_rounding(const Residual& of_x) const;
  /// Collective. Of v, in the scale of the system, whose residual has this norm: norm / (||A||_inf ||v|| +
  /// ||b||).
  double backward_error(solvers::ConstVector v, double norm) const;
  bool has_stopped() const { return stopped_; }

  /// Where a matrix that looked definite has turned out not to be: other arms, in place of all there were.
  void replace_arms();

  /// What has been seen of all arms, for the policy; `at_work`: the arm that runs, if one does.
  Progress progress(std::optional<std::size_t> at_work) const;
  /// What the policy makes of it.
  std::optional<Action> next_action(std::optional<std::size_t> at_work);
  /// Whether an arm whose set-up an analysis has told is still expected to end the solve soonest.
  bool is_worth_its_set_up(std::size_t arm);
  /// Expected products of an arm's set-up, and of its iterations.
  Expected expected_of(std::size_t arm);
  /// Products that an arm at work is taken to have made, where those count instead of seconds.
  void count_work(double products) { counted_work_ += products; }
  /// Seconds of a product with compressed sparse rows, the unit of costs, on which the ranks agree.
  double unit() const;
  /// Collective. So that the unit is known before the methods have multiplied.
  void measure_product();

  void add_event(std::string kind, std::string text);

  /// Collective. r = b - A v in the scale of the system, and what is known of it.
  Residual verified_residual(solvers::ConstVector v, solvers::Vector r);
  /// Collective. Takes v as the best x if its true residual is the smallest so far. Gives that residual,
  /// which stays until the next is found.
  solvers::ConstVector offer(solvers::ConstVector v);
  /// Takes v, whose residual is r, as the best x whatever the one so far leaves.
  void take(solvers::ConstVector v, solvers::ConstVector r, const Residual& what_is_known);

  /// Whether SolveHooks::snapshot wants to be told; the same on every rank.
  bool snapshot_is_due() const;
  /// Collective. Tells it of `candidate`, or of the best x if that is better, unless it was told of a better
  /// one before; changes nothing of the solve.
  /// `iterations` of all trials.
  void take_snapshot(const Choice& at_work, std::int64_t iterations, solvers::ConstVector candidate);

  const comm::Comm& comm;
  const SolveOptions& options;
  const SolveHooks& hooks;
  ReusableSetup* kept;  ///< set-ups of earlier solves, or nullptr
  solvers::GlobalSum sum;
  Experience experience;
  Decisions decisions;
  Budget budget;
  SolveReport report;
  std::vector<Arm> arms;
  std::optional<ScaledSystem> system;
  ExaminedMatrix examined;
  std::shared_ptr<const sparse::SplitMatrix> inside;  ///< what methods multiply, in the sign of the system
  std::shared_ptr<sparse::DistributedMatrix> matrix;
  std::optional<ProductTuner> product_tuner;
  std::optional<DevicePlace> device;  ///< where there may be one
  Budget no_budget{0};                ///< budget of duels, where nothing may depend on times
  int longest_restart = 0;
  std::optional<double> challenged_at;  ///< agreed seconds when the first arm was suspended, if it is
  double began = 0;                     ///< agreed seconds when the first arm began
  bool is_indefinite = false;           ///< a method has shown that a matrix that looked definite is not
  int rounded_off = 0;  ///< arms that ended where rounding x to double leaves more than the tolerance

  solvers::Vector x;                 ///< the best so far, in the scale of the system
  Array<double> residual;            ///< b - A x
  Residual known;                    ///< what is known of x
  bool looks_singular = false;       ///< blocks of the matrix are, at least
  bool is_rounded_solution = false;  ///< x is a solution, proved to be one but for rounding it to doubles
  bool complete_factors_come_next = false;
  bool has_zero_pivots = false;   ///< complete factors have, more than there are null vectors known
  bool is_least_squares = false;  ///< the best x leaves as little as any can, which is not little enough

 private:
  /// Whether the budget allows another trial, beside what those that lost have taken, and those at present.
  bool may_challenge() const;
  void make_choices(const sparse::SplitMatrix& parts);
  std::vector<ListedArm> arms_for(const MatrixFacts& facts) const;
  void look_for_device();
  const Forecast& forecast();
  /// Before the set-up of this arm.
  Outlook outlook_before(std::size_t arm);
  std::int64_t most_iterations() const { return decisions.script().max_iterations; }
  bool wants_stop() const { return interrupted_by_time() || (hooks.wants_stop && hooks.wants_stop()); }
  bool out_of_iterations() const { return most_iterations() > 0 && report.iterations >= most_iterations(); }

  std::optional<Forecast> forecast_;  ///< forecast of all arms; made when it is asked
  double counted_work_ = 0;           ///< products, instead of seconds
  double first_product_ = 0;          ///< seconds
  Stopwatch watch_;
  WorkClock work_;
  bool stopped_ = false;
  Array<double> offered_residual_;
  double last_snapshot_ = 0;                                        ///< agreed seconds
  double snapshot_norm_ = std::numeric_limits<double>::infinity();  ///< residual norm of what was told last
};

}  // namespace ayatori::tuning
