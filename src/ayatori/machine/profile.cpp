#include "ayatori/machine/profile.hpp"

#include <algorithm>

namespace ayatori::machine {

double OverlapFigure::hidden() const {
  const double shorter = std::min(transfer.median, compute.median);
  const double saved = transfer.median + compute.median - together.median;
  return shorter > 0 ? std::clamp(saved / shorter, 0.0, 1.0) : 0;
}

double FanFigure::bytes_per_second(double latency) const {
  const double flowing = seconds.median - 2 * latency;  // the answers' too
  return partners > 0 && flowing > 0 ? static_cast<double>(partners * bytes) / flowing : 0;
}

const TransferCurve* Level::curve(std::string_view pattern, int pairs) const {
  for (const TransferCurve& curve : curves) {
    if (curve.pattern == pattern && curve.pairs == pairs) return &curve;
  }
  return nullptr;
}

LinkSharing link_sharing(const Level& level) {
  constexpr double clearly_less = 0.8;
  const TransferCurve* one = level.curve("one-way", 1);
  if (one == nullptr || one->model.pieces.empty()) return {};
  LinkSharing sharing{one->model.bandwidth(), one->model.bandwidth(), false};
  for (const TransferCurve& curve : level.curves) {
    const bool shares = curve.pattern == "one-way" && curve.pairs > 1 && curve.pairs <= level.sharing_pairs;
    if (!shares || curve.model.pieces.empty()) continue;
    sharing.capacity = std::max(sharing.capacity, curve.pairs * curve.model.bandwidth());
    if (curve.model.bandwidth() < clearly_less * sharing.one_flow) sharing.is_limited = true;
  }
  return sharing;
}

int Profile::nodes() const {
  return node_of_rank.empty() ? 0 : *std::ranges::max_element(node_of_rank) + 1;
}

double Profile::memory_bandwidth(std::string_view kernel, int most_threads) const {
  const MemoryFigure* best = nullptr;
  for (const MemoryFigure& figure : memory) {
    if (figure.kernel != kernel || figure.touched_by_one || figure.threads > most_threads) continue;
    const bool beyond = best == nullptr || figure.bytes > best->bytes;
    if (beyond || (figure.bytes == best->bytes && figure.threads > best->threads)) best = &figure;
  }
  return best == nullptr ? 0 : best->bytes_per_second.median;
}

MessageBound message_bound(const Profile& profile) {
  MessageBound bound;
  for (const Level& level : profile.levels) {
    for (const TransferCurve& curve : level.curves) {
      if (curve.pairs != 1 || curve.model.pieces.empty()) continue;
      const double latency = curve.model.latency();
      if (bound.latency == 0 || latency < bound.latency) bound.latency = latency;
      bound.bytes_per_second = std::max(bound.bytes_per_second, curve.model.bandwidth());
      for (const TransferFigure& point : curve.points)
        bound.bytes_per_second =
            std::max(bound.bytes_per_second, static_cast<double>(point.bytes) / point.seconds.low);
    }
  }
  return bound;
}

}  // namespace ayatori::machine
