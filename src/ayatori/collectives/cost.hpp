#pragma once

#include <vector>

#include "ayatori/collectives/network.hpp"
#include "ayatori/collectives/schedule.hpp"

namespace ayatori::collectives {

/// A message, and how much of the buffer it carries.
struct Message {
  int from;
  int to;
  double share;
  bool is_reduced;  ///< on arrival
  int rail = any_rail;
};

/// What passes one end of lanes or ports, in shares of the buffer.
struct Traffic {
  double out = 0;
  double in = 0;
  double both = 0;  ///< ways together

  Traffic& operator+=(const Traffic& other);
  Traffic& operator*=(double factor);
  /// The busiest each way.
  void raise_to(const Traffic& other);
};

/// What messages that are under way at once ask of the machine at a level: of the busiest rank, or group of
/// the level below.
struct LevelLoad {
  int flows = 0;  ///< that meet at this level
  int flows_per_port = 0;
  bool both_ways = false;  ///< some rank sends and receives
  double longest = 0;      ///< share of the longest message
  double farthest = 0;     ///< seconds: Network::farther() of the farthest
  /// Of a rank at this level. A lane or port between nodes is as busy as the rails of which it consists would
  /// be, if all of them were as busy as the one for which most is meant.
  Traffic lane;
  Traffic port;           ///< also of flows that meet at a farther level
  Traffic lane_messages;  ///< numbers of them instead of shares
  Traffic port_messages;
};

struct StageLoad {
  std::vector<LevelLoad> levels;  ///< by level of the network
  Traffic rank;                   ///< at all levels together
  Traffic rank_messages;
  double gaps = 0;      ///< seconds between the first and the last message that a rank starts
  double starting = 0;  ///< seconds that a rank needs to start all of them
  double reduced = 0;   ///< share that a rank combines
  int messages = 0;     ///< that a rank combines

  /// Of the same messages in a part of the buffer.
  StageLoad& operator*=(double share);
  /// Of both at once, if the same ranks are busiest with either. What is of single messages stays.
  StageLoad& operator+=(const StageLoad& other);
};

/// Of stages one after the other, and of all of them at once, as in the middle of a pipeline.
struct Load {
  std::vector<StageLoad> stages;
  StageLoad together;
};

StageLoad load_of(const std::vector<Message>& messages, const Network& network);

/// What every stage of a schedule asks of the machine. Throws InputError where ranks never meet.
Load load_of(const Schedule& schedule, const Network& network);

/// Of one stage: the longest latency, and then what takes longest of the longest message alone (alpha + beta
/// x by level and by how many send at once: Imamura's model), the lanes, the ports, and starting the messages
/// one after the other; and combining. `bytes`: of the buffer.
double predict_seconds(const StageLoad& load, const Network& network, double bytes);

/// Stage after stage. With segments the first one goes through all stages, and every further one follows as
/// soon as the busiest part of the machine is done with one, and a stage with the one `under_way` before it.
double predict_seconds(const Load& load, const Network& network, double bytes, int segments = 1,
                       int under_way = 1);

/// How many stages of a pipeline have to be under way so that latencies do not show, at most `most`: more
/// would only make the first segments wait for later ones on the links that they share.
int segments_under_way(const Load& load, const Network& network, double segment_bytes, int most);

}  // namespace ayatori::collectives
