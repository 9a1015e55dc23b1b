#include "ayatori/tuning/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ayatori::tuning {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A change must promise to end within this share of the time still needed without: forecasts err by as much.
constexpr double clearly_sooner = 0.55;
/// To go back to a suspended iteration costs nothing.
constexpr double sooner_for_nothing = 0.8;
/// Complete factors are bought when the solve has taken this share of their price, unless its end is expected
/// within the next one.
constexpr double rented_long_enough = 0.8;
constexpr double end_is_near = 1;

}  // namespace

std::string describe(const Outlook& outlook, std::size_t arm) {
  const auto [low, high] = outlook.range(arm);
  return fmt::format("{:.0f} products expected, {:.0f} to {:.0f}, from {} similar systems",
                     std::clamp(outlook[arm].mean, low, high), low, high, outlook.similar_systems());
}

namespace {

/// Whether an arm is expected to be as good as free to begin with, beside a set-up that costs so much.
bool is_nearly_free(const Expected& arm, double set_up) {
  constexpr double next_to_nothing = 0.15;
  return arm.set_up <= next_to_nothing * set_up;
}

/// Instead of a dear set-up: an arm that is as good as free, if it is as likely as not the better one and has
/// not been at work for long. What it shows then decides.
std::optional<std::size_t> evidence_first(const Outlook& outlook, const Progress& progress,
                                          std::size_t dear) {
  constexpr double few_products = 40;
  constexpr double likely = 0.4;
  constexpr double share_of_price = 0.1;
  const double price = outlook[dear].set_up;
  if (price < few_products) return std::nullopt;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < outlook.size(); ++i) {
    const Seen& seen = progress.arms[i];
    const bool has_shown_enough =
        seen.iterations > 0 && seen.iterations * seen.iteration >= share_of_price * price;
    if (!(outlook[i].mean < unbounded) || has_shown_enough || !is_nearly_free(outlook[i], price)) continue;
    if (!best || outlook[i].mean < outlook[*best].mean) best = i;
  }
  return best && outlook.chance(*best, dear) >= likely ? best : std::nullopt;
}

/// Whether the solve has gone on without complete factors for so long that they come now.
bool buys_factors(const Outlook& outlook, const Progress& progress, std::size_t complete) {
  const Seen& factors = progress.arms[complete];
  const Expected& price = outlook[complete];
  const bool may_buy = factors.may_run && !factors.is_built && price.set_up > 0 && price.mean < unbounded;
  return may_buy && progress.products_spent >= rented_long_enough * price.set_up &&
         outlook[*progress.at_work].to_the_end > end_is_near * price.set_up;
}

}  // namespace

std::optional<Action> next_action(const Outlook& outlook, const Progress& progress,
                                  CompleteFactors complete) {
  const auto soonest = outlook.soonest();
  if (!soonest) return progress.at_work ? std::optional(Action{*progress.at_work, ""}) : std::nullopt;
  const auto at_work = progress.at_work;
  if (at_work && complete && at_work != complete && buys_factors(outlook, progress, *complete))
    return Action{
        *complete,
        fmt::format("the solve has taken {:.0f} products without complete factors, which are expected "
                    "to take {:.0f}",
                    progress.products_spent, outlook[*complete].set_up)};
  if (at_work && (soonest == at_work || !is_clearly_later(outlook, *at_work))) return Action{*at_work, ""};
  if (const auto first = evidence_first(outlook, progress, *soonest)) {
    if (first == at_work) return Action{*at_work, ""};
    return Action{*first, fmt::format("{}; as likely as not better than a set-up of {:.0f} products",
                                      describe(outlook, *first), outlook[*soonest].set_up)};
  }
  std::string why = describe(outlook, *soonest);
  constexpr double endless = 1e9;  // products: nobody waits for so many
  if (at_work && outlook[*at_work].mean < endless)
    why += fmt::format("; {:.0f} more without", outlook[*at_work].mean);
  return Action{*soonest, std::move(why)};
}

bool is_clearly_later(const Outlook& outlook, std::size_t arm) {
  const auto soonest = outlook.soonest();
  if (!soonest) return false;
  const double enough = outlook[*soonest].is_suspended ? sooner_for_nothing : clearly_sooner;
  return outlook[*soonest].mean < enough * outlook[arm].mean;
}

int next_look(int iteration) {
  constexpr int at_least = 4;
  return std::max(iteration + at_least, iteration + iteration / 2);
}

double most_products(double expected_set_up) {
  constexpr double far_longer = 2;
  constexpr double always = 10;
  return far_longer * expected_set_up + always;
}

}  // namespace ayatori::tuning
