#include "ayatori/mapping/replay.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace ayatori::mapping {

namespace {

/// Messages from one rank to another that leave their node.
struct Flow {
  double start;
  double bytes;  ///< left
  double rate = 0;
};

class Replay {
 public:
  explicit Replay(const Evaluation& evaluation) : evaluation_(evaluation) {
    const auto& graph = evaluation.graph();
    for (int rank = 0; rank < graph.ranks(); ++rank) begin_messages(rank);
    index_links();
  }

  /// Passages of flows over links, ports included.
  double passages() const { return static_cast<double>(way_.size()); }

  double run() {
    const double least_step = replay_resolution * evaluation_.metrics().seconds;
    std::vector<int> waiting(flows_.size());
    for (std::size_t f = 0; f < flows_.size(); ++f) waiting[f] = static_cast<int>(f);
    std::ranges::sort(waiting, std::greater<>(), [&](int f) { return flows_[f].start; });
    double now = 0;
    while (!waiting.empty() || !active_.empty()) {
      while (!waiting.empty() && flows_[waiting.back()].start <= now) {
        active_.push_back(waiting.back());
        waiting.pop_back();
      }
      const double next =
          waiting.empty() ? std::numeric_limits<double>::infinity() : flows_[waiting.back()].start;
      if (active_.empty()) {
        now = next;
        continue;
      }
      share_links();
      double step = next - now;
      for (const int f : active_) step = std::min(step, flows_[f].bytes / flows_[f].rate);
      step = std::max(step, least_step);
      advance(now, step);
      now += step;
    }
    return end_;
  }

 private:
  void begin_messages(int rank) {
    const CostModel& model = evaluation_.model();
    const int from = evaluation_.node_of(rank);
    double now = 0;
    for (const auto& talk : evaluation_.graph().talks(rank)) {
      const auto messages = static_cast<double>(talk.out.messages);
      const auto bytes = static_cast<double>(talk.out.bytes);
      const int to = evaluation_.node_of(talk.peer);
      if (from == to) {
        now += messages * model.inside_latency + bytes / model.inside_bandwidth;
        continue;
      }
      now += messages * model.between_latency;
      if (talk.out.bytes == 0) continue;
      first_.push_back(way_.size());
      evaluation_.passed(from, to, way_);
      const auto hops = static_cast<double>(way_.size() - first_.back()) - 2;
      flows_.push_back({now + hops * model.hop_latency, bytes});
    }
    end_ = std::max(end_, now);
  }

  /// Which flows pass each link.
  void index_links() {
    first_.push_back(way_.size());
    const std::size_t links = evaluation_.link_bytes().size();
    start_.assign(links + 1, 0);
    for (const int link : way_) ++start_[link + 1];
    for (std::size_t link = 0; link < links; ++link) start_[link + 1] += start_[link];
    passing_.resize(way_.size());
    auto next = start_;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      for (std::size_t k = first_[f]; k < first_[f + 1]; ++k) passing_[next[way_[k]]++] = static_cast<int>(f);
    }
  }

  /// Rates of all active flows: again and again the link that has least for each of its flows gives them
  /// that.
  void share_links() {
    free_.assign(start_.size() - 1, 0);
    users_.assign(free_.size(), 0);
    unset_.assign(flows_.size(), 0);
    for (const int f : active_) {
      unset_[f] = 1;
      for (std::size_t k = first_[f]; k < first_[f + 1]; ++k) ++users_[way_[k]];
    }
    std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> queue;
    for (int link = 0; link < static_cast<int>(free_.size()); ++link) {
      if (users_[link] == 0) continue;
      free_[link] = 1 / evaluation_.seconds_per_byte(link);
      queue.emplace(free_[link] / users_[link], link);
    }
    while (!queue.empty()) {
      const auto [known, link] = queue.top();
      queue.pop();
      if (users_[link] == 0) continue;
      const double share = free_[link] / users_[link];
      if (share > known) {  // others have taken less than it was for them since
        queue.emplace(share, link);
        continue;
      }
      for (std::size_t i = start_[link]; i < start_[link + 1]; ++i) {
        const int f = passing_[i];
        if (!unset_[f]) continue;
        unset_[f] = 0;
        flows_[f].rate = known;
        for (std::size_t k = first_[f]; k < first_[f + 1]; ++k) {
          free_[way_[k]] -= known;
          --users_[way_[k]];
        }
      }
    }
  }

  void advance(double now, double step) {
    std::erase_if(active_, [&](int f) {
      Flow& flow = flows_[f];
      const double needs = flow.bytes / flow.rate;
      flow.bytes -= step * flow.rate;
      if (needs > step) return false;
      end_ = std::max(end_, now + needs);
      return true;
    });
  }

  const Evaluation& evaluation_;
  std::vector<Flow> flows_;
  std::vector<std::size_t> first_;  ///< by flow: where its way begins
  std::vector<int> way_;            ///< links
  std::vector<std::size_t> start_;  ///< by link: where its flows begin
  std::vector<int> passing_;        ///< flows
  std::vector<int> active_;
  std::vector<double> free_;  ///< bytes per second of each link that nobody has yet
  std::vector<int> users_;
  std::vector<char> unset_;
  double end_ = 0;
};

}  // namespace

std::optional<double> replay_seconds(const Evaluation& evaluation) {
  constexpr double most_passages = 1e6;
  Replay replay(evaluation);
  if (replay.passages() > most_passages) return std::nullopt;
  return replay.run();
}

}  // namespace ayatori::mapping
