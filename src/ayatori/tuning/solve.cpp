#include "ayatori/tuning/solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/tuning/obstacle.hpp"
#include "ayatori/tuning/run/arm_run.hpp"
#include "ayatori/tuning/run/least_squares_arm.hpp"
#include "ayatori/tuning/run/solve_state.hpp"

namespace ayatori::tuning {

namespace {

using solvers::ConstVector;
using solvers::Vector;

/// A forced method is obeyed even where the matrix is known not to suit it; that is said.
void note_contradictions(SolveState& state) {
  const ListedArm& first = state.arms.front().listed;
  state.report.choice = first.choice;
  state.report.why = first.why;
  if (is_least_squares(first.choice)) return;
  if (solvers::method(first.choice.method).needs_symmetric && !state.report.facts.symmetric)
    state.add_event("note",
                    fmt::format("{} is for symmetric matrices, and this one is not", first.choice.method));
}

/// What makes the system singular, and what that means for its solution.
void note_null_vectors(SolveState& state) {
  const auto& [right, left] = state.system->null_spaces();
  const auto describe = [&](const solvers::PiecewiseConstants& null_vectors, const char* sums) {
    return fmt::format("the matrix is singular: {} sums vanish on {} of {} rows, {} connected component{}",
                       sums, null_vectors.unknowns(), state.report.facts.rows, null_vectors.dimension(),
                       null_vectors.dimension() == 1 ? "" : "s");
  };
  if (!right->empty()) state.add_event("note", describe(*right, "row") + "; the solution has mean 0 there");
  if (left->empty()) return;
  if (left != right) state.add_event("note", describe(*left, "column"));
  if (state.system->is_consistent()) return;
  state.add_event("note",
                  fmt::format("the system is inconsistent: no x leaves a relative residual below {:.3g}; the "
                              "x wanted is one of the least squares",
                              state.system->unreachable() / state.system->b_norm()));
}

/// Brings the starting guess into the scale of the system, and finds its residual.
void start_from(SolveState& state) {
  state.system->to_scaled(state.x);
  if (state.system->b_norm() == 0)
    solvers::fill(state.x, 0);  // the only right answer; no relative residual can be defined
  note_null_vectors(state);
  state.system->solve_boundary_rows(state.x);
  if (state.system->boundary_rows() > 0)
    state.add_event(
        "note",
        fmt::format(
            "boundary rows, with no entry of weight but the diagonal's, are solved "
            "first: {}; the tolerance holds for the others as well{}",
            state.system->boundary_rows(),
            state.report.facts.symmetric_inside ? ", which are symmetric without the columns of these" : ""));
  if (state.system->boundary_rows() == 0 && !state.comm.any(solvers::local_max_abs(state.x) != 0) &&
      std::isfinite(state.report.facts.row_sums.total_abs)) {  // no product is needed
    state.known = state.system->residual_of_zero(state.residual);
    return;
  }
  state.known = state.verified_residual(state.x, state.residual);
  if (std::isfinite(state.known.norm)) return;
  solvers::fill(state.x, 0);
  state.system->solve_boundary_rows(state.x);
  state.known = state.verified_residual(state.x, state.residual);
}

/// That multiplies by full blocks, or complex entries; empty where there are none.
std::string kernel_of_blocks(const MatrixFacts& facts) {
  if (facts.complex_form) return "complex-csr";
  if (facts.block_size == 1) return {};
  return fmt::format("bcsr-{0}x{0}", facts.block_size);
}

/// Collective. The matrix with the kernel and halo strategy that the pattern suggests.
void build_product(SolveState& state) {
  ProductPlan plan;
  const auto begin_tuning = [&state, &plan] {
    state.product_tuner.emplace(
        *state.matrix, state.sum, state.options.deterministic ? state.no_budget : state.budget,
        [&state] { return state.clock(); }, std::move(plan), &state.decisions,
        [&state](ProductPlan& waiting) {
          plan_kernels(state.comm, *state.inside, state.options.forced, waiting);
          apply(state.experience, waiting);
        });
  };
  if (state.kept != nullptr && state.kept->matrix) {
    state.matrix = state.kept->matrix;
    plan.first = state.matrix->options();
    plan.products_before_planning = state.kept->products_before_planning;
    begin_tuning();
    return;
  }
  {
    const ScopedTimer timer(state.report.seconds.tuning);
    Products expected = Products::counted;
    const ListedArm& first = state.arms.front().listed;
    double to_come = uses_diagonal_at_most(first.choice) ? first.expected : 0;
    if (state.options.max_iterations > 0)
      to_come = std::min(to_come, static_cast<double>(state.options.max_iterations));
    if (state.experience.best && !state.experience.best->kernel.empty())
      expected = state.experience.familiar ? Products::familiar : Products::planned;
    plan = state.decisions.replays() ? ProductPlan{.first = state.decisions.script().products.front()}
                                     : plan_product(state.comm, *state.inside, state.options.forced,
                                                    state.options.profile.get(), expected, to_come);
    apply(state.experience, plan);
    if (plan.products_before_planning > 0 && expected != Products::familiar)
      plan.kernel_before_planning = kernel_of_blocks(state.report.facts);
  }
  const ScopedTimer timer(state.report.seconds.setup);
  while (!state.matrix) {
    try {
      state.matrix = std::make_shared<sparse::DistributedMatrix>(state.comm, state.inside, plan.first);
    } catch (const Error& error) {
      if (!error.agreed() || !take_next_kernel(plan, error.what())) throw;
    }
  }
  begin_tuning();
}

/// The first arm that may run, of those of which records know nothing.
std::optional<std::size_t> first_unknown(const SolveState& state, bool last_resort) {
  const auto arm = std::ranges::find_if(
      state.arms, [&](const Arm& one) { return one.may_run() && one.listed.last_resort == last_resort; });
  return arm == state.arms.end() ? std::nullopt : std::optional<std::size_t>(arm - state.arms.begin());
}

/// As challengers they may have had to give way before they were done.
std::optional<std::size_t> pending_complete_factors(const SolveState& state) {
  const auto arm = std::ranges::find_if(
      state.arms, [](const Arm& one) { return one.may_run() && uses_complete_factors(one.listed.choice); });
  return arm == state.arms.end() ? std::nullopt : std::optional<std::size_t>(arm - state.arms.begin());
}

/// To working precision a regular matrix may look singular, with a solution that rounding spoils. Complete
/// factors can prove that there is one, while LSMR sees no difference. Where methods have made as many
/// iterations as there are rows, they would have ended without rounding.
bool wants_complete_factors(const SolveState& state) {
  return state.report.facts.rows <= state.report.iterations && !state.report.structure.is_singular() &&
         pending_complete_factors(state).has_value();
}

/// As it was chosen; or on a device, whose price was not known then: what is expected to end soonest, or of
/// what an earlier solve recommends the same there.
std::size_t first_arm(SolveState& state) {
  if (!state.device) return 0;
  if (state.experience.best) {
    const Choice& here = state.arms.front().listed.choice;
    const auto there = std::ranges::find_if(state.arms, [&](const Arm& arm) {
      return !arm.listed.choice.device.empty() && same_numerics(arm.listed.choice, here);
    });
    if (there == state.arms.end()) return 0;
    const auto place = static_cast<std::size_t>(there - state.arms.begin());
    return state.expected_of(place).mean < state.expected_of(0).mean ? place : 0;
  }
  auto action = state.next_action({});
  if (!action) return 0;
  if (action->arm > 0) state.arms[action->arm].listed.why = std::move(action->why);
  return action->arm;
}

/// The arm to go on with: the first one as it was chosen, then what is expected to end soonest, then what
/// nothing is known of, last the last resorts.
std::optional<std::int64_t> next_arm(SolveState& state) {
  // What rounding limits, complete factors must have tried before that is said; and what they cannot mend no
  // other arm will, however fast it was.
  if (state.rounded_off > 0 || state.complete_factors_come_next)
    if (const auto factors = pending_complete_factors(state)) return factors;
  if (state.report.trials.empty()) return first_arm(state);
  if (auto action = state.next_action({}); action && state.arms[action->arm].may_run()) {
    state.arms[action->arm].listed.why = std::move(action->why);
    return action->arm;
  }
  if (const auto unknown = first_unknown(state, false)) return unknown;
  return first_unknown(state, true);
}

/// Worth a search where the first method has not ended the solve.
void look_for_components(SolveState& state) {
  const ScopedTimer timer(state.report.seconds.tuning);
  state.report.structure.components = find_components(state.comm, *state.system->parts());
  std::string found = describe(*state.report.structure.components);
  if (!found.empty()) state.add_event("note", std::move(found));
}

void run_listed_arms(SolveState& state, LeastSquaresArm& least_squares) {
  bool first = true;
  bool looked_definite = true;
  if (least_squares.comes_first()) {
    least_squares.run();
    first = false;
  }
  const bool wants_unit = !state.decisions.replays() && !state.options.deterministic;
  if (wants_unit && state.product_tuner->product_seconds() == 0) state.measure_product();
  state.began = state.agree_on_time();
  while (!state.done()) {
    if (looked_definite && state.is_indefinite) {
      looked_definite = false;
      state.replace_arms();
    }
    const auto arm = state.decisions.ask(Decision::Kind::arm, -1, 0, [&] { return next_arm(state); });
    if (!arm) return;
    const ListedArm& listed = state.arms[*arm].listed;
    if (!first) state.add_event("escalation", fmt::format("now {}: {}", describe(listed.choice), listed.why));
    first = false;
    const double before = state.residual_norm();
    const auto trial = static_cast<std::ptrdiff_t>(state.report.trials.size());
    ArmRun(state, static_cast<std::size_t>(*arm)).pursue();
    const bool useless = !(state.residual_norm() < before);
    if (useless && state.arms[*arm].state == Arm::State::paused)
      state.arms[*arm].state = Arm::State::finished;
    if (state.is_rounded_solution ||
        (state.rounded_off >= enough_rounded_off && !pending_complete_factors(state))) {
      state.add_event("rounding", fmt::format("rounding x to double leaves some {:.1e} already",
                                              state.known.all.rounding / state.system->b_norm()));
      return;
    }
    if (!state.done() && !state.report.structure.components) look_for_components(state);
    const auto is_due = [&](const Trial& one) { return least_squares.is_due(one); };
    if (state.done() || std::none_of(state.report.trials.begin() + trial, state.report.trials.end(), is_due))
      continue;
    state.complete_factors_come_next = wants_complete_factors(state);
    if (!state.complete_factors_come_next) least_squares.run();
  }
}

void run_arms(SolveState& state) {
  LeastSquaresArm least_squares(state);
  if (is_least_squares(state.arms.front().listed.choice)) return least_squares.run_alone();
  run_listed_arms(state, least_squares);
  least_squares.run_last();
  least_squares.prefer_small_solution();
}

/// Collective.
Status status_of(const SolveState& state) {
  if (state.converged())
    return state.system->meets_tolerance(state.known) ? Status::converged : Status::least_squares;
  if (state.is_least_squares) return Status::least_squares;
  if (state.is_rounded_solution) return Status::limited_by_rounding;
  if (!state.has_stopped())
    return state.rounded_off >= enough_rounded_off ? Status::limited_by_rounding : Status::not_converged;
  return state.comm.any(state.interrupted_by_time()) ? Status::time_limit : Status::interrupted;
}

/// Collective. x returns to the scale of A x = b, which may cost it digits where that scale is at the border
/// of the range of double; the residual reported is that of the x that is left. It is known where that is the
/// x it belongs to, to the bit.
void verify_what_is_handed_back(SolveState& state) {
  const auto give_up = [&state] {
    solvers::fill(state.x, 0);
    state.add_event("failure", "the solution exceeds the range of double precision: scale the system");
  };
  Array<double> scaled(state.x.begin(), state.x.end());
  state.system->to_original(state.x);
  if (state.comm.any(!std::isfinite(solvers::local_max_abs(state.x)))) give_up();
  const auto verify = [&state, &scaled] {
    const Array<double> verified = std::move(scaled);
    scaled.assign(state.x.begin(), state.x.end());
    state.system->to_scaled(scaled);
    if (state.comm.any(scaled != verified)) state.known = state.verified_residual(scaled, state.residual);
  };
  verify();
  if (!std::isfinite(state.known.norm)) {  // what the lost digits are multiplied with is that large
    give_up();
    verify();
  }
  describe_residual(*state.system, state.known, state.report);
  state.report.backward_error = state.backward_error(scaled, state.known.all.value);
}

void average_over_ranks(const comm::Comm& comm, PhaseSeconds& s) {
  const std::array<double*, 11> fields{&s.total,        &s.setup,          &s.tuning,
                                       &s.verification, &s.solve,          &s.spmv,
                                       &s.halo,         &s.preconditioner, &s.orthogonalization,
                                       &s.reduction,    &s.snapshots};
  std::array<double, 11> values{};
  std::ranges::transform(fields, values.begin(), [](const double* field) { return *field; });
  comm.allreduce(std::span<double>(values), comm::ReduceOp::sum);
  for (std::size_t i = 0; i < fields.size(); ++i) *fields[i] = values[i] / comm.size();
}

/// Collective. The profile tells the rate of one node with as many threads as this job has there.
ProductSpeed product_speed(const SolveState& state) {
  const auto& facts = state.report.facts;
  const double vectors = 3 * 8 * static_cast<double>(facts.rows);  // x read, y written after being fetched
  const auto matrix =
      static_cast<double>(state.comm.allreduce(state.matrix->matrix_bytes(), comm::ReduceOp::sum));
  ProductSpeed speed{matrix + vectors, state.product_tuner->product_seconds(), 0};
  const auto& profile = state.options.profile;
  if (!profile) return speed;
  const int here = state.comm.split_by_node().size();
  const double rate = profile->memory_bandwidth("triad", here * max_threads());
  const double all_nodes = state.comm.allreduce(rate / here, comm::ReduceOp::sum);
  if (all_nodes > 0) speed.memory_seconds = speed.bytes / all_nodes;
  return speed;
}

/// What the next solve of this matrix can use.
void leave_reusable_setup(SolveState& state) {
  state.matrix->use(state.product_tuner->incumbent());
  state.matrix->forget_unused();
  state.kept->products_before_planning = state.product_tuner->products_until_planning();
  state.kept->examined = state.examined;
  state.kept->judged = state.system->parts();
  state.kept->structure = state.report.structure;
  state.kept->matrix = state.matrix;
  state.kept->ended_by_least_squares = is_least_squares(state.report.choice);
  if (state.report.converged() && state.report.iterations > 0 && !state.kept->ended_by_least_squares)
    state.kept->choice = state.report.choice;
}

SolveReport finish(SolveState& state, const Stopwatch& watch) {
  SolveReport& report = state.report;
  verify_what_is_handed_back(state);
  report.status = status_of(state);
  if (report.status == Status::interrupted || report.status == Status::time_limit) {
    state.add_event("stopped", fmt::format("{} at {:.1e}; x is the best so far", name_of(report.status),
                                           state.relative(state.residual_norm())));
  }
  report.reductions = state.sum.count();
  report.choice.kernel = state.product_tuner->incumbent().kernel;
  report.choice.halo = state.product_tuner->incumbent().halo;
  for (Trial& trial : report.trials) {
    trial.choice.kernel = report.choice.kernel;
    trial.choice.halo = report.choice.halo;
  }
  report.considered = state.product_tuner->candidate_verdicts();
  const auto last = state.decisions.number_of(state.product_tuner->incumbent());
  report.script = state.decisions.script();
  report.script.last_product = static_cast<int>(last);
  report.product = product_speed(state);
  const auto& plan = state.system->parts()->plan;
  report.halo_messages = state.comm.allreduce(plan.messages(), comm::ReduceOp::sum);
  report.halo_bytes = state.comm.allreduce(plan.bytes_sent(), comm::ReduceOp::sum);
  report.seconds.total = watch.seconds();
  average_over_ranks(state.comm, report.seconds);
  if (state.kept != nullptr) leave_reusable_setup(state);
  report.tuning_seconds = report.seconds.tuning + state.product_tuner->excess_seconds();
  report.obstacle = find_obstacle(report, state.options);
  return std::move(report);
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::least_squares:
      return "least squares";
    case Status::not_converged:
      return "not converged";
    case Status::limited_by_rounding:
      return "limited by rounding";
    case Status::interrupted:
      return "interrupted";
    case Status::time_limit:
      break;
  }
  return "time limit reached";
}

SolveReport solve(const comm::Comm& comm, std::shared_ptr<const sparse::SplitMatrix> parts, ConstVector b,
                  Vector x, const SolveOptions& options, const SolveHooks& hooks, ReusableSetup* kept) {
  comm::agree(comm, [&] {
    check(options.forced);
    if (!(options.rtol > 0 && options.rtol < 1)) {
      throw InputError(fmt::format("the tolerance is {}, but must be between 0 and 1", options.rtol));
    }
    if (!(options.tuning_share >= 0 && options.tuning_share <= 1)) {
      throw InputError(fmt::format("the share of time for tuning is {}, but must be between 0 and 1",
                                   options.tuning_share));
    }
    if (!std::isfinite(solvers::local_max_abs(b)))
      throw InputError("the right-hand side holds a NaN or an infinity");
  });
  const Stopwatch watch;
  SolveState state(comm, std::move(parts), b, x, options, hooks, kept);
  note_contradictions(state);
  for (std::string& finding : describe(state.report.structure)) state.add_event("note", std::move(finding));
  start_from(state);
  build_product(state);
  state.take_snapshot(state.report.choice, 0, state.x);
  run_arms(state);
  return finish(state, watch);
}

}  // namespace ayatori::tuning
