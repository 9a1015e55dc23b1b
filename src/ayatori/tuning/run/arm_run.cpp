#include "ayatori/tuning/run/arm_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/complex_linear.hpp"
#include "ayatori/tuning/judgement.hpp"
#include "ayatori/tuning/memory/experience.hpp"
#include "ayatori/tuning/run/condition.hpp"

namespace ayatori::tuning {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
/// Seconds that a set-up may take in any case: of small systems clocks tell little.
constexpr double unnoticeable = 2e-3;
/// The residual of a method for definite matrices that is this many times the first when it breaks down has
/// been driven along null vectors: b is not in the range.
constexpr double far_worse = 1e3;
/// Iterations around factors of fewer digits that gain at least half of the digits wanted: each gains some
/// where the matrix admits it. Where they do not, full factors in double precision are made.
constexpr int refinements = 30;

/// x becomes the doubles next to x + d, and d what they lack (Knuth's sum without error).
void move_to_nearest(solvers::Vector x, solvers::Vector d) {
  parallel_for(static_cast<std::int64_t>(x.size()), [&](std::int64_t i) {
    const double sum = x[i] + d[i];
    const double of_d = sum - x[i];
    d[i] = (x[i] - (sum - of_d)) + (d[i] - of_d);
    x[i] = sum;
  });
}

/// Collective. Whether two solutions differ by rounding only.
bool are_neighbours(const comm::Comm& comm, solvers::ConstVector a, solvers::ConstVector b) {
  constexpr double spacings = 4 * std::numeric_limits<double>::epsilon();
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  std::array<double, 2> largest{difference, solvers::local_max_abs(b)};
  comm.allreduce(std::span<double>(largest), comm::ReduceOp::max);
  return largest[0] <= spacings * largest[1];
}

}  // namespace

ArmRun::ArmRun(SolveState& state, std::size_t arm, bool is_challenger)
    : state_(state), arm_(arm), trial_(state.report.trials.size()), is_challenger_(is_challenger) {
  const ListedArm& listed = state.arms[arm].listed;
  state.arms[arm].state = Arm::State::running;
  state.report.trials.push_back(
      {listed.choice, listed.why, "", "", 0, state.relative(state.residual_norm()), 0, 0});
}

/// Builds the preconditioner. A set-up is given up when the time limit is reached, or, where there are other
/// arms, when it takes far longer than was expected; complete factors, when an analysis has told what they
/// take and something else is then expected to be sooner.
void ArmRun::set_up() {
  const Stopwatch watch;
  start_ = state_.agree_on_time();
  if (state_.decisions.replays()) pass_over_what_was_given_up();
  if (!state_.decisions.replays()) expected_ = state_.expected_of(arm_);
  solvers::PreconditionerOptions options = state_.decisions.script().preconditioner;
  options.coordinates = state_.options.preconditioner.coordinates;
  options.near_null_space = state_.options.preconditioner.near_null_space;
  options.fields = state_.options.preconditioner.fields;
  tell(state_.report.facts, options);
  if (arm().wants_full_accuracy || (state_.kept != nullptr && state_.kept->wants_full_accuracy)) {
    options.factor_precision = solvers::PreconditionerOptions().factor_precision;
    options.low_rank = 0;
  }
  if (state_.kept != nullptr && uses_complete_factors(trial().choice)) {
    const MadePreconditioner& before = state_.kept->outworn_factors;
    // Other values may have made other rows diagonal ones, whose columns are left out.
    if (before.is_there() &&
        !state_.comm.any(!sparse::same_pattern(before.from->parts(), state_.matrix->parts())))
      options.earlier = before.built.op.get();
  }
  if (state_.options.time_limit > 0 && !state_.decisions.replays()) {
    options.seconds_left = state_.seconds_left();
    options.gives_up = [this] { return declines(state_.interrupted_by_time()); };
  }
  if (!state_.decisions.replays()) {
    const bool is_known = arm().seen.set_up > 0;
    options.may_take = [this, is_known](double products) {
      arm().seen.set_up = products;
      return !declines(!is_known && is_on_trial() && !state_.is_worth_its_set_up(arm_));
    };
    const double most = most_products(expected_.set_up);
    if (is_on_trial() && most < unlimited && !uses_complete_factors(trial().choice)) {
      most_set_up_ = most;
      const double seconds = std::max(most_set_up_ * state_.unit(), unnoticeable);
      options.gives_up = [this, limit = state_.clock() + seconds] {
        return declines(state_.clock() > limit || state_.interrupted_by_time());
      };
    }
  }
  if (!take_kept_preconditioner()) make_preconditioner(options);
  comm::agree(state_.comm, [&] {
    for (auto* vector : {&base_, &right_side_, &correction_, &sum_of_both_})
      vector->resize(state_.residual.size());
  });
  is_complex_ = state_.report.facts.complex_form && !is_on_device() &&
                solvers::is_complex_linear(state_.sum, *made_.built.op);
  state_.count_work(expected_.set_up);
  const double agreed_end = state_.agree_on_time();
  if (!trial().kept_set_up) arm().seen.set_up = (agreed_end - start_) / state_.unit();
  trial().setup_seconds = watch.seconds();
  state_.report.seconds.setup += watch.seconds();
  for (const std::string& note : is_on_device() ? made_there_.notes : made_.built.notes)
    state_.add_event("note", note);
  if (!made_.built.reproducible) state_.decisions.script().is_reproducible = false;
  if (made_.built.blocks_are_singular) state_.looks_singular = true;
  // The null vectors that are known stand for as many.
  if (made_.built.zero_pivots > state_.system->null_spaces().right->dimension())
    state_.looks_singular = state_.has_zero_pivots = true;
}

