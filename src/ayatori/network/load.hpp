#pragma once

#include <span>
#include <vector>

#include "ayatori/network/hierarchy.hpp"

namespace ayatori::network {

/// A message, and how much of the buffer it carries.
struct Message {
  int from;
  int to;
  double share;
  bool is_reduced;  ///< on arrival
  int rail = any_rail;
};

/// Out of one end of lanes or ports, into it, and both ways together.
struct Ways {
  double out = 0;
  double in = 0;
  double both = 0;

  Ways& operator+=(const Ways& other);
  Ways& operator*=(double factor);
};

/// What passes one end of lanes or ports.
struct PortLoad {
  Ways share;     ///< share of the buffer
  Ways messages;  ///< their number

  PortLoad& operator+=(const PortLoad& other);
  /// The busiest each way.
  void raise_to(const PortLoad& other);
};

/// What messages that are under way at once ask of the machine at a level: of the busiest rank, or group of
/// the level below.
struct LevelLoad {
  int flows = 0;  ///< that meet at this level
  int flows_per_port = 0;
  bool both_ways = false;  ///< some rank sends and receives
  double longest = 0;      ///< share of the longest message
  double farthest = 0;     ///< seconds: Hierarchy::farther() of the farthest
  /// Load of a rank at this level. A lane or port between nodes is as busy as the rails of which it consists
  /// would be, if all of them were as busy as the one for which most is meant.
  PortLoad lane;
  PortLoad port;  ///< also of flows that meet at a farther level
};

/// What they ask of all levels.
struct Load {
  std::vector<LevelLoad> levels;  ///< by level of the network
  PortLoad rank;                  ///< at all levels together
  double gaps = 0;                ///< seconds between the first and the last message that a rank starts
  double starting = 0;            ///< seconds that a rank needs to start all of them
  double reduced = 0;             ///< share that a rank combines
  int messages = 0;               ///< that a rank combines

  /// The load by the same messages in a part of the buffer.
  Load& operator*=(double share);
  /// The load by both at once, if the same ranks are busiest with either. What is of single messages stays.
  Load& operator+=(const Load& other);
};

Load load_of(std::span<const Message> messages, const Hierarchy& hierarchy);

/// The longest latency, and then what takes longest of the longest message alone (alpha + beta x by level and
/// by how many send at once: Imamura's model), the lanes, the ports, and starting the messages one after the
/// other; and combining. `bytes`: of the buffer.
double predict_seconds(const Load& load, const Hierarchy& hierarchy, double bytes);

/// What the busiest part of the machine is busy for, without latencies.
double busy_seconds(const Load& load, const Hierarchy& hierarchy, double bytes);

}  // namespace ayatori::network
