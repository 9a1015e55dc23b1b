#include "ayatori/tuning/run/solve_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/memory.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/tuning/judgement.hpp"

namespace ayatori::tuning {

int find_longest_restart(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  constexpr double bytes_of_double = 8;
  const double n = std::max(parts.plan.local_size, 1);
  const auto rows = static_cast<double>(parts.partition.rows());
  const double longest = bytes_of_double * (n * rows + rows * rows / 2);
  const bool fits_easily = longest * comm.size() < share_of_memory * static_cast<double>(free_memory());
  const double least = usual_restart;
  if (!comm.any(!fits_easily)) return static_cast<int>(std::max(rows, least));  // all on one node at worst
  const comm::Comm node = comm.split_by_node();
  const double doubles =
      share_of_memory * static_cast<double>(available_memory()) / (bytes_of_double * node.size());
  const double most = std::sqrt(n * n + 2 * doubles) - n;  // m n + m^2 / 2 = doubles
  const double fits = comm.allreduce(most, comm::ReduceOp::min);
  return static_cast<int>(std::clamp(fits, least, std::max(rows, least)));
}

SolveState::SolveState(const comm::Comm& communicator, std::shared_ptr<const sparse::SplitMatrix> parts,
                       solvers::ConstVector b, solvers::Vector best, const SolveOptions& solve_options,
                       const SolveHooks& solve_hooks, ReusableSetup* set_ups)
    : comm(communicator),
      options(solve_options),
      hooks(solve_hooks),
      kept(set_ups),
      sum(
          communicator, [this] { return wants_stop(); }, [this] { return clock(); }),
      budget(solve_options.tuning_share),
      x(best) {
  const ScopedTimer timer(report.seconds.tuning);
  if (kept != nullptr && kept->examined) {
    examined = *kept->examined;
  } else {
    examined = examine_inside(comm, parts);
    if (!std::isfinite(examined.facts.row_sums.total_abs)) require_finite(comm, *parts, options.row_numbers);
  }
  report.facts = examined.facts;
  report.structure = kept != nullptr && kept->structure
                         ? *kept->structure
                         : find_structure(comm, *parts, report.facts, options.row_numbers);
  make_choices(*parts);
  const bool negate = report.facts.looks_negative_definite();
  system.emplace(sum, std::move(parts), b, negate, report.facts, options.rtol);
  // Where the boundary rows could not be solved first, their columns are needed.
  const bool is_whole = !report.facts.symmetric_inside || system->boundary_rows() == 0;
  comm::agree(comm, [&] {
    inside = is_whole ? system->parts() : negate ? negated(*examined.at_work) : examined.at_work;
    residual.resize(b.size());
    offered_residual_.resize(b.size());
  });
}

/// What there is to choose from: by facts and experience, or as it was in the solve that is replayed.
void SolveState::make_choices(const sparse::SplitMatrix& parts) {
  if (options.replay) {
    decisions = Decisions(*options.replay);
    if (!options.replay->is_reproducible)
      add_event("note",
                "the solve that is replayed used complete factors on several ranks: x may differ in its last "
                "bits");
  } else {
    // What earlier solves have left may differ from solve to solve.
    if (!options.deterministic)
      experience = options.recall ? options.recall(report.facts) : options.experience;
    if (experience.familiar) budget = Budget(std::min(options.tuning_share, familiar_share));
    Script& script = decisions.script();
    script.max_iterations = options.max_iterations;
    script.keeps_orthogonalization = options.forced.orthogonalization || options.forced.excludes("ircgs");
    script.preconditioner = options.preconditioner;
    if (options.deterministic) script.preconditioner.reproducible = true;
    script.preconditioner.coordinates = {};  // the caller's, and large
    script.preconditioner.near_null_space = {};
    script.preconditioner.fields = {};
    script.longest_restart = find_longest_restart(comm, parts);
    look_for_device();
    script.arms = arms_for(report.facts);
  }
  longest_restart = decisions.script().longest_restart;
  for (const ListedArm& listed : decisions.script().arms) {
    arms.push_back({listed});
    if (!listed.choice.device.empty() && !device) device.emplace(listed.choice.device, std::nullopt);
  }
}

std::vector<ListedArm> SolveState::arms_for(const MatrixFacts& facts) const {
  const int restart = decisions.script().longest_restart;
  return comm::agree(comm, [&] {
    auto here =
        apply(experience, list_arms(facts, options.forced, restart, options.rtol, options.records_for(facts)),
              options.forced, restart);
    if (!device) return here;
    return with_device(std::move(here), device->kind(), options.device != "auto", comm.size());
  });
}

/// Left alone, the tuner uses a device that it knows the price of: one that the profile tells of, for one
/// rank, and where times may decide.
void SolveState::look_for_device() {
  if (options.device == "none") return;
  std::optional<machine::DeviceFigure> figures;
  if (options.profile != nullptr) figures = options.profile->device;
  const bool may_choose = figures && comm.size() == 1 && !options.deterministic;
  if (options.device == "auto" && !may_choose) return;
  device.emplace(options.device == "auto" ? "cuda" : options.device, std::move(figures));
}

void SolveState::replace_arms() {
  if (decisions.replays() || options.forced.method) return;  // the script has them, or they are no better
  for (Arm& arm : arms)
    if (solvers::method(arm.listed.choice.method).needs_definite) arm.state = Arm::State::finished;
  MatrixFacts facts = report.facts;
  facts.indefinite = true;
  for (ListedArm& listed : arms_for(facts)) {
    const bool is_there =
        std::ranges::any_of(arms, [&](const Arm& arm) { return arm.listed.choice == listed.choice; });
    if (is_there) continue;
    arms.push_back({listed});
    decisions.script().arms.push_back(std::move(listed));
  }
  forecast_.reset();
}

const Forecast& SolveState::forecast() {
  if (!forecast_) {
    MatrixFacts facts = report.facts;
    facts.indefinite = facts.indefinite || is_indefinite;
    std::vector<ListedArm> listed;
    for (const Arm& arm : arms) listed.push_back(arm.listed);
    forecast_.emplace(options.records_for(facts), facts, kin_of(listed));
  }
  return *forecast_;
}

double SolveState::unit() const {
  if (options.deterministic) return 1;
  constexpr double least = 1e-9;
  const double product = product_tuner->product_seconds();
  return std::max((product > 0 ? product : first_product_) / product_tuner->share_of_csr(), least);
}

void SolveState::measure_product() {
  const ScopedTimer timer(report.seconds.tuning);
  matrix->set_observer(nullptr);
  const bool fits_caches = !comm.any(matrix->matrix_bytes() > cache_of_core());
  const auto measure = [&] {
    const double start = clock();
    matrix->apply(x, offered_residual_);
    return comm.allreduce(clock() - start, comm::ReduceOp::max);
  };
  first_product_ = measure();
  if (fits_caches) first_product_ = std::min(first_product_, measure());  // the first filled them
  matrix->set_observer(&*product_tuner);
}

Progress SolveState::progress(std::optional<std::size_t> at_work) const {
  Progress now{.digits_wanted = digits_of(options.rtol), .at_work = at_work, .arms = {}};
  now.products_spent = (sum.agreed_seconds() - began) / unit();
  // Complete factors are as good as their price, and bought when that has been spent.
  const bool may_buy = !experience.familiar && options.tuning_share > 0;
  const bool may_try = may_buy && may_challenge();
  for (const Arm& arm : arms) {
    now.arms.push_back(arm.seen);
    Seen& seen = now.arms.back();
    const bool is_elsewhere = !arm.listed.choice.device.empty();
    if (is_elsewhere && !arm.listed.last_resort)
      seen.elsewhere = device->price(arm.listed.choice, report.facts, unit());
    seen.may_run = arm.state != Arm::State::finished && !arm.listed.last_resort;
    seen.is_complete = uses_complete_factors(arm.listed.choice);
    // There no null vectors are taken out of what preconditioners make.
    if (is_elsewhere && options.device == "auto")
      seen.may_run = seen.may_run && system->null_spaces().right->empty();
    if (at_work && arm.state != Arm::State::running)
      seen.may_run = seen.may_run && (seen.is_complete ? may_buy : may_try);
    seen.is_kept = seen.is_built = arm.state == Arm::State::running;
  }
  return now;
}

std::optional<Action> SolveState::next_action(std::optional<std::size_t> at_work) {
  const auto complete = std::ranges::find_if(arms, [](const Arm& arm) {
    return uses_complete_factors(arm.listed.choice) && !arm.listed.last_resort;
  });
  const Progress now = progress(at_work);
  return tuning::next_action(
      forecast().expected(now), now,
      complete == arms.end() ? std::nullopt : std::optional<std::size_t>(complete - arms.begin()));
}

bool SolveState::may_challenge() const {
  const double now = sum.agreed_seconds();
  const double at_present = challenged_at ? now - *challenged_at : 0;
  return budget.allows_trial(at_present, now - at_present - budget.spent());
}

Outlook SolveState::outlook_before(std::size_t arm) {
  Progress now = progress({});
  now.arms[arm].is_built = now.arms[arm].is_kept = false;
  return forecast().expected(now);
}

bool SolveState::is_worth_its_set_up(std::size_t arm) {
  return !is_clearly_later(outlook_before(arm), arm);
}

Expected SolveState::expected_of(std::size_t arm) {
  return outlook_before(arm)[arm];
}

double SolveState::agree_on_time() const {
  sum(0.0);
  return sum.agreed_seconds();
}

bool SolveState::stopped() {
  stopped_ = stopped_ || comm.any(wants_stop());
  return stopped_;
}

bool SolveState::converged() const {
  return std::isfinite(known.norm) && system->is_solved_by(known);
}

bool SolveState::is_at_rounding() const {
  constexpr double large = 0.02;  // share of b: that is no solution of anything, unless proved
  return !converged() && known.at_most() <= large * system->b_norm() && may_be_rounding(known);
}

bool SolveState::may_be_rounding(const Residual& of_x) const {
  constexpr double hardly_more = 8;  // than the x next to the exact one is expected to leave
  return system->is_beyond_rounding(of_x, 1 / hardly_more) &&
         of_x.at_most() <= hardly_more * of_x.all.rounding;
}

double SolveState::backward_error(solvers::ConstVector v, double norm) const {
  const double magnitude = report.facts.norm_infinity * solvers::norm(sum, v) + system->b_norm();
  return magnitude > 0 ? norm / magnitude : 0;
}

int SolveState::iterations_left() const {
  constexpr std::int64_t no_limit = std::numeric_limits<int>::max();
  const std::int64_t left = most_iterations() > 0 ? most_iterations() - report.iterations : no_limit;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, no_limit));
}