void ArmRun::make_preconditioner(const solvers::PreconditionerOptions& given) {
  solvers::PreconditionerOptions options = given;
  const auto& null_vectors = state_.system->null_spaces().right;
  options.null_vectors = null_vectors.get();
  if (is_on_device()) {
    const solvers::DeviceMatrix& there = state_.device->matrix(state_.matrix);
    made_there_ =
        solvers::find_device_preconditioner(trial().choice.preconditioner)->make(there, state_.sum, options);
    return;
  }
  made_.built = solvers::without_null_vectors(
      solvers::preconditioner(trial().choice.preconditioner).make(*state_.matrix, state_.sum, options),
      null_vectors);
  made_.from = state_.matrix;
  if (options.earlier != nullptr) state_.kept->outworn_factors = {};
}

/// Hands on whether a set-up is to end, and keeps that it was not the set-up's own failure. Asked by several
/// threads at once.
bool ArmRun::declines(bool whether) {
  if (whether) declined_ = true;
  return whether;
}

/// Whether this arm may be given up, as there are others.
bool ArmRun::is_on_trial() const {
  return !state_.options.forced.preconditioner && std::ranges::any_of(state_.arms, [&](const Arm& other) {
    return &other != &state_.arms[arm_] && other.state != Arm::State::finished;
  });
}

/// One that an earlier solve has left, if it is what this arm wants.
bool ArmRun::take_kept_preconditioner() {
  if (state_.kept == nullptr || !state_.kept->preconditioner.is_there() || !state_.kept->choice) return false;
  if (state_.kept->choice->preconditioner != trial().choice.preconditioner || is_on_device()) return false;
  made_ = std::exchange(state_.kept->preconditioner, {});
  made_.built.notes.clear();
  trial().kept_set_up = true;
  return true;
}

/// For the next solve, if this arm has finished this one.
void ArmRun::leave_preconditioner() {
  if (state_.kept == nullptr || trial().outcome != name_of(solvers::Stop::converged)) return;
  if (is_on_device()) return;
  if (!state_.converged()) return;
  state_.kept->preconditioner = {};
  if (!same_numerics(state_.report.choice, trial().choice)) return;
  state_.kept->preconditioner = std::move(made_);
}

