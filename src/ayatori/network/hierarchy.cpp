#include "ayatori/network/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <set>

#include "ayatori/base/error.hpp"

namespace ayatori::network {

namespace {

/// Long messages both ways against one way, under the same number of pairs.
double duplex_of(const machine::Level& level, int most_pairs) {
  double duplex = 2;
  int pairs = 0;
  for (const auto& curve : level.curves) {
    const auto* both = curve.pattern == "one-way" ? level.curve("both-ways", curve.pairs) : nullptr;
    const bool counts = curve.pairs > pairs && curve.pairs <= most_pairs && !curve.model.pieces.empty();
    if (!counts || both == nullptr || both->model.pieces.empty()) continue;
    if (curve.model.bandwidth() <= 0 || both->model.bandwidth() <= 0) continue;
    pairs = curve.pairs;
    duplex = std::clamp(2 * both->model.bandwidth() / curve.model.bandwidth(), 1.0, 2.0);
  }
  return duplex;
}

/// A burst of short messages takes, beside the gaps, what its first message takes and the answer to its last.
double gap_of(const machine::TransferCurve& burst, double latency) {
  constexpr double messages = 64;  // machine::transfer_patterns()
  return std::max(burst.model.latency() - 2 * latency / messages, 0.0);
}

/// Bytes per second of what the longest message is longer than one of a quarter of its length at most. Where
/// messages share a link only once they are long, a line through all of their times is too flat for these.
double bandwidth_of_long(const machine::TransferCurve& curve) {
  constexpr std::int64_t apart = 4;
  for (const auto& point : std::views::reverse(curve.points)) {
    const auto& longest = curve.points.back();
    if (point.bytes * apart > longest.bytes) continue;
    const double seconds = longest.seconds.median - point.seconds.median;
    if (seconds > 0) return static_cast<double>(longest.bytes - point.bytes) / seconds;
    break;
  }
  return curve.model.bandwidth();
}

/// Capacity of a port: the most that was seen.
double port_capacity(const machine::Level& level) {
  double capacity = 0;
  for (const auto& curve : level.curves) {
    const bool shares =
        curve.pattern == "one-way" && curve.pairs <= level.sharing_pairs && !curve.model.pieces.empty();
    if (shares) capacity = std::max(capacity, curve.pairs * bandwidth_of_long(curve));
  }
  return capacity;
}

/// By how much the latency grows with every further message that passes the port, at the port's rate.
double overhead_of(const machine::Level& level, const machine::LinkSharing& sharing) {
  if (!sharing.is_limited) return 0;
  const double alone = level.curve("one-way", 1)->model.latency();
  const auto* most = level.curve("one-way", level.sharing_pairs);
  if (most == nullptr || most->model.pieces.empty()) return 0;
  return std::max(most->model.latency() - alone, 0.0) / (most->pairs - 1) * sharing.capacity;
}

/// Times at a level: seconds of a byte, and from one short message of a burst to the next.
struct Burst {
  double byte;
  double gap;
};

/// How many bytes go with every message, beside its own: those by which gaps are the longer the slower the
/// level is. What is the same at all levels is the sender's work.
double header_of(const std::vector<Burst>& bursts) {
  constexpr double clearly_slower = 2;
  double bytes = std::numeric_limits<double>::infinity();
  for (const Burst& fast : bursts) {
    for (const Burst& slow : bursts) {
      if (slow.byte >= clearly_slower * fast.byte)
        bytes = std::min(bytes, (slow.gap - fast.gap) / (slow.byte - fast.byte));
    }
  }
  return std::isfinite(bytes) ? std::max(bytes, 0.0) : 0;
}

/// Ports that carried the same count fully, those that carried next to nothing hardly.
int busy_ports(const std::vector<machine::PortFigure>& ports) {
  double sum = 0;
  double squares = 0;
  for (const auto& port : ports) {
    const auto moved = static_cast<double>(port.moved_bytes);
    sum += moved;
    squares += moved * moved;
  }
  return squares > 0 ? static_cast<int>(std::lround(sum * sum / squares)) : 1;
}

/// Distances are told apart by this part of a latency: less is noise, and replays of ranks that all differ a
/// little take many times as long.
constexpr double steps_of_distance = 8;

}  // namespace

Hierarchy::Hierarchy(const machine::Profile& profile, int ranks)
    : ranks_(ranks), reduction_(profile.reduction.model) {
  std::vector<Burst> bursts;
  if (profile.ranks < ranks)
    throw InputError(
        fmt::format("the profile is one of {} ranks, and the schedule is for {}", profile.ranks, ranks));
  for (const auto& measured : profile.levels) {
    Level& level = levels_.emplace_back();
    level.group_of = measured.structure.group_of;
    level.group_of.resize(ranks);
    level.groups = 1 + *std::ranges::max_element(level.group_of);
    level.sharing_pairs = measured.sharing_pairs;
    for (const auto& curve : measured.curves) {
      const bool tells = curve.pattern == "one-way" || curve.pattern == "both-ways";
      if (tells && !curve.model.pieces.empty()) level.curves.push_back(curve);
    }
    if (level.curves.empty())
      throw InputError(fmt::format("the profile has no transfer times {}", measured.name));
    const auto& alone = model(levels() - 1, false, 1, 1);
    const auto* burst = measured.curve("burst", 1);
    const bool knows_bursts = burst != nullptr && !burst->model.pieces.empty();
    level.gap = knows_bursts ? gap_of(*burst, alone.latency()) : alone.latency();
    if (knows_bursts && alone.bandwidth() > 0) bursts.push_back({1 / alone.bandwidth(), level.gap});
    constexpr double unlimited = std::numeric_limits<double>::infinity();
    level.lane = alone.bandwidth() > 0 ? alone.bandwidth() : unlimited;
    for (const auto& curve : level.curves) {
      if (curve.pattern == "one-way") level.lane = std::max(level.lane, curve.model.bandwidth());
    }
    level.lane = std::max(level.lane, measured.fan.bytes_per_second(alone.latency()));
    if (level.lane > levels_[fastest_].lane) fastest_ = levels() - 1;
    const auto sharing = link_sharing(measured);
    level.port = sharing.is_limited ? port_capacity(measured) : unlimited;
    level.overhead = overhead_of(measured, sharing);
    level.farther = std::max(measured.structure.typical_seconds - alone.seconds(machine::short_message), 0.0);
    level.eager_bytes = static_cast<double>(std::max<std::int64_t>(measured.eager_bytes, 0));
    level.lane_duplex = duplex_of(measured, 1);
    level.port_duplex = duplex_of(measured, measured.sharing_pairs);
  }
  const double header = header_of(bursts);
  for (Level& level : levels_) {
    level.overhead = std::max(level.overhead, header);
    level.gap = std::max(level.gap - header / level.lane, 0.0);
  }
  for (const auto& pair : profile.pairs) {
    if (std::max(pair.first, pair.second) >= ranks) continue;
    const int level = level_of(pair.first, pair.second);
    const auto& alone = model(level, false, 1, 1);
    const double step = alone.latency() / steps_of_distance;
    double farther = pair.seconds - alone.seconds(machine::short_message);
    if (step > 0) farther = step * std::round(farther / step);
    const auto [known, is_new] =
        levels_[level].farther_of.try_emplace(key(level, pair.first, pair.second), farther);
    if (!is_new) known->second = std::min(known->second, farther);
    knows_pairs_ = true;
  }
  rail_level_ = level_of_nodes(profile.node_of_rank);
  if (rail_level_ >= 0) rails_ = busy_ports(profile.ports);
}

int Hierarchy::level_of_nodes(const std::vector<int>& node_of_rank) const {
  if (std::ssize(node_of_rank) < ranks_) return -1;
  for (int level = 0; level < levels(); ++level) {
    std::map<int, int> owner_of;
    std::set<int> owners;
    bool is_same = true;
    for (int rank = 0; rank < ranks_ && is_same; ++rank) {
      const auto [entry, is_new] = owner_of.try_emplace(node_of_rank[rank], owner(level, rank));
      is_same = entry->second == owner(level, rank) && (!is_new || owners.insert(entry->second).second);
    }
    if (is_same) return level;
  }
  return -1;
}

int Hierarchy::level_of(int a, int b) const {
  for (int level = 0; level < levels(); ++level) {
    if (levels_[level].group_of[a] == levels_[level].group_of[b]) return level;
  }
  throw InputError(fmt::format("the profile has no level at which ranks {} and {} meet", a, b));
}

/// The curve that was measured under the conditions that are most like these. Where no curve tells what flows
/// through one port get, one of many pairs stands for all cases of several flows: the conditions of Imamura's
/// table 3.
const machine::TransferModel& Hierarchy::model(int level, bool both_ways, int flows_per_port,
                                               int flows) const {
  const Level& l = levels_[level];
  const bool knows_sharing = std::ranges::any_of(
      l.curves, [&](const auto& curve) { return curve.pairs > 1 && curve.pairs <= l.sharing_pairs; });
  const machine::TransferCurve* best = nullptr;
  int best_score = -1;
  for (const auto& curve : l.curves) {
    const bool as_busy = knows_sharing ? std::min(curve.pairs, l.sharing_pairs) <= flows_per_port
                                       : curve.pairs == 1 || flows > 1;
    const int score = 2 * ((curve.pattern == "both-ways") == both_ways ? 1 : 0) + (as_busy ? 1 : 0);
    const bool is_nearer = best != nullptr && score == best_score &&
                           (as_busy ? curve.pairs > best->pairs : curve.pairs < best->pairs);
    if (score > best_score || is_nearer) {
      best = &curve;
      best_score = score;
    }
  }
  return best->model;
}

}  // namespace ayatori::network