void SolveState::add_event(std::string kind, std::string text) {
  report.events.push_back({watch_.seconds(), std::move(kind), std::move(text)});
  if (hooks.event) hooks.event(report.events.back());
}

Residual SolveState::verified_residual(solvers::ConstVector v, solvers::Vector r) {
  const ScopedTimer timer(report.seconds.verification);
  return system->residual(v, r);
}

solvers::ConstVector SolveState::offer(solvers::ConstVector v) {
  const Residual offered = verified_residual(v, offered_residual_);
  if (!(offered.at_most() < known.at_most())) return offered_residual_;
  if (is_rounded_solution && !system->is_solved_by(offered)) return offered_residual_;
  solvers::copy(v, x);
  std::swap(residual, offered_residual_);
  known = offered;
  return residual;
}

void SolveState::take(solvers::ConstVector v, solvers::ConstVector r, const Residual& what_is_known) {
  solvers::copy(v, x);
  solvers::copy(r, residual);
  known = what_is_known;
}

bool SolveState::snapshot_is_due() const {
  return hooks.snapshot && sum.agreed_seconds() - last_snapshot_ >= hooks.seconds_between_snapshots;
}

void SolveState::take_snapshot(const Choice& at_work, std::int64_t iterations,
                               solvers::ConstVector candidate) {
  if (!hooks.snapshot) return;
  const ScopedTimer timer(report.seconds.snapshots);
  Array<double> of_user;
  comm::agree(comm, [&] { of_user.resize(candidate.size()); });
  double norm = system->residual(candidate, of_user).norm;
  const bool better = norm < known.norm;
  if (!better) norm = known.norm;
  last_snapshot_ = sum.agreed_seconds();
  if (norm > snapshot_norm_) return;
  snapshot_norm_ = norm;
  solvers::copy(better ? candidate : x, of_user);
  system->to_original(of_user);
  Choice choice = at_work;
  choice.kernel = product_tuner->incumbent().kernel;
  choice.halo = product_tuner->incumbent().halo;
  hooks.snapshot({of_user, std::move(choice), iterations, relative(norm), last_snapshot_});
}

}  // namespace ayatori::tuning
