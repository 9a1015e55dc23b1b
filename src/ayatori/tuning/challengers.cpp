#include "ayatori/tuning/challengers.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/tuning/experience.hpp"

namespace ayatori::tuning {

namespace {

constexpr int most_tries = 6;
/// A Krylov method may need some iterations before its residual shrinks, but not that many slices.
constexpr int enough_without_progress = 3;
/// A challenge must promise to save so many times its price.
constexpr double worthwhile = 2;
/// One whose iterations are known beforehand is expected to win, and need promise less.
constexpr double worthwhile_if_expected = 1;
/// The favourite is tried when the iterations have taken this share of its price: so much is lost where it
/// would have been right to begin with it.
constexpr double favourite_share = 0.1;
/// It is expected to need this share of the iterations to come.
constexpr double favourite_iterations = 0.25;
/// The pace of the later half is at most so many times slower than the mean.
constexpr double slowest = 4;
/// It is dropped when it takes so many times its price before it can be judged: of factors with fill little
/// is known beforehand.
constexpr double favourite_patience = 4;
/// Iterations of a favourite that tell something.
constexpr int fewest_to_judge = 6;
/// Finding the facts of a matrix takes as long as so many products with it from the cache.
constexpr double products_of_a_look = 7;
/// No arm is expected to need fewer than this share of another's iterations, and the same method with a
/// cheaper preconditioner fewer than so many times as many.
constexpr double fewest_iterations = 0.1;
constexpr double plainer_iterations = 2;
/// Of the time still to come only so many times the time so far is believed, and less from a method that may
/// only be slow to begin, as those that do not minimise the residual are.
constexpr double most_trust = 2;
constexpr double least_trust = 1;
constexpr int slow_beginning = 100;
/// A challenger that lost comes again unless it would have taken more than so many times the incumbent's
/// time.
constexpr double hopeless = 5;
/// A challenger must promise to finish, its time so far included, within this share of the other's time: a
/// tie is not worth a change, and forecasts made early are too long more often than too short.
constexpr double clearly_earlier = 0.75;
/// A challenger that takes so many times its price before it can be judged is dropped.
constexpr double patience = 2;
/// Challengers of challengers of ...
constexpr int deepest = 3;

/// What it takes to see what a choice is worth.
int first_iterations(const Choice& choice) {
  return uses_complete_factors(choice) ? iterations_of_complete_factors : probation;
}

PredictedCost cost_of(const Choice& choice, const SolveState& state) {
  return predict_cost(choice, state.report.facts, state.product_tuner->share_of_csr());
}

double trust(const AtWork& work) {
  const bool may_only_begin_slowly = work.pace.decay() == 0 && work.iteration < slow_beginning;
  return may_only_begin_slowly ? least_trust : most_trust;
}

/// Seconds of a product with compressed sparse rows, the unit of predicted costs; 0 where products have not
/// been measured yet.
double measured_unit(const SolveState& state) {
  return state.product_tuner->product_seconds() / state.product_tuner->share_of_csr();
}

/// The same; where it has not been measured it is judged by what iterations take.
double unit_seconds(const SolveState& state, const AtWork& work) {
  const double measured = measured_unit(state);
  return measured > 0 ? measured
                      : work.pace.seconds() / (work.iteration * cost_of(work.choice, state).iteration);
}

/// Whether an arm may challenge what is at work: not tried yet, or not hopeless when it was, and other
/// numerics than all that are at work.
bool is_promising(const Arm& arm, const SolveState& state, const AtWork& work) {
  if (arm.rung.last_resort || arm.was_given_up) return false;
  if (arm.state != Arm::State::untried && arm.state != Arm::State::paused) return false;
  const bool is_at_work = std::ranges::any_of(state.arms, [&](const Arm& other) {
    return other.state == Arm::State::running && same_numerics(other.rung.choice, arm.rung.choice);
  });
  if (is_at_work) return false;
  if (arm.state == Arm::State::untried) return true;
  if (arm.decay == 0) return arm.tries < enough_without_progress;
  return arm.tries < most_tries && arm.decay * hopeless >= work.pace.decay();
}

/// Seconds that the set-up of a choice and its first iterations are expected to take. Factors are made and
/// applied entry by entry, as the facts of the matrix are found: what a kernel makes of a regular pattern is
/// nothing to them.
double price_of(const Choice& choice, double unit, const SolveState& state) {
  const PredictedCost its = cost_of(choice, state);
  return std::max(unit, state.look_seconds / products_of_a_look) *
         (its.setup + first_iterations(choice) * its.iteration);
}

/// Seconds that complete factors and their iterations take, where the analysis has told.
double price_of_factors(const Arm& arm, const SolveState& state) {
  const double measured = measured_unit(state);
  const double unit = measured > 0 ? measured : state.look_seconds / products_of_a_look;
  return unit *
         (arm.known_set_up + iterations_of_complete_factors * cost_of(arm.rung.choice, state).iteration);
}

/// The longer of the two forecasts, but the present pace is not believed to be that much slower than the
/// mean: a residual that is level for a while will fall again.
double pessimistic_remaining(const Pace& pace, double target) {
  const double mean = pace.mean_remaining(target);
  return mean < unlimited ? std::clamp(pace.remaining(target), mean, slowest * mean) : unlimited;
}

/// Whether the iteration at work promises to end in the time that a favourite would take, set-up and a share
/// of the iterations to come. In diffusion a slow beginning says nothing of that.
bool ends_before(const Choice& favourite, double unit, const SolveState& state, const AtWork& work) {
  if (uses_diagonal_at_most(work.choice) && work.iteration < least_iterations(state.report.facts))
    return true;
  const double end = pessimistic_remaining(work.pace, state.target());
  if (!(end < unlimited)) return false;
  const double own_iteration = work.pace.seconds() / work.iteration;
  const PredictedCost its = cost_of(favourite, state);
  double iterations = first_iterations(favourite);
  if (!uses_complete_factors(favourite))
    iterations = std::max(favourite_iterations * end / own_iteration, iterations);
  return end < unit * (its.setup + iterations * its.iteration);
}

/// An arm that has not been tried and is expected to win: because its iterations are known beforehand, if it
/// promises to be worth its price or no end is in sight, and, with the usual share, as much has been spent
/// without it (the rule of renting or buying); or as the favourite, if a tenth of its price has been spent
/// and no end within the price is in sight, at the present pace and at that so far. A favourite may be
/// challenged by the next so.
std::optional<Challenger> expected_winner(const SolveState& state, const AtWork& work) {
  if (work.challenge.depth > 0 && !work.challenge.is_favourite) return std::nullopt;
  const double remaining = work.pace.remaining(state.target());
  const double time = state.sum.agreed_seconds() - state.budget.spent();
  const double powers = std::log(work.pace.norm() / state.target());
  const double unit = unit_seconds(state, work);
  for (std::size_t i = 0; i < state.arms.size(); ++i) {
    const Arm& arm = state.arms[i];
    if (arm.tries > 0 || !is_promising(arm, state, work)) continue;
    const Choice& choice = arm.rung.choice;
    const double price = price_of(choice, unit, state);
    if (arm.rung.favourite) {
      if (!ends_before(choice, unit, state, work) &&
          work.seconds - work.started_after >= favourite_share * price &&
          state.budget.allows_expected(price, work.seconds / favourite_share))
        return Challenger{i, price, true};
      continue;
    }
    if (work.challenge.depth > 0) continue;
    const auto iterations = expected_iterations(choice, state.report.facts, powers);
    if (!iterations) continue;
    const PredictedCost its = cost_of(choice, state);
    const double saved = remaining - unit * (its.setup + *iterations * its.iteration);
    if (saved < worthwhile_if_expected * price) continue;
    if (state.budget.allows_expected(price, time)) return Challenger{i, price, false};
  }
  return std::nullopt;
}

/// The arm that has been tried least, and of these the first, that promises to be worth its price, if the
/// budget allows that. If not, the budget is saved for it: dearer arms would never come if cheap ones spent
/// it.
std::optional<Challenger> gamble(const SolveState& state, const AtWork& work) {
  if (work.iteration < probation) return std::nullopt;
  const double time = state.sum.agreed_seconds() - state.budget.spent();
  if (work.challenge.depth > 0 && work.seconds < std::min(work.challenge.finish, time) / 4)
    return std::nullopt;
  const double remaining = work.pace.remaining(state.target());
  const double unit = unit_seconds(state, work);
  const double own_iteration = work.pace.seconds() / work.iteration;
  const double own_cost = cost_of(work.choice, state).iteration;
  const double allowed = time + std::min(remaining, trust(work) * time);
  std::optional<Challenger> best;
  for (std::size_t i = 0; i < state.arms.size(); ++i) {
    const Arm& arm = state.arms[i];
    if (!is_promising(arm, state, work) || (best && arm.tries >= state.arms[best->arm].tries)) continue;
    const Choice& choice = arm.rung.choice;
    const PredictedCost its = cost_of(choice, state);
    const double price = unit * (its.setup + (first_iterations(choice) << arm.tries) * its.iteration);
    const bool is_plainer = choice.method == work.choice.method && its.iteration < own_cost;
    const double iterations =
        (is_plainer ? plainer_iterations : fewest_iterations) * remaining / own_iteration;
    const double optimistic = unit * (its.setup + iterations * its.iteration);
    if (remaining < unlimited && worthwhile * price > remaining - optimistic) continue;
    best = {i, price, false};
  }
  return best && state.budget.allows(best->price, allowed) ? best : std::nullopt;
}

}  // namespace

double products_allowed(const Arm& arm, const SolveState& state, bool on_trial) {
  const Rung& rung = arm.rung;
  if (!on_trial || arm.known_set_up > 0) return unlimited;
  if (rung.favourite) return favourite_patience * cost_of(rung.choice, state).setup;
  return patience * solvers::preconditioner(rung.choice.preconditioner).setup_products;
}

std::optional<std::size_t> affordable_factors(const SolveState& state) {
  for (std::size_t i = 0; i < state.arms.size(); ++i) {
    const Arm& arm = state.arms[i];
    const bool waits = arm.state == Arm::State::untried && arm.was_given_up && arm.known_set_up > 0;
    if (waits && state.sum.agreed_seconds() >= price_of_factors(arm, state)) return i;
  }
  return std::nullopt;
}

std::optional<Challenger> next_challenger(const SolveState& state, const AtWork& work) {
  if (work.challenge.depth >= deepest) return std::nullopt;
  const auto factors = work.challenge.depth == 0 ? affordable_factors(state) : std::nullopt;
  if (factors) {
    const double price = price_of_factors(state.arms[*factors], state);
    if (pessimistic_remaining(work.pace, state.target()) > price) return Challenger{*factors, price, true};
  }
  const auto winner = expected_winner(state, work);
  return winner ? winner : gamble(state, work);
}

Challenge terms_of(const Challenger& challenger, const SolveState& state, const AtWork& work) {
  const double remaining = work.pace.remaining(state.target());
  const double allowance = (challenger.is_favourite ? favourite_patience : patience) * challenger.price;
  // Without a forecast of its own what is at work makes way only for one that would finish while it does as
  // much again as it has done.
  const double finish = remaining < unlimited ? remaining : work.seconds;
  const int depth = work.challenge.depth + 1;
  if (!challenger.is_favourite) return {finish, std::min(finish, allowance), depth, false};
  // A favourite has the benefit of the doubt.
  return {std::max(finish, work.pace.mean_remaining(state.target())), allowance, depth, true};
}

bool falls_behind(const SolveState& state, const AtWork& work) {
  const Challenge& challenge = work.challenge;
  // What complete factors have cost is spent, and their few iterations end by themselves.
  if (challenge.depth == 0 || uses_complete_factors(work.choice)) return false;
  // As long as the favourite's set-up has taken its iterations may show what it was worth.
  const bool is_young = challenge.is_favourite
                            ? work.iteration < fewest_to_judge || work.seconds < 2 * work.started_after
                            : work.iteration < work.judged_after;
  if (is_young) return work.seconds > challenge.allowance;
  double remaining = work.pace.remaining(state.target());
  double counted = work.seconds;
  if (challenge.is_favourite) {  // which has the benefit of the doubt
    remaining = std::min(remaining, work.pace.mean_remaining(state.target()));
    counted = 0;  // what its set-up has taken is spent: it would take long to be worth that again
  }
  const bool pays_for_itself =
      counted + remaining < clearly_earlier * challenge.finish || remaining < challenge.finish / 3;
  return remaining == unlimited || !pays_for_itself;
}

}  // namespace ayatori::tuning
