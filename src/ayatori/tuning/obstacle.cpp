#include "ayatori/tuning/obstacle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"

namespace ayatori::tuning {

namespace {

/// Limit of condition numbers and of ratios of diagonal entries: beyond, double precision is at its end.
constexpr double nearly_singular = 1e14;
/// Fewer digits tell no pace.
constexpr double fewest_digits = 0.5;

std::string count_words(std::int64_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string joined(const std::vector<std::string>& clauses) {
  return fmt::format("{}", fmt::join(clauses, "; "));
}

/// By which factor a limit would have to be larger, at the pace of the whole solve; none if there is no pace.
std::optional<double> missing_factor(const SolveReport& report, double rtol) {
  const double gained = -std::log10(report.relative_residual);
  if (!(gained > fewest_digits)) return std::nullopt;
  return std::log10(rtol) / std::log10(report.relative_residual);
}

/// Properties of the matrix that make it hard, each a clause.
std::vector<std::string> hard_properties(const SolveReport& report) {
  const MatrixFacts& facts = report.facts;
  std::vector<std::string> found;
  if (report.condition_estimate >= nearly_singular)
    found.push_back(fmt::format("the matrix is nearly singular: its condition number is {:.0e} at least",
                                report.condition_estimate));
  const double least = std::max(facts.min_abs_diagonal, std::numeric_limits<double>::min());
  if (facts.zero_diagonals == 0 && facts.max_abs_diagonal / least >= nearly_singular)
    found.push_back(fmt::format("diagonal entries reach from {:.0e} to {:.0e}", facts.min_abs_diagonal,
                                facts.max_abs_diagonal));
  if (facts.may_have_constraints()) {
    found.push_back(
        fmt::format("it looks like a saddle point: {} without a diagonal entry of the others' "
                    "sign",
                    count_words(facts.odd_diagonals(), "row", "rows")));
  } else if (facts.symmetric && !facts.looks_definite()) {
    found.emplace_back("the matrix is symmetric and indefinite");
  } else if (!facts.symmetric && facts.dominant_rows < 0.5) {
    found.push_back(
        fmt::format("the matrix is not symmetric, and in {:.0f} % of its rows the diagonal does "
                    "not outweigh the rest",
                    100 * (1 - facts.dominant_rows)));
  }
  return found;
}

const Trial* complete_factors_that_failed(const SolveReport& report) {
  const auto trial = std::ranges::find_if(report.trials, [](const Trial& one) {
    return uses_complete_factors(one.choice) && one.outcome == "failed";
  });
  return trial == report.trials.end() ? nullptr : &*trial;
}

/// What to try for such a matrix; nothing that was tried.
std::vector<std::string> advice_for(const SolveReport& report) {
  std::vector<std::string> advice;
  const auto was_tried = [&](std::string_view preconditioner) {
    return std::ranges::any_of(report.trials, [&](const Trial& trial) {
      return trial.choice.preconditioner.starts_with(preconditioner);
    });
  };
  if (!was_tried("direct")) advice.emplace_back("complete factors (direct)");
  if (report.facts.may_have_constraints())
    advice.emplace_back(was_tried("schur") ? "schur with the constraints named as fields" : "schur");
  if (report.condition_estimate >= nearly_singular)
    advice.emplace_back("boundary conditions and units: does the problem have one solution?");
  if (advice.empty()) advice.emplace_back("a looser tolerance, or a better starting x");
  return advice;
}

/// A limit that the caller set, which was reached before the tolerance.
std::optional<Obstacle> find_limit(const SolveReport& report, const SolveOptions& options) {
  std::string limit;
  double amount = 0;
  const char* unit = "";
  if (report.status == Status::time_limit) {
    limit = fmt::format("the time limit of {:g} s", options.time_limit);
    amount = options.time_limit;
    unit = " s";
  } else if (options.max_iterations > 0 && report.iterations >= options.max_iterations) {
    limit = fmt::format("the limit of {}", count_words(options.max_iterations, "iteration", "iterations"));
    amount = static_cast<double>(options.max_iterations);
    unit = " iterations";
  } else {
    return std::nullopt;
  }
  const auto factor = missing_factor(report, options.rtol);
  if (!factor) return Obstacle{limit, "a larger one: there was too little to tell how large"};
  return Obstacle{limit,
                  fmt::format("a larger one: at this pace it takes {:.2g}{} in all", *factor * amount, unit)};
}

/// Methods and preconditioners alone: without some kernel, solves take longer, but end the same.
std::vector<std::string> excluded_arms(const Forced& forced) {
  std::vector<std::string> names;
  for (const std::string& name : forced.excluded)
    if (std::ranges::count(solvers::methods(), name, &solvers::Method::name) > 0 ||
        std::ranges::count(solvers::preconditioners(), name, &solvers::Preconditioner::name) > 0)
      names.push_back(name);
  return names;
}

/// What the caller forced or excluded, so that other arms were not tried.
std::optional<Obstacle> find_force(const SolveReport& report, const SolveOptions& options) {
  const Forced& forced = options.forced;
  const std::vector<std::string> excluded = excluded_arms(forced);
  if (!forced.method && !forced.preconditioner && excluded.empty()) return std::nullopt;
  std::vector<std::string> words;
  if (forced.method) words.push_back(*forced.method);
  if (forced.preconditioner) words.push_back(*forced.preconditioner);
  std::string what;
  if (!words.empty()) what = fmt::format("{} alone was allowed", fmt::join(words, " + "));
  if (!excluded.empty())
    what += fmt::format("{}{} excluded", what.empty() ? "" : ", and ", fmt::join(excluded, ", "));
  std::vector<std::string> clauses = hard_properties(report);
  clauses.insert(clauses.begin(), what);
  return Obstacle{joined(clauses), "leave the choice to the tuner"};
}

}  // namespace

Obstacle find_obstacle(const SolveReport& report, const SolveOptions& options) {
  if (report.status == Status::limited_by_rounding)
    return {"double precision: x cannot be written down exactly enough for this tolerance",
            fmt::format("a tolerance of {:.0e}", 2 * report.relative_residual)};
  if (report.status != Status::not_converged && report.status != Status::time_limit) return {};
  if (auto limit = find_limit(report, options)) return *std::move(limit);
  if (auto force = find_force(report, options)) return *std::move(force);
  std::vector<std::string> properties = hard_properties(report);
  std::vector<std::string> advice = advice_for(report);
  if (const Trial* factors = complete_factors_that_failed(report)) {
    properties.push_back("complete factors could not be made: " + factors->reason);
    advice.emplace_back("more memory or ranks, factors in single precision or of low rank");
  }
  if (properties.empty()) properties.emplace_back("no property that is known to be hard");
  return {joined(properties), joined(advice)};
}

}  // namespace ayatori::tuning