/// Complete factors of fewer digits that have not done make way for others, unless they were given up for
/// another arm.
void ArmRun::ask_for_full_accuracy() {
  const bool has_failed = arm().state == Arm::State::finished || too_slow_;
  if (!made_.built.reduced_accuracy || !has_failed || state_.converged() || state_.has_stopped()) return;
  state_.add_event(
      "note",
      fmt::format("{}: factors of fewer digits are not enough: full ones in double precision", name()));
  arm().wants_full_accuracy = true;
  arm().state = Arm::State::untried;
  if (state_.kept != nullptr) state_.kept->wants_full_accuracy = true;
}

/// Passes over what was given up in a solve that is replayed. Throws as the set-up did then.
void ArmRun::pass_over_what_was_given_up() {
  std::optional<std::int64_t> product;
  const auto products = state_.decisions.next_given_up(static_cast<int>(trial_), product);
  if (!products) return;
  state_.product_tuner->skip_to(*products, product);
  declined_ = true;
  throw_error(ErrorKind::environment, "the set-up was given up in the solve that is replayed", true);
}

void ArmRun::pursue() {
  try {
    set_up();
    if (state_.stopped()) {
      trial().outcome = name_of(solvers::Stop::interrupted);
    } else {
      while (iterate()) {
      }
      if (is_complete() && state_.rounded_off > 0)
        state_.report.condition_estimate =
            estimate_condition(state_.sum, *made_.built.op, state_.report.facts.norm_infinity);
      // What was made from earlier values may be all that is wrong with this arm: it may come again.
      if (trial().kept_set_up && !state_.converged() && arm().state == Arm::State::finished) {
        arm().state = Arm::State::untried;
        if (uses_complete_factors(trial().choice)) state_.kept->outworn_factors = std::move(made_);
      } else {
        ask_for_full_accuracy();
      }
      leave_preconditioner();
    }
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    // Dropped on trial, an arm whose set-up was too dear may still be needed when the others fail; one whose
    // set-up failed by itself would fail again.
    const bool was_too_dear = error.kind() == ErrorKind::environment && state_.comm.any(declined_);
    const bool may_be_needed = is_on_trial() && was_too_dear && trial().iterations == 0;
    arm().state = may_be_needed ? Arm::State::untried : Arm::State::finished;
    if (may_be_needed) arm().seen.set_up_at_least = std::max(arm().seen.set_up_at_least, most_set_up_);
    const bool time_or_memory_decided = may_be_needed || error.kind() == ErrorKind::environment;
    if (time_or_memory_decided && !state_.decisions.replays())
      state_.decisions.note(Decision::Kind::given_up, static_cast<int>(trial_), state_.product_tuner->count(),
                            0);
    trial().outcome = may_be_needed ? "given up" : "failed";
    trial().reason = error.what();
    state_.add_event("failure", fmt::format("{}: {}", name(), error.what()));
  }
  if (!overtaken_) trial().relative_residual = state_.relative(state_.residual_norm());
}

/// Collective. The x to begin with, and its residual: the best so far; but not one so large that its rounding
/// alone leaves more than the tolerance, as an arm that failed may have left it. Gives the norm.
double ArmRun::begin() {
  const bool is_too_large = state_.system->is_beyond_rounding(state_.known);
  if (refinement_.refuted == 0)
    began_from_zero_ = is_too_large || arm().from_zero || !(state_.relative(state_.residual_norm()) < 1);
  if (refinement_.refuted > 0 || !(is_too_large || arm().from_zero)) {
    solvers::copy(state_.x, base_);
    solvers::copy(state_.residual, right_side_);
    return state_.residual_norm();
  }
  solvers::fill(base_, 0);
  state_.system->solve_boundary_rows(base_);
  return state_.verified_residual(base_, right_side_).norm;
}

