#include "ayatori/machine/profile.hpp"

#include <algorithm>
#include <cmath>

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

bool DeviceFigure::is_possible() const {
  const auto is_rate = [](double value) { return std::isfinite(value) && value > 0; };
  const auto is_time = [](double value) { return std::isfinite(value) && value >= 0; };
  return is_rate(copy) && is_rate(in) && is_rate(out) && is_time(open_seconds) && is_time(step) &&
         is_time(wait);
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

Profile through_memory(Profile profile) {
  std::vector<double> nearer;
  for (Level& level : profile.levels) {
    const TransferCurve* const by_messages = level.curve("one-way", 1);
    const TransferCurve* const by_memory = level.curve(one_way_through_memory, 1);
    nearer.push_back(0);
    if (by_messages == nullptr || by_memory == nullptr || by_memory->model.pieces.empty()) continue;
    nearer.back() = by_messages->model.seconds(short_message) - by_memory->model.seconds(short_message);
    std::erase_if(level.curves, [](const TransferCurve& curve) {
      return curve.pattern == "one-way" || curve.pattern == "both-ways" || curve.pattern == "burst";
    });
    for (TransferCurve& curve : level.curves) {
      if (curve.pattern == one_way_through_memory) curve.pattern = "one-way";
      if (curve.pattern == both_ways_through_memory) curve.pattern = "both-ways";
    }
    level.structure.typical_seconds = std::max(level.structure.typical_seconds - nearer.back(), 0.0);
    level.fan = {};
  }
  for (PairTime& pair : profile.pairs) {
    for (std::size_t l = 0; l < profile.levels.size(); ++l) {
      const auto& groups = profile.levels[l].structure.group_of;
      if (groups[pair.first] != groups[pair.second]) continue;
      pair.seconds = std::max(pair.seconds - nearer[l], 0.0);
      break;
    }
  }
  return profile;
}

}  // namespace ayatori::machine
