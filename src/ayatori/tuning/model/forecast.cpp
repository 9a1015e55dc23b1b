#include "ayatori/tuning/model/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace ayatori::tuning {

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// This many systems tell as much as all: the others hardly share a leaf.
constexpr std::size_t most_systems = 64;
/// By so much residuals of systems that are alike differ on the way, in square roots of digits: the standard
/// deviation of what is seen, with which it weighs.
constexpr double spread_of_digits = 0.3;

/// How much what is seen speaks against a system, as logarithm.
double surprise(double digits_there, double digits) {
  const double deviations =
      (std::sqrt(std::max(digits_there, 0.0)) - std::sqrt(std::max(digits, 0.0))) / spread_of_digits;
  return deviations * deviations / 2;
}

/// Iterations to this many digits.
double iterations_in_all(const ArmRecord& record, double wanted) {
  if (wanted >= recorded_digits) return record.iterations * wanted / recorded_digits;
  return std::min(record.iterations_to(wanted), record.iterations);
}

/// Iterations in all that the pace of an arm's later half promises.
double by_own_pace(const Seen& seen, double wanted) {
  const double gained = std::max(seen.digits - seen.digits_halfway, std::numeric_limits<double>::epsilon());
  const double left = std::max(wanted - seen.digits, 0.0);
  return seen.iterations * (1 + left / gained / 2);
}

/// Iterations in all of an arm that has been seen: between what the similar system took, beginning as slowly
/// as this one, and what its own pace promises.
double iterations_of(const Seen& seen, const ArmRecord& record, double wanted) {
  const double then = record.iterations_to(seen.digits);
  const double slower = then > 0 && then < endless ? seen.iterations / then : 1;
  const double like_others = std::max(iterations_in_all(record, wanted) * slower, seen.iterations);
  return std::sqrt(like_others * by_own_pace(seen, wanted));
}

/// What is known of the matrix stands above what similar ones have shown.
void bound_iterations(ArmRecord& record, double most) {
  if (!record.is_known() || record.iterations <= most) return;
  record.stretch *= most / record.iterations;
  record.iterations = most;
  record.outcome = ArmRecord::Outcome::solved;
}

}  // namespace

SystemTraits traits_of(const MatrixFacts& facts) {
  const MatrixFacts counted = facts.is_complex() ? in_complex_numbers(facts) : facts;
  return {features_of(counted), static_cast<double>(counted.rows), iterations_by_dominance(facts)};
}

Forecast::Forecast(const Records& records, const SystemTraits& traits,
                   std::span<const std::optional<std::size_t>> kin)
    : records_(records), systems_(records.similar(traits.features, most_systems)), arms_(kin.size()) {
  records_of_.reserve(systems_.size() * arms_);
  for (const SimilarSystem& system : systems_) {
    for (const auto& arm : kin) {
      records_of_.push_back(arm ? records_.record(system.number, *arm, traits.rows) : ArmRecord{});
      if (arm && records_.arms()[*arm].ends_with(" jacobi"))
        bound_iterations(records_of_.back(), traits.most_with_diagonal);
    }
  }
}

/// Weights of the similar systems, after what the arms have shown.
std::vector<double> Forecast::weights(const Progress& progress) const {
  std::vector<double> logarithms(systems_.size());
  for (std::size_t s = 0; s < systems_.size(); ++s) {
    logarithms[s] = std::log(systems_[s].weight);
    for (std::size_t a = 0; a < arms_; ++a) {
      const Seen& seen = progress.arms[a];
      const ArmRecord& there = record(s, a);
      if (!there.is_known() || !(seen.iterations > 0)) continue;
      logarithms[s] -= surprise(there.digits_after(seen.iterations), seen.digits) +
                       surprise(there.digits_after(seen.iterations / 2), seen.digits_halfway);
    }
  }
  if (logarithms.empty()) return logarithms;
  const double largest = std::ranges::max(logarithms);
  double sum = 0;
  for (double& value : logarithms) sum += value = std::exp(value - largest);
  for (double& value : logarithms) value /= sum;
  return logarithms;
}