/// Solves A d = r for a correction d of x. True if the same arm should run again.
bool ArmRun::iterate() {
  const double best = state_.residual_norm();
  const double before = begin();
  solvers::fill(correction_, 0);
  overtaken_ = behind_ = too_slow_ = is_confirmed_ = false;
  next_look_ = first_look;
  gained_.clear();
  begins_with_ = smallest_norm_ = before;
  looked_at_ = cycle_from_ = own_seconds();
  looked_after_ = 0;
  const auto result = run_method();
  trial().iterations += result.iterations;
  note_progress(result.iterations);
  arm().listed.choice = trial().choice;
  if (!is_confirmed_) {
    solvers::copy(base_, sum_of_both_);
    solvers::axpy(1, correction_, sum_of_both_);
    state_.offer(sum_of_both_);
  }
  trial().outcome = name_of(result.stop);
  trial().reason = result.reason;
  if (state_.residual_norm() < best && !overtaken_) {
    arm().gain += std::log(best / state_.residual_norm());
    if (std::ranges::all_of(state_.arms, [&](const Arm& other) { return other.gain <= arm().gain; })) {
      state_.report.choice = trial().choice;
      state_.report.why = trial().why;
    }
  }
  return judge(result, before);
}

solvers::MethodResult ArmRun::run_method() {
  auto& seconds = state_.report.seconds;
  const Meters meters(*state_.matrix, state_.sum, *state_.product_tuner);
  const auto progress = [this](int iteration, double norm) { return goes_on(iteration, norm); };
  challengers_ = {};
  const Meter start = meters.read();
  auto result = is_on_device() ? run_on_device(progress) : run_here(progress, meters);
  Meter mine = meters.since(start);
  mine -= challengers_;
  book_iterating(mine, seconds, trial());
  state_.report.iterations += result.iterations;
  return result;
}

solvers::MethodResult ArmRun::run_here(const solvers::Progress& progress, const Meters& meters) {
  auto& seconds = state_.report.seconds;
  const Choice choice = trial().choice;  // the list of trials may grow, and move, while the method runs
  const TimedOperator preconditioner(*made_.built.op, seconds.preconditioner, meters);
  const auto& method = solvers::method(choice.method);
  std::optional<TimedSplitForm> split;
  if (method.takes_split && made_.built.split != nullptr && made_.from == state_.matrix)
    split.emplace(*made_.built.split, seconds.preconditioner, meters);
  if (!choice.orthogonalization.empty()) {
    orthogonalize_ =
        timed(solvers::orthogonalization(choice.orthogonalization), seconds.orthogonalization, meters);
    stronger_ = timed(solvers::orthogonalization("ircgs"), seconds.orthogonalization, meters);
  }
  const solvers::System system{*state_.matrix, preconditioner, right_side_,
                               state_.sum,     is_complex_,    split ? &*split : nullptr};
  return method.solve(system, correction_, method_options(), orthogonalize_, progress);
}

solvers::MethodResult ArmRun::run_on_device(const solvers::Progress& progress) {
  const auto& method = *solvers::find_device_method(trial().choice.method);
  const auto solve = [&] {
    return method.solve({state_.device->matrix(state_.matrix), *made_there_.op, right_side_, state_.sum},
                        correction_, method_options(), progress);
  };
  // A device that fails leaves the solve to the other arms. Of several ranks the others wait for this one.
  return state_.comm.size() == 1 ? comm::agree(state_.comm, solve) : solve();
}

solvers::MethodOptions ArmRun::method_options() {
  const Forced& forced = state_.options.forced;
  solvers::MethodOptions options;
  options.target = aim();
  options.restart = std::max(trial().choice.restart, 1);
  options.max_iterations = state_.iterations_left();
  if (!is_on_device()) options.confirm = [this](solvers::Vector r) { return confirms(r); };
  if (trial().choice.restart == 0) return options;
  // The longest basis may show nothing until it is whole.
  if (arm().listed.last_resort)
    options.stagnation_window = std::max(options.stagnation_window, options.restart + 1);

  const bool may_orthogonalize_twice =
      !state_.decisions.script().keeps_orthogonalization && trial().choice.orthogonalization != "ircgs";
  cycle_tuner_.emplace(options.target,
                       CycleTuner::Limits{forced.restart ? *forced.restart : state_.longest_restart,
                                          may_orthogonalize_twice ? &stronger_ : nullptr},
                       [this](const std::string& kind, const std::string& text) {
                         state_.add_event(kind, fmt::format("{}: {}", name(), text));
                       });
  if (state_.hooks.snapshot)
    options.inside_cycle = [this](const std::function<void(solvers::Vector)>& form) {
      if (state_.snapshot_is_due()) take_snapshot(form);
    };
  options.next_cycle = [this](solvers::Cycle& cycle) {
    plan_cycle(cycle);
    trial().choice.restart = cycle.restart;
    if (cycle.orthogonalize == &stronger_) trial().choice.orthogonalization = "ircgs";
  };
  return options;
}

