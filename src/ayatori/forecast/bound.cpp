#include "ayatori/forecast/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "ayatori/base/find_named.hpp"
#include "ayatori/network/message_cost.hpp"

namespace ayatori::forecast {

namespace {

/// What to say of a phase whose limit, or what lies above it, is the longest.
struct Advice {
  std::string_view name;
  std::string_view limited;  ///< what bounds at the limit
  std::string_view faster;   ///< what helps there
  std::string_view above;    ///< what holds up above it
  std::string_view less;     ///< what helps there
};

constexpr std::array advice{
    Advice{"products", "the bandwidth of memory", "more nodes, or a kernel that stores fewer bytes",
           "something else than streaming the matrix, such as fetching elements of x, or busy cores",
           "another numbering of the unknowns or kernel, or more threads"},
    Advice{"halo exchanges", "", "more ports (rails), or a partition that cuts less (--partition graph)",
           "waiting for ranks that are late, or many messages",
           "a better balance, another halo strategy, or overlap (--halo)"},
    Advice{"reductions", "latency", "fewer ranks with more threads each", "waiting for ranks that are late",
           "a better balance, or fewer ranks with more threads each"},
    Advice{"vector operations", "the bandwidth of memory", "more nodes, or threads on idle memory channels",
           "something else than memory, such as starting threads or busy cores",
           "fewer threads for so small parts, or cores of their own"},
    Advice{"preconditioner", "", "another one, or more nodes", "", ""}};

/// Which of the two a message waits for longer.
std::string_view network_side(const PhaseLimit& phase) {
  return phase.limit.value_or(0) > 2 * phase.latency ? "the bandwidth of the network, not its latency"
                                                     : "the latency of the network, not its bandwidth";
}

}  // namespace

std::vector<PhaseLimit> find_limits(const MeasuredRun& run, const machine::Profile* profile) {
  const auto iterations = static_cast<double>(run.iterations);
  // What is clearly faster than its limit has another one: data in caches, or rows that one rank holds alone.
  constexpr double clearly = 0.9;
  const auto if_known = [](double seconds, double limit) {
    return limit > 0 && seconds >= clearly * limit ? std::optional(limit) : std::nullopt;
  };
  std::vector<PhaseLimit> phases{
      {"products", run.products, if_known(run.products, iterations * run.product_limit)}};
  const double rate = run.product_limit > 0 ? run.product_bytes / run.product_limit : 0;
  phases.push_back({"vector operations", run.vectors,
                    if_known(run.vectors, rate > 0 ? iterations * run.vector_bytes / rate : 0)});
  if (run.preconditioner > 0) phases.push_back({"preconditioner", run.preconditioner, std::nullopt});
  if (run.ranks == 1) return phases;
  const auto bound = profile == nullptr ? network::MessageCost() : network::fastest_messages(*profile);
  const double sent = static_cast<double>(run.halo_bytes) / run.ranks;
  const int rounds = std::bit_width(static_cast<unsigned>(run.ranks - 1));
  phases.push_back({"halo exchanges", run.halo, if_known(run.halo, iterations * bound.seconds(1, sent)),
                    iterations * bound.latency});
  phases.push_back({"reductions", run.reductions,
                    if_known(run.reductions, static_cast<double>(run.sums) * rounds * bound.latency)});
  return phases;
}

std::string bound_sentence(const std::vector<PhaseLimit>& phases) {
  struct Piece {
    const PhaseLimit* phase;
    bool is_above;
    double seconds;
  };
  std::vector<Piece> pieces;
  double total = 0;
  for (const PhaseLimit& phase : phases) {
    const double below = std::min(phase.seconds, phase.limit.value_or(phase.seconds));
    pieces.push_back({&phase, false, below});
    pieces.push_back({&phase, true, phase.seconds - below});
    total += phase.seconds;
  }
  if (!(total > 0)) return "";
  const auto& longest = *std::ranges::max_element(pieces, {}, &Piece::seconds);
  const auto& words = find_named(std::span<const Advice>(advice), longest.phase->name, "phase");
  const double share = 100 * longest.phase->seconds / total;
  const std::string_view limited = words.limited.empty() ? network_side(*longest.phase) : words.limited;
  if (!longest.phase->limit)
    return fmt::format(
        "What bounds it: the {} ({:.0f} % of the time), whose limit is not known; {} would help.", words.name,
        share, words.faster);
  return longest.is_above
             ? fmt::format(
                   "What bounds it: the {} ({:.0f} % of the time), {:.1f} times above the limit by {}: {}; "
                   "{} would help.",
                   words.name, share, longest.phase->distance(), limited, words.above, words.less)
             : fmt::format(
                   "What bounds it: {}, by the {} ({:.0f} % of the time, {:.1f} times the limit); {} would "
                   "help.",
                   limited, words.name, share, longest.phase->distance(), words.faster);
}

}  // namespace ayatori::forecast