/// Set-ups and iterations: by their logarithms' mean over the similar systems, or as they were seen.
Forecast::Costs Forecast::find_costs(const Progress& progress, const std::vector<double>& weight) const {
  Costs costs{std::vector<double>(arms_), std::vector<double>(arms_), std::vector<double>(arms_)};
  double dearer = 1;
  for (std::size_t a = 0; a < arms_; ++a) {
    const Seen& seen = progress.arms[a];
    double of_set_up = 0, of_iteration = 0;
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      const ArmRecord& there = record(s, a);
      if (!there.is_known()) continue;
      costs.known[a] += weight[s];
      of_set_up += weight[s] * there.log_set_up;
      of_iteration += weight[s] * there.log_iteration;
    }
    if (seen.iteration > 0) costs.iteration[a] = seen.iteration;
    if (!(costs.known[a] > 0)) continue;
    costs.set_up[a] = std::exp(of_set_up / costs.known[a]);
    if (!(seen.iteration > 0))
      costs.iteration[a] =
          std::exp(of_iteration / costs.known[a]) * seen.elsewhere.pace + seen.elsewhere.each;
    const double taken = seen.set_up >= 0 ? seen.set_up : seen.set_up_at_least;
    if (taken > 0 && !seen.is_complete) dearer = std::max(dearer, taken / costs.set_up[a]);
  }
  for (std::size_t a = 0; a < arms_; ++a) {
    const Seen& seen = progress.arms[a];
    if (!seen.is_complete) costs.set_up[a] *= dearer;
    costs.set_up[a] += seen.elsewhere.carried;
    costs.set_up[a] = std::max(costs.set_up[a], seen.set_up_at_least);
    if (seen.set_up >= 0) costs.set_up[a] = seen.set_up;
  }
  return costs;
}

Outlook Forecast::expected(const Progress& progress) const {
  std::vector<Expected> found(arms_);
  const std::vector<double> weight = weights(progress);
  const Costs costs = find_costs(progress, weight);
  for (std::size_t a = 0; a < arms_; ++a) {
    if (progress.arms[a].may_run && !progress.arms[a].is_built) found[a].set_up = costs.set_up[a];
    if (costs.iteration[a] > 0) found[a].iteration = costs.iteration[a];
  }
  std::vector<double> total(systems_.size() * arms_, endless);
  std::vector<double> best(systems_.size(), endless);
  for (std::size_t s = 0; s < systems_.size(); ++s) {
    for (std::size_t a = 0; a < arms_; ++a) {
      const Seen& seen = progress.arms[a];
      const ArmRecord& there = record(s, a);
      if (!seen.may_run) continue;
      if (!there.is_known() && !(seen.iterations > 0)) continue;
      double iterations = !there.is_known()     ? by_own_pace(seen, progress.digits_wanted)
                          : seen.iterations > 0 ? iterations_of(seen, there, progress.digits_wanted)
                                                : iterations_in_all(there, progress.digits_wanted);
      if (seen.is_kept) iterations = std::max(iterations - seen.iterations, 0.0);
      total[s * arms_ + a] = found[a].set_up + costs.iteration[a] * iterations;
      best[s] = std::min(best[s], total[s * arms_ + a]);
    }
  }
  for (std::size_t a = 0; a < arms_; ++a) {
    const Seen& seen = progress.arms[a];
    // What is at work has had its chance: the longer it has taken, the less it is expected to be left in
    // time.
    const double overdrawn = progress.at_work == a ? seen.iterations * costs.iteration[a] : 0;
    double sum = 0, sum_to_the_end = 0, weights_known = 0;
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      const double of_arm = total[s * arms_ + a];
      if (!(of_arm < endless)) continue;
      // An arm that disappoints is left when it has taken as long again as the best would.
      const double value = std::min(of_arm, found[a].set_up + 2 * best[s] + overdrawn);
      // The mean of square roots: extremes count less.
      sum += weight[s] * std::sqrt(value);
      sum_to_the_end += weight[s] * std::sqrt(of_arm);
      weights_known += weight[s];
    }
    if (!(weights_known > 0)) continue;
    found[a].mean = (sum / weights_known) * (sum / weights_known);
    found[a].to_the_end = (sum_to_the_end / weights_known) * (sum_to_the_end / weights_known);
  }
  return {std::move(found), weight, std::move(total)};
}

std::optional<std::size_t> Outlook::soonest() const {
  const auto arm = std::ranges::min_element(arms_, {}, &Expected::mean);
  if (arm == arms_.end() || !(arm->mean < endless)) return std::nullopt;
  return arm - arms_.begin();
}

Range Outlook::range(std::size_t arm) const {
  constexpr double quarter = 0.25;
  std::vector<std::pair<double, double>> values;  // with their weights
  double sum = 0;
  for (std::size_t s = 0; s < weights_.size(); ++s) {
    const double total = totals_[s * size() + arm];
    if (!(total < endless)) continue;
    values.emplace_back(total, weights_[s]);
    sum += weights_[s];
  }
  std::ranges::sort(values);
  const auto quantile = [&](double share) {
    double below = 0;
    for (const auto& [value, weight] : values)
      if ((below += weight) >= share * sum) return value;
    return endless;
  };
  return {quantile(quarter), quantile(1 - quarter)};
}

double Outlook::chance(std::size_t a, std::size_t b) const {
  double share = 0;
  for (std::size_t s = 0; s < weights_.size(); ++s)
    if (totals_[s * size() + a] < totals_[s * size() + b]) share += weights_[s];
  return share;
}

}  // namespace ayatori::tuning