void ArmRun::plan_cycle(solvers::Cycle& cycle) {
  const double now = own_seconds();
  const int before = cycle.restart;
  if (state_.decisions.replays()) {
    cycle_tuner_->plan_orthogonalization(cycle);
  } else {
    cycle_tuner_->plan(cycle, now - cycle_from_);
  }
  const auto length = decide(Decision::Kind::restart, iteration_, [&] {
    return cycle.restart == before ? std::nullopt : std::optional<std::int64_t>(cycle.restart);
  });
  if (length) cycle.restart = static_cast<int>(*length);
  cycle_from_ = now;
}

/// Puts what happened into events; true if the same arm should go on.
bool ArmRun::judge(const solvers::MethodResult& result, double before) {
  const double reached = state_.relative(state_.residual_norm());
  arm().state = Arm::State::finished;
  switch (result.stop) {
    case solvers::Stop::converged:
      if (state_.converged()) return false;
      trial().outcome = "refuted";
      // Factors of fewer digits lose some in every correction, which is no surprise.
      state_.add_event(made_.built.reduced_accuracy ? "refinement" : "false-convergence",
                       fmt::format("{} claimed a relative residual of {:.1e}; the true one is {:.1e}", name(),
                                   state_.relative(result.residual_norm), reached));
      if (refinement_.goes_on(state_.residual_norm(), before)) return !state_.done();
      note_rounding();
      return false;
    case solvers::Stop::stagnated:
      note_rounding();
      state_.add_event("stagnation",
                       fmt::format("{} stagnated at {:.1e}: {}", name(), reached, result.reason));
      return false;
    case solvers::Stop::breakdown:
      note_rounding();
      state_.add_event("breakdown",
                       fmt::format("{} broke down at {:.1e}: {}", name(), reached, result.reason));
      state_.is_indefinite = state_.is_indefinite || result.indefinite;
      state_.looks_singular = state_.looks_singular || last_norm_ > far_worse * before;
      return false;
    case solvers::Stop::yielded:
      arm().state = Arm::State::paused;
      if (overtaken_) trial().outcome = "overtaken";
      if (behind_) {
        trial().outcome = "outpaced";
        trial().reason = why_;
      }
      if (too_slow_) trial().outcome = name_of(solvers::Stop::stagnated);
      return false;
    case solvers::Stop::interrupted:
      state_.note_stop();
      return false;
    case solvers::Stop::max_iterations:
      return false;
  }
  return false;
}

/// What complete factors cannot mend from zero nothing can. From what another arm has left they come again.
void ArmRun::note_rounding() {
  if (state_.converged() || state_.is_rounded_solution) return;
  // Some x of a singular matrix may leave little, and be enormous, without being near a solution.
  if (!state_.is_at_rounding() || state_.has_zero_pivots) {
    state_.is_rounded_solution = finds_rounded_solution();
    if (state_.is_rounded_solution) state_.rounded_off = enough_rounded_off;
    return;
  }
  state_.rounded_off += is_complete() && began_from_zero_ ? enough_rounded_off : 1;
  if (!is_complete() || began_from_zero_) return;
  arm().from_zero = true;
  arm().state = Arm::State::untried;
}

