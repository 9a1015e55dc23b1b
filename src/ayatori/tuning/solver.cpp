#include "ayatori/tuning/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/tuning/policy/arms.hpp"
#include "ayatori/tuning/run/block_solve.hpp"

namespace ayatori::tuning {

namespace {

/// The trial that finished the solve.
const Trial* winner(const SolveReport& report) {
  const auto place = std::ranges::find_if(report.trials, [&](const Trial& trial) {
    return trial.outcome == "converged" && same_numerics(trial.choice, report.choice);
  });
  return report.converged() && place != report.trials.end() ? &*place : nullptr;
}

}  // namespace

std::string describe(const Reuse& reuse) {
  std::string text = fmt::format("{} set-up{} served {} solve{}", reuse.set_ups,
                                 reuse.set_ups == 1 ? "" : "s", reuse.solves, reuse.solves == 1 ? "" : "s");
  if (reuse.break_even > 0)
    text += fmt::format("; as it is now, a new one of {:.3g} s pays after {:.1f} solves",
                        reuse.set_up_seconds, reuse.break_even);
  return text;
}

Solver::Solver(comm::Comm comm, std::shared_ptr<const sparse::SplitMatrix> parts, SolveOptions options)
    : comm_(std::move(comm)), parts_(std::move(parts)), options_(std::move(options)) {}

/// Collective. Before the first solve; what is forced or replayed is obeyed.
void Solver::choose_ranks() {
  if (race_) return;
  const SolveOptions& o = options_;
  race_ = RankRace{.offered = comm_.size(), .ranks = comm_.size()};
  if (o.replay) {
    if (o.replay->ranks > 0) race_->ranks = o.replay->ranks;
  } else if (o.may_use_one_rank && !o.deterministic && comm_.size() > 1 && !o.forced.halo &&
             o.forced.method != solvers::least_squares_name &&
             !comm_.any(!o.preconditioner.coordinates.empty()) &&
             !comm_.any(!o.preconditioner.near_null_space.empty()) &&
             !comm_.any(!o.preconditioner.fields.empty())) {
    const Stopwatch watch;
    kept_.examined = examine_inside(comm_, parts_);
    const MatrixFacts& facts = kept_.examined->facts;
    if (!std::isfinite(facts.row_sums.total_abs)) require_finite(comm_, *parts_, o.row_numbers);
    const auto first = comm::agree(comm_, [&] {
      return list_arms(facts, options_.forced, usual_restart, options_.rtol, options_.records_for(facts))
          .front();
    });
    race_ = race_ranks(comm_, *parts_, facts, first);
    race_->seconds = watch.seconds();
  }
  if (race_->ranks == comm_.size()) return;
  gathering_.emplace(comm_, parts_->partition);
  parts_ = gathering_->move(*parts_);
  row_numbers_ = comm_.gatherv(options_.row_numbers, 0).values;
  options_.row_numbers = row_numbers_;
  if (kept_.examined) {
    auto& [facts, at_work] = *kept_.examined;
    at_work = facts.symmetric_inside ? gathering_->move(*at_work) : parts_;
    facts = on_one_rank(comm_, facts);
  }
}

/// Adds what was done around a solve that took `seconds` in all.
void Solver::account(SolveReport& report, double seconds, const SolveHooks& hooks) {
  report.ranks = *race_;
  report.script.ranks = gathering_ ? race_->ranks : 0;
  const double race = std::exchange(race_->seconds, 0);
  if (!gathering_ && race == 0) return;
  const double outside =
      std::max(comm_.allreduce(seconds, comm::ReduceOp::sum) / comm_.size() - report.seconds.total, race);
  report.seconds.total += outside;
  report.seconds.tuning += race;
  report.tuning_seconds += race;
  report.seconds.setup += outside - race;
  if (!gathering_) return;
  std::string text = fmt::format("one of {} ranks holds all rows", race_->offered);
  if (race_->seconds_of_all > 0)
    text += fmt::format(": an iteration takes some {:.2g} us there, {:.2g} us on all",
                        1e6 * race_->seconds_of_one, 1e6 * race_->seconds_of_all);
  report.events.insert(report.events.begin(), {0, "note", std::move(text)});
  if (hooks.event) hooks.event(report.events.front());
}

SolveReport Solver::solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks) {
  const Stopwatch watch;
  choose_ranks();
  SolveReport report;
  if (gathering_) {
    auto best = gathering_->there(x);
    report = solve_where_rows_are(gathering_->there(b), best, gathering_->hooks(hooks));
    gathering_->back(best, x);
  } else {
    report = solve_where_rows_are(b, x, hooks);
  }
  account(report, watch.seconds(), hooks);
  return report;
}

