#include <fmt/format.h>

#include "ayatori/base/find_named.hpp"
#include "ayatori/session/map/map.hpp"

namespace ayatori::session {

namespace {

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 100 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string row(const std::string& name, const mapping::Metrics& metrics) {
  return fmt::format("  {:<22}{:>8.1f} %{:>8.1f} %{:>12.4g}{:>7.2f}{:>7}{:>11.2f}{:>11.2f}{:>11.2f}\n", name,
                     percent(metrics.inside.messages, metrics.total.messages),
                     percent(metrics.inside.bytes, metrics.total.bytes),
                     static_cast<double>(metrics.hop_bytes), metrics.mean_hops, metrics.most_hops,
                     1e6 * metrics.rank_seconds, 1e6 * metrics.link_seconds, 1e6 * metrics.seconds);
}

/// What every placement makes of exchange and collectives, the best first.
std::string joint_words(const MapQuestion& question, const MapRun& run) {
  std::string text = fmt::format("with the best collectives of each placement, us:\n  {:>10}{:>13}{:>10}\n",
                                 "exchange", "collectives", "together");
  for (const auto& placement : run.joint) {
    text += fmt::format("  {:>10.2f}{:>13.2f}{:>10.2f}  {}{}\n", 1e6 * placement.exchange_seconds,
                        1e6 * placement.collective_seconds, 1e6 * placement.seconds(), placement.how,
                        &placement == run.joint.data() ? "  <- taken" : "");
  }
  for (std::size_t i = 0; i < question.collectives.size(); ++i) {
    const auto& calls = question.collectives[i];
    const auto& best = run.joint.front().collectives[i].best();
    text += fmt::format("  {} calls of {} of {} bytes: {:.2f} us each, by {}\n", calls.calls,
                        collectives::type_of(calls.operation).name, calls.bytes,
                        1e6 * (best.replayed_seconds > 0 ? best.replayed_seconds : best.seconds),
                        describe(best.plan));
  }
  return text;
}

std::string attempt_words(const MapQuestion& question, const MapRun& run) {
  const auto& objective = find_named(mapping::objectives(), question.request.objective, "objective");
  std::string text = fmt::format("{}, tried:\n", objective.description);
  for (const auto& attempt : run.placement.attempts)
    text += fmt::format("  {:>12.6g}  {}{}{}\n", attempt.value, attempt.how,
                        attempt.closer ? fmt::format("; played through {:.6g}", *attempt.closer) : "",
                        attempt.how == run.placement.how ? "  <- taken" : "");
  return text;
}

}  // namespace

std::string summary(const MapQuestion& question, const MapRun& run) {
  const auto total = question.graph.total();
  std::string text =
      fmt::format("{} ranks, {} on each of {} nodes of {}; {} messages, {} bytes; costs {}\n",
                  question.graph.ranks(), question.ranks_per_node, question.nodes, question.request.network,
                  total.messages, total.bytes, question.model.source);
  if (question.collective_bytes > 0)
    text += fmt::format("collective calls, of {} bytes, are in no message: they are not placed\n",
                        question.collective_bytes);
  text += fmt::format("  {:<22}{:>10}{:>10}{:>12}{:>14}{:>11}{:>11}{:>11}\n", "", "messages", "bytes", "",
                      "hops", "busiest", "busiest", "exchange");
  text += fmt::format("  {:<22}{:>10}{:>10}{:>12}{:>7}{:>7}{:>11}{:>11}{:>11}\n", "", "inside", "inside",
                      "hop-bytes", "mean", "most", "rank, us", "link, us", "us");
  text += row("order of ranks", run.order.metrics());
  text += row("dealt round", run.round.metrics());
  text += row("placed", run.placed.metrics());
  for (std::size_t i = 0; i < run.compared.size(); ++i)
    text += row(question.request.compare[i], run.compared[i]);
  text += run.joint.empty() ? attempt_words(question, run) : joint_words(question, run);
  if (run.placement.is_order) text += "nothing is better than the order of ranks: keep it\n";
  return text + fmt::format("placed in {:.2f} s\n", run.seconds);
}

}  // namespace ayatori::session