/// Collective. Whether this arm has a solution that rounding alone spoils, however much that leaves: x + d,
/// kept in two doubles each, that is proved to meet the tolerance. It is looked for by refinement with the
/// preconditioner: complete factors from zero, other arms from the x that they have reached. The x nearest to
/// it becomes the best, unless a neighbour of it leaves less.
bool ArmRun::finds_rounded_solution() {
  if (is_on_device()) return false;  // the preconditioner is there
  auto& x = sum_of_both_;
  auto& left = right_side_;
  auto& d = correction_;
  if (is_complete()) {
    solvers::fill(x, 0);
    state_.system->solve_boundary_rows(x);
  }
  if (!state_.may_be_rounding(state_.verified_residual(x, left)) && !is_complete()) return false;
  const ScopedTimer timer(state_.report.seconds.verification);
  solvers::fill(d, 0);
  bool is_proved = false;
  // The first x may leave more than there was: that is what rounding does here.
  for (double before = unlimited, norm = before; !is_proved; before = norm) {
    made_.built.op->apply(left, base_);
    solvers::axpy(1, base_, d);
    move_to_nearest(x, d);
    const Residual of_sum = state_.system->residual_of_sum(x, d, left);
    is_proved = state_.system->meets_tolerance(of_sum);
    norm = of_sum.norm;
    if (!is_proved && !(norm < before / 2)) return false;
  }
  const Residual rounded = state_.system->residual(x, left);
  if (!std::isfinite(rounded.norm)) return false;
  if (rounded.at_most() < state_.known.at_most() || !are_neighbours(state_.comm, state_.x, x))
    state_.take(x, left, rounded);
  return !state_.converged();
}

/// After every iteration: whether the method shall go on.
bool ArmRun::goes_on(int iteration, double norm) {
  if (state_.hooks.progress)
    state_.hooks.progress(trial().choice, state_.report.iterations + iteration, state_.relative(norm));
  last_norm_ = norm;
  iteration_ = iteration;
  note_norm(norm);
  state_.count_work(expected_.iteration);
  if (trial().choice.restart == 0 && !is_on_device() && state_.snapshot_is_due())
    take_snapshot([this](solvers::Vector d) { solvers::copy(correction_, d); });
  if (norm <= aim() || state_.sum.stop_requested()) return true;  // the method will see it itself
  if (made_.built.reduced_accuracy && iteration % refinements == 0) {
    const double halves = 1.0 * iteration / refinements;
    too_slow_ = gained_.back() < halves * digits_of(state_.options.rtol) / 2;
    if (too_slow_) return false;
  }
  if (iteration >= state_.iterations_left())
    return false;  // fewer than the method was told: challengers took some
  if (iteration < next_look_) return true;
  next_look_ = next_look(iteration);
  std::optional<std::size_t> next;
  behind_ = decide(Decision::Kind::behind, iteration, [&]() -> std::optional<std::int64_t> {
              next = other_arm(iteration);
              if (!next) return std::nullopt;
              // The one that is suspended goes on when this one gives way, and so does its judgement of
              // others. What a device has reached is here when its method ends.
              const bool is_suspended = state_.arms[*next].state == Arm::State::running;
              return is_suspended || is_challenger_ || is_on_device() ? std::optional<std::int64_t>(1)
                                                                      : std::nullopt;
            }).has_value();
  if (behind_) return false;
  const auto challenger = decide(Decision::Kind::challenge, iteration, [&] {
    return next ? std::optional(static_cast<std::int64_t>(*next)) : std::nullopt;
  });
  if (challenger) overtaken_ = is_overtaken_by(static_cast<std::size_t>(*challenger), iteration);
  return !overtaken_;
}

/// Digits gained so far, as if the method had begun with x = 0: what is left to gain from a better x counts
/// as all.
void ArmRun::note_norm(double norm) {
  smallest_norm_ = std::min(smallest_norm_, norm);
  const double to_gain = std::log10(begins_with_ / state_.target());
  const double gained = std::log10(begins_with_ / norm) * digits_of(state_.options.rtol) / to_gain;
  const float so_far = gained_.empty() ? 0.0F : gained_.back();
  gained_.push_back(std::isfinite(gained) ? std::max(so_far, static_cast<float>(gained)) : so_far);
}

/// What the policy is to know of this arm.
void ArmRun::note_progress(int iteration) {
  if (iteration < 1 || gained_.empty()) return;
  Seen& seen = arm().seen;
  seen.iterations = iteration;
  seen.digits = gained_.back();
  seen.digits_halfway = gained_[gained_.size() / 2];
  // The latest iterations tell what those to come take: of a long basis they are the dearest so far.
  if (iteration == looked_after_) return;
  const double now = own_seconds();
  seen.iteration = (now - std::exchange(looked_at_, now)) / (iteration - looked_after_) / state_.unit();
  looked_after_ = iteration;
}

