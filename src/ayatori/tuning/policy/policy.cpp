#include "ayatori/tuning/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ayatori::tuning {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A change must promise to end within this share of the time still needed without: forecasts err by as much.
constexpr double clearly_sooner = 0.55;

}  // namespace

std::string describe(const Outlook& outlook, std::size_t arm) {
  const auto [low, high] = outlook.range(arm);
  return fmt::format("{:.0f} products expected, {:.0f} to {:.0f}, from {} similar systems",
                     std::clamp(outlook[arm].mean, low, high), low, high, outlook.similar_systems());
}

namespace {

/// Instead of a dear set-up: an arm that is as good as free, if it is as likely as not the better one and has
/// not been at work for long. What it shows then decides.
std::optional<std::size_t> evidence_first(const Outlook& outlook, const Progress& progress,
                                          std::size_t dear) {
  constexpr double few_products = 40;
  constexpr double next_to_nothing = 0.15;  // of the price
  constexpr double as_likely_as_not = 0.5;
  const double price = outlook[dear].set_up;
  if (price < few_products) return std::nullopt;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < outlook.size(); ++i) {
    const Seen& seen = progress.arms[i];
    const double tried = seen.iterations > 0 ? seen.iterations * seen.iteration : 0;
    if (!(outlook[i].mean < unbounded) || std::max(outlook[i].set_up, tried) > next_to_nothing * price)
      continue;
    if (!best || outlook[i].mean < outlook[*best].mean) best = i;
  }
  return best && outlook.chance(*best, dear) >= as_likely_as_not ? best : std::nullopt;
}

/// Whether complete factors are bought: the solve has taken as long without them as they take, and goes on
/// for longer than that.
bool buys_factors(const Outlook& outlook, const Progress& progress, std::size_t complete) {
  const Seen& factors = progress.arms[complete];
  const Expected& price = outlook[complete];
  const bool may_buy = factors.may_run && !factors.is_built && price.set_up > 0 && price.mean < unbounded;
  return may_buy && progress.products_spent >= price.set_up &&
         outlook[*progress.at_work].to_the_end > price.set_up;
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
  return outlook[*soonest].mean < clearly_sooner * outlook[arm].mean;
}

int next_look(int iteration) {
  return iteration + iteration / 2 + 1;
}

double most_products(double expected_set_up) {
  constexpr double far_longer = 4;
  constexpr double always = 10;
  return far_longer * expected_set_up + always;
}

}  // namespace ayatori::tuning
