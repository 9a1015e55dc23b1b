#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ayatori/machine/profile.hpp"

namespace ayatori::network {

/// The ports by which a node can be left are its rails, where they can do each other's work.
inline constexpr int any_rail = -1;

/// The machine of a profile as nested groups of ranks with ports, to price messages that are under way at
/// once. A message between ranks that meet at level l passes a lane of its sender and one of its receiver at
/// that level, and of every level from 1 to l the port of the group of the level below that it leaves, and of
/// the one that it enters.
class Hierarchy {
 public:
  /// Throws InputError if the profile has fewer ranks, or no transfer times.
  Hierarchy(const machine::Profile& profile, int ranks);

  int ranks() const { return ranks_; }
  int levels() const { return static_cast<int>(levels_.size()); }
  /// The nearest level at which two ranks meet. Throws InputError if there is none.
  int level_of(int a, int b) const;
  /// The group of the level below to which a rank belongs: the rank itself at level 0.
  int owner(int level, int rank) const { return level == 0 ? rank : levels_[level - 1].group_of[rank]; }
  int owners(int level) const { return level == 0 ? ranks_ : levels_[level - 1].groups; }

  /// Model of one message between the pair of the level's curves, alone or as one of as many as they know.
  /// `flows_per_port`: that leave one group of the level below at once; `flows`: at the level in all.
  const machine::TransferModel& model(int level, bool both_ways, int flows_per_port, int flows) const;
  /// How much later a message arrives from one to the other, that meet at this level, than between the pair
  /// of its curves: that of the nearest pair of their groups of the level below that was measured, or else of
  /// a typical one.
  double farther(int level, int from, int to) const {
    const auto& pairs = levels_[level].farther_of;
    const auto pair = pairs.find(key(level, from, to));
    return pair == pairs.end() ? levels_[level].farther : pair->second;
  }
  /// Whether the profile tells pairs of one level apart.
  bool knows_pairs() const { return knows_pairs_; }
  /// From one short message of a rank to its next, while none is waited for, beside what its overhead takes.
  double gap(int level) const { return levels_[level].gap; }
  /// Bytes that a message takes up on its way beside its own: what makes short messages late that share a
  /// lane or port.
  double overhead(int level) const { return levels_[level].overhead; }
  /// Bytes per second in one direction: of a rank at a level, and of a port (infinite where nothing limits
  /// it).
  double lane(int level) const { return levels_[level].lane; }
  double port(int level) const { return levels_[level].port; }
  /// Both directions together, as a multiple of one: 1 where they share, 2 where they do not meet.
  double lane_duplex(int level) const { return levels_[level].lane_duplex; }
  double port_duplex(int level) const { return levels_[level].port_duplex; }
  /// Sends of up to this many bytes are complete before they are received.
  double eager_bytes(int level) const { return levels_[level].eager_bytes; }
  /// Seconds of combining this many bytes with as many others; 0 where it was not measured.
  double reducing(double bytes) const { return reduction_.seconds(bytes); }
  /// How many ports of a node carried what the probe sent, as if all carried the same: (sum m)^2 / sum m^2 of
  /// their bytes, rounded. 1 where it is not known, or no level is the one between nodes.
  int rails() const { return rails_; }
  /// The nearest level whose messages leave nodes: its ports (or lanes, where a node has one rank) are those
  /// that rails share in equal parts.
  int rail_level() const { return rail_level_; }
  /// The level with the widest lane: a rank's messages of all levels together are no faster.
  int fastest() const { return fastest_; }

 private:
  struct Level {
    std::vector<int> group_of;
    int groups = 0;
    int sharing_pairs = 1;
    std::vector<machine::TransferCurve> curves;  ///< one-way and both-ways
    double farther = 0;                          ///< seconds from the pair of the curves to a typical one
    std::unordered_map<std::int64_t, double> farther_of;  ///< to others, by groups of the level below
    double gap = 0;
    double eager_bytes = 0;
    double overhead = 0;
    double lane = 0;
    double port = 0;
    double lane_duplex = 2;
    double port_duplex = 2;
  };
  std::int64_t key(int level, int a, int b) const {
    const int of_a = owner(level, a);
    const int of_b = owner(level, b);
    return static_cast<std::int64_t>(std::min(of_a, of_b)) << 32 | std::max(of_a, of_b);
  }
  /// Which level's messages are the first to leave nodes; -1 if groups are not nodes.
  int level_of_nodes(const std::vector<int>& node_of_rank) const;

  int ranks_;
  int fastest_ = 0;
  int rails_ = 1;
  int rail_level_ = -1;
  std::vector<Level> levels_;
  bool knows_pairs_ = false;
  machine::TransferModel reduction_;
};

}  // namespace ayatori::network