/// Another arm with which the solve is expected to end sooner.
std::optional<std::size_t> ArmRun::other_arm(int iteration) {
  note_progress(iteration);
  auto action = state_.next_action(arm_);
  if (!action || action->arm == arm_) return std::nullopt;
  Arm& other = state_.arms[action->arm];
  const bool is_suspended = other.state == Arm::State::running;
  why_ = action->why;
  if (!is_suspended) other.listed.why = std::move(action->why);
  return action->arm;
}

/// Collective. The method stands still meanwhile: products and time are none of its own.
template <class F>
void ArmRun::beside_the_method(F&& work) {
  const Meters meters(*state_.matrix, state_.sum, *state_.product_tuner);
  const Meter start = meters.read();
  const double agreed_start = state_.sum.agreed_seconds();
  state_.matrix->set_observer(nullptr);
  work();
  state_.matrix->set_observer(&*state_.product_tuner);
  away_ += state_.agree_on_time() - agreed_start;
  challengers_ += meters.since(start);
}

void ArmRun::take_snapshot(const std::function<void(solvers::Vector)>& form_correction) {
  beside_the_method([&] {
    form_correction(sum_of_both_);
    solvers::axpy(1, base_, sum_of_both_);
    state_.take_snapshot(trial().choice, state_.report.iterations + iteration_, sum_of_both_);
  });
}

/// As MethodOptions::confirm: whether the solve has converged with the correction that the method has.
bool ArmRun::confirms(solvers::Vector r) {
  beside_the_method([&] {
    solvers::copy(base_, sum_of_both_);
    solvers::axpy(1, correction_, sum_of_both_);
    const auto residual = state_.offer(sum_of_both_);
    is_confirmed_ = state_.converged();
    if (!is_confirmed_) solvers::copy(residual, r);
  });
  return is_confirmed_;
}

/// Suspends this attempt and lets another run from the x reached. True if this one is not needed any more.
bool ArmRun::is_overtaken_by(std::size_t challenger, int iteration) {
  const Meters meters(*state_.matrix, state_.sum, *state_.product_tuner);
  const Meter start = meters.read();
  const double agreed_start = state_.sum.agreed_seconds();
  const PhaseSeconds before = state_.report.seconds;
  solvers::copy(base_, sum_of_both_);
  solvers::axpy(1, correction_, sum_of_both_);
  const double best = state_.residual_norm();
  state_.offer(sum_of_both_);
  if (state_.residual_norm() < best) {
    state_.report.choice = trial().choice;
    state_.report.why = trial().why;
  }

  const double offered = state_.residual_norm();
  trial().relative_residual = state_.relative(offered);
  const std::string who = describe(state_.arms[challenger].listed.choice);
  if (!is_challenger_) state_.challenged_at = agreed_start;
  ArmRun attempt(state_, challenger, true);
  state_.report.iterations += iteration;
  if (!state_.converged()) attempt.pursue();
  state_.report.iterations -= iteration;
  if (!is_challenger_) state_.challenged_at.reset();
  const double agreed_end = state_.agree_on_time();
  const Meter spent = meters.since(start);
  challengers_ += spent;
  away_ += agreed_end - agreed_start;

  if (state_.has_stopped() && !state_.converged()) return true;
  // The best x may be better than the present one without any merit of the challenger: residuals of CG and
  // BiCGSTAB leap.
  const bool has_gained = state_.residual_norm() < offered;
  const bool left_behind =
      has_gained && !attempt.behind_ && far_more * state_.residual_norm() < smallest_norm_;
  if (state_.converged() || state_.is_rounded_solution || left_behind) {
    state_.add_event("overtaken",
                     fmt::format("{} gives way to {}: {}", name(), who, state_.arms[challenger].listed.why));
    return true;
  }
  state_.budget.spend(agreed_end - agreed_start);
  state_.report.seconds = before;
  state_.report.seconds.tuning += spent.wall;
  return false;
}

}  // namespace ayatori::tuning
