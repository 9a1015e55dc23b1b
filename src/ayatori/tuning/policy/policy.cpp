#include "ayatori/tuning/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ayatori/tuning/judgement.hpp"

namespace ayatori::tuning {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A change must promise to end within this share of the time still needed without: forecasts err by as much.
constexpr double clearly_sooner = 0.55;

}  // namespace

std::string describe(const Outlook& outlook, std::size_t arm) {
  const auto [low, high] = outlook.range(arm);
  const double expected = std::clamp(outlook[arm].mean, low, high);
  if (!(expected < unbounded))
    return fmt::format("no end expected, from {} similar systems", outlook.similar_systems());
  return fmt::format("{:.0f} products expected, {:.0f} to {:.0f}, from {} similar systems", expected, low,
                     high, outlook.similar_systems());
}

namespace {

/// Instead of a dear set-up: an arm of which a first look, its set-up included, takes far less, if it is as
/// likely as not the better one. What it shows then decides.
std::optional<std::size_t> evidence_first(const Outlook& outlook, const Progress& progress,
                                          std::size_t dear) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < outlook.size(); ++i) {
    const double look = outlook[i].set_up + first_look * outlook[i].iteration;
    if (!(outlook[i].mean < unbounded) || progress.arms[i].iterations >= first_look ||
        far_more * look > outlook[dear].set_up)
      continue;
    if (!best || outlook[i].mean < outlook[*best].mean) best = i;
  }
  return best && outlook.chance(*best, dear) >= outlook.chance(dear, *best) ? best : std::nullopt;
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
  if (at_work && outlook[*at_work].mean < unbounded)
    why += fmt::format("; {:.0f} more products without it", outlook[*at_work].mean);
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
  return expected_set_up > first_look ? far_more * expected_set_up : unbounded;
}

}  // namespace ayatori::tuning
