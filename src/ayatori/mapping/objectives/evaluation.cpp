#include "ayatori/mapping/objectives/evaluation.hpp"

#include <algorithm>

#include "ayatori/base/error.hpp"

namespace ayatori::mapping {

namespace {

/// Which of this many takes longest.
template <class Seconds>
int first_longest(int count, const Seconds& seconds) {
  int longest = 0;
  double most = -1;
  for (int i = 0; i < count; ++i) {
    const double taken = seconds(i);
    if (taken > most) longest = i;
    most = std::max(most, taken);
  }
  return longest;
}

}  // namespace

Evaluation::Evaluation(const CommGraph& graph, const network::Network& network,
                       const network::CostModel& model, std::span<const int> node_of)
    : graph_(graph),
      network_(network),
      model_(model),
      node_of_(node_of.begin(), node_of.end()),
      seconds_per_byte_(network::seconds_per_byte(network, model)),
      link_bytes_(seconds_per_byte_.size(), 0),
      sent_(graph.ranks()),
      received_(graph.ranks()) {
  AYATORI_ASSERT(static_cast<int>(node_of.size()) == graph.ranks());
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    for (const auto& talk : graph.talks(rank)) {
      if (talk.peer > rank) account(rank, talk, 1);
    }
  }
}

void Evaluation::account(int rank, const CommGraph::Talk& talk, int sign) {
  account(rank, talk.peer, talk.out, sign);
  account(talk.peer, rank, talk.in, sign);
}

void Evaluation::account(int from, int to, const Volume& volume, int sign) {
  if (volume == Volume()) return;
  const Volume change{sign * volume.messages, sign * volume.bytes};
  const int a = node_of_[from];
  const int b = node_of_[to];
  if (a == b) {
    inside_ += change;
    sent_[from].inside += change;
    received_[to].inside += change;
    return;
  }
  sent_[from].between += change.messages;
  received_[to].between += change.messages;
  way_.clear();
  network::route_with_ports(network_, a, b, way_);
  for (const int link : way_) link_bytes_[link] += change.bytes;
  const std::size_t hops = way_.size() - 2;
  hop_bytes_ += static_cast<std::int64_t>(hops) * change.bytes;
  if (messages_by_hops_.size() <= hops) messages_by_hops_.resize(hops + 1, 0);
  messages_by_hops_[hops] += change.messages;
}

void Evaluation::account_all(int rank, int but, int sign) {
  for (const auto& talk : graph_.talks(rank)) {
    if (talk.peer != but) account(rank, talk, sign);
  }
}

void Evaluation::swap(int a, int b) {
  account_all(a, -1, -1);
  account_all(b, a, -1);
  std::swap(node_of_[a], node_of_[b]);
  account_all(a, -1, 1);
  account_all(b, a, 1);
}

double Evaluation::rank_seconds(int rank) const {
  const auto seconds = [&](const Handled& handled) {
    return model_.inside.seconds(static_cast<double>(handled.inside.messages),
                                 static_cast<double>(handled.inside.bytes)) +
           static_cast<double>(handled.between) * model_.between_latency;
  };
  return std::max(seconds(sent_[rank]), seconds(received_[rank]));
}

int Evaluation::busiest_rank() const {
  return first_longest(graph_.ranks(), [&](int rank) { return rank_seconds(rank); });
}

int Evaluation::busiest_link() const {
  return first_longest(static_cast<int>(link_bytes_.size()), [&](int link) { return link_seconds(link); });
}

Metrics Evaluation::metrics() const {
  Metrics metrics;
  metrics.total = graph_.total();
  metrics.inside = inside_;
  metrics.hop_bytes = hop_bytes_;
  std::int64_t hops = 0;
  for (std::size_t h = 0; h < messages_by_hops_.size(); ++h) {
    if (messages_by_hops_[h] > 0) metrics.most_hops = static_cast<int>(h);
    hops += static_cast<std::int64_t>(h) * messages_by_hops_[h];
  }
  const std::int64_t between = metrics.total.messages - inside_.messages;
  if (between > 0) metrics.mean_hops = static_cast<double>(hops) / static_cast<double>(between);
  metrics.link_seconds = link_seconds(busiest_link());
  metrics.rank_seconds = rank_seconds(busiest_rank());
  metrics.seconds = metrics.link_seconds + metrics.rank_seconds + metrics.most_hops * model_.hop_latency;
  return metrics;
}

}  // namespace ayatori::mapping