std::vector<SolveReport> Solver::solve(std::span<const solvers::ConstVector> b,
                                       std::span<const solvers::Vector> x, int most_at_once,
                                       const SolveHooks& hooks) {
  AYATORI_ASSERT(b.size() == x.size());
  choose_ranks();
  if (!gathering_) return solve_where_rows_are(b, x, most_at_once, hooks);
  std::vector<Array<double>> right_sides;
  std::vector<Array<double>> best;
  for (std::size_t c = 0; c < b.size(); ++c) {
    right_sides.push_back(gathering_->there(b[c]));
    best.push_back(gathering_->there(x[c]));
  }
  const std::vector<solvers::ConstVector> of_right_sides(right_sides.begin(), right_sides.end());
  const std::vector<solvers::Vector> of_best(best.begin(), best.end());
  auto reports = solve_where_rows_are(of_right_sides, of_best, most_at_once, gathering_->hooks(hooks));
  for (std::size_t c = 0; c < b.size(); ++c) gathering_->back(best[c], x[c]);
  return reports;
}

SolveReport Solver::solve_where_rows_are(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks) {
  const bool outworn = reuse_.set_ups > 0 && reuse_.extra_seconds >= reuse_.set_up_seconds;
  if (outworn) {
    const bool is_complete = kept_.choice && uses_complete_factors(*kept_.choice);
    auto old = std::exchange(kept_.preconditioner, {});
    if (is_complete) kept_.outworn_factors = std::move(old);
  }
  auto report = tuning::solve(comm_, parts_, b, x, options_, hooks, &kept_);
  learn(report);
  last_ = report;
  if (kept_.choice) {
    options_.recall = nullptr;
    options_.experience = {};
    options_.experience.best = kept_.choice;
    options_.experience.why = "it won the solve before";
    options_.experience.familiar = true;
  }
  return report;
}

std::vector<SolveReport> Solver::solve_where_rows_are(std::span<const solvers::ConstVector> b,
                                                      std::span<const solvers::Vector> x, int most_at_once,
                                                      const SolveHooks& hooks) {
  std::vector<SolveReport> reports;
  const auto has_stopped = [](const SolveReport& report) {
    return report.status == Status::interrupted || report.status == Status::time_limit;
  };
  while (reports.size() < b.size() && std::ranges::none_of(reports, has_stopped)) {
    const std::size_t first = reports.size();
    const int left = static_cast<int>(b.size() - first);
    const int width = last_ ? worthwhile_block(comm_, kept_, left, most_at_once) : 1;
    if (width == 1) {
      reports.push_back(solve_where_rows_are(b[first], x[first], hooks));
      continue;
    }
    auto block =
        solve_block(comm_, b.subspan(first, width), x.subspan(first, width), options_, hooks, kept_, *last_);
    for (int c = 0; c < width; ++c) {
      SolveReport& report = block[c];
      if (report.status == Status::not_converged && std::ranges::none_of(reports, has_stopped)) {
        const std::int64_t before = report.iterations;
        // Alone, from where the block has left it.
        report = solve_where_rows_are(b[first + c], x[first + c], hooks);
        report.iterations += before;
      } else {
        ++reuse_.solves;
      }
      reports.push_back(std::move(report));
    }
  }
  return reports;
}

void Solver::learn(const SolveReport& report) {
  ++reuse_.solves;
  const Trial* trial = winner(report);
  if (trial == nullptr || report.iterations == 0) return;
  std::array<double, 2> seconds{trial->setup_seconds, trial->solve_seconds / trial->iterations};
  comm_.allreduce(std::span<double>(seconds), comm::ReduceOp::sum);
  const double set_up = seconds[0] / comm_.size();
  const double iteration = seconds[1] / comm_.size();
  if (!trial->kept_set_up) {
    ++reuse_.set_ups;
    reuse_.set_up_seconds = set_up;
    reuse_.fresh_iterations = trial->iterations;
    reuse_.extra_seconds = reuse_.break_even = 0;
    return;
  }
  const double extra = std::max(trial->iterations - reuse_.fresh_iterations, 0.0) * iteration;
  reuse_.extra_seconds += extra;
  reuse_.break_even = extra > 0 ? reuse_.set_up_seconds / extra : 0;
}

void Solver::set_goal(double rtol, std::int64_t max_iterations) {
  options_.rtol = rtol;
  options_.max_iterations = max_iterations;
}

void Solver::update(std::shared_ptr<const sparse::SplitMatrix> parts) {
  if (gathering_) parts = gathering_->move(*parts);
  const bool changed = comm_.any(!sparse::same_pattern(*parts_, *parts));
  parts_ = std::move(parts);
  kept_.examined.reset();
  kept_.structure.reset();
  kept_.ended_by_least_squares = false;
  kept_.matrix.reset();
  last_.reset();
  if (!changed) return;
  kept_ = {};
  reuse_ = {.solves = reuse_.solves, .set_ups = reuse_.set_ups};
  options_.experience = {};
}

}  // namespace ayatori::tuning
