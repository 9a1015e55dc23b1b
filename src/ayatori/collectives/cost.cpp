#include "ayatori/collectives/cost.hpp"

#include <algorithm>
#include <cmath>

namespace ayatori::collectives {

namespace {

/// Of a whole buffer of so many bytes, and of messages with their overheads.
double seconds_through(const Traffic& traffic, double bytes, const Traffic& messages, double overhead,
                       double bytes_per_second, double duplex) {
  const auto all = [&](double Traffic::*way) { return bytes * traffic.*way + overhead * messages.*way; };
  return std::max({all(&Traffic::out), all(&Traffic::in), all(&Traffic::both) / duplex}) / bytes_per_second;
}

/// What is busiest, without latencies.
double seconds_of_bytes(const StageLoad& load, const Network& network, double bytes) {
  if (network.levels() == 0) return 0;
  const int fastest = network.fastest();
  double most = seconds_through(load.rank, bytes, load.rank_messages, network.overhead(fastest),
                                network.lane(fastest), network.lane_duplex(fastest));
  for (int l = 0; l < network.levels(); ++l) {
    const LevelLoad& level = load.levels[l];
    const double overhead = network.overhead(l);
    most = std::max({most,
                     seconds_through(level.lane, bytes, level.lane_messages, overhead, network.lane(l),
                                     network.lane_duplex(l)),
                     seconds_through(level.port, bytes, level.port_messages, overhead, network.port(l),
                                     network.port_duplex(l))});
  }
  return most;
}

double seconds_of_combining(const StageLoad& load, const Network& network, double bytes) {
  return load.messages > 0 ? load.messages * network.reducing(load.reduced * bytes / load.messages) : 0;
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) {
  out += other.out;
  in += other.in;
  both += other.both;
  return *this;
}

Traffic& Traffic::operator*=(double factor) {
  out *= factor;
  in *= factor;
  both *= factor;
  return *this;
}

void Traffic::raise_to(const Traffic& other) {
  out = std::max(out, other.out);
  in = std::max(in, other.in);
  both = std::max(both, other.both);
}

StageLoad& StageLoad::operator*=(double share) {
  for (LevelLoad& level : levels) {
    level.longest *= share;
    level.lane *= share;
    level.port *= share;
  }
  rank *= share;
  reduced *= share;
  return *this;
}

StageLoad& StageLoad::operator+=(const StageLoad& other) {
  levels.resize(std::max(levels.size(), other.levels.size()));
  for (std::size_t l = 0; l < other.levels.size(); ++l) {
    levels[l].lane += other.levels[l].lane;
    levels[l].port += other.levels[l].port;
    levels[l].lane_messages += other.levels[l].lane_messages;
    levels[l].port_messages += other.levels[l].port_messages;
  }
  rank += other.rank;
  rank_messages += other.rank_messages;
  starting += other.starting;
  reduced += other.reduced;
  messages += other.messages;
  return *this;
}

StageLoad load_of(const std::vector<Message>& messages, const Network& network) {
  struct OfRank {
    double gaps = 0;
    double least_gap = 0;
    double reduced = 0;
    int messages = 0;
    int sent = 0;
    Traffic traffic;
    Traffic all_messages;
  };
  struct Lane {
    Traffic traffic;
    Traffic messages;
  };
  struct Port {
    Traffic traffic;
    Traffic messages;
    int flows = 0;  ///< out
  };
  StageLoad load;
  load.levels.resize(network.levels());
  std::vector<OfRank> ranks(network.ranks());
  std::vector<std::vector<Lane>> lanes(network.levels());
  std::vector<std::vector<Port>> ports(network.levels());
  const int rails = network.rails();
  std::vector<Traffic> by_rail;
  for (const Message& message : messages) {
    const int level = network.level_of(message.from, message.to);
    LevelLoad& at = load.levels[level];
    const double farther = network.farther(level, message.from, message.to);
    at.farthest = at.flows == 0 ? farther : std::max(at.farthest, farther);
    ++at.flows;
    at.longest = std::max(at.longest, message.share);
    const Traffic sent{message.share, 0, message.share};
    const Traffic received{0, message.share, message.share};
    const Traffic one_sent{1, 0, 1};
    const Traffic one_received{0, 1, 1};
    lanes[level].resize(network.ranks());
    lanes[level][message.from].traffic += sent;
    lanes[level][message.from].messages += one_sent;
    lanes[level][message.to].traffic += received;
    lanes[level][message.to].messages += one_received;
    for (int l = 1; l <= level; ++l) {
      ports[l].resize(network.owners(l));
      Port& from = ports[l][network.owner(l, message.from)];
      from.traffic += sent;
      from.messages += one_sent;
      ++from.flows;
      Port& to = ports[l][network.owner(l, message.to)];
      to.traffic += received;
      to.messages += one_received;
    }
    const int leaving = network.rail_level();
    if (message.rail != any_rail && rails > 1 && level >= leaving) {
      by_rail.resize(static_cast<std::size_t>(network.owners(leaving)) * rails);
      const int rail = message.rail % rails;
      by_rail[network.owner(leaving, message.from) * rails + rail] += sent;
      by_rail[network.owner(leaving, message.to) * rails + rail] += received;
    }
    OfRank& sender = ranks[message.from];
    const double gap = network.gap(level);
    sender.gaps += gap;
    sender.least_gap = sender.sent == 0 ? gap : std::min(sender.least_gap, gap);
    ++sender.sent;
    sender.traffic += sent;
    sender.all_messages += one_sent;
    OfRank& receiver = ranks[message.to];
    receiver.traffic += received;
    receiver.all_messages += one_received;
    if (message.is_reduced) {
      receiver.reduced += message.share;
      ++receiver.messages;
    }
  }
  for (const OfRank& of_rank : ranks) {
    load.rank.raise_to(of_rank.traffic);
    load.rank_messages.raise_to(of_rank.all_messages);
    load.starting = std::max(load.starting, of_rank.gaps);
    load.gaps = std::max(load.gaps, of_rank.gaps - of_rank.least_gap);
    if (of_rank.reduced > load.reduced) {
      load.reduced = of_rank.reduced;
      load.messages = of_rank.messages;
    }
  }
  for (int l = 0; l < network.levels(); ++l) {
    LevelLoad& level = load.levels[l];
    for (const Lane& lane : lanes[l]) {
      level.lane.raise_to(lane.traffic);
      level.lane_messages.raise_to(lane.messages);
      if (lane.traffic.out > 0 && lane.traffic.in > 0) level.both_ways = true;
    }
    for (const Port& port : ports[l]) {
      level.port.raise_to(port.traffic);
      level.port_messages.raise_to(port.messages);
      level.flows_per_port = std::max(level.flows_per_port, port.flows);
    }
    level.flows_per_port = std::max(level.flows_per_port, level.flows > 0 ? 1 : 0);
  }
  for (Traffic traffic : by_rail) {
    const int leaving = network.rail_level();
    LevelLoad& level = load.levels[leaving];
    (leaving == 0 ? level.lane : level.port).raise_to(traffic *= rails);
  }
  return load;
}

Load load_of(const Schedule& schedule, const Network& network) {
  std::vector<std::vector<Message>> by_stage(schedule.stages);
  std::vector<Message> all;
  // Whether a message is combined its receiver knows, so it counts in the receiver's stage.
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Step& step : schedule.steps[rank]) {
      if (step.kind == Step::Kind::send) continue;
      const double share = static_cast<double>(chunk_count(step.chunks)) / schedule.chunks;
      by_stage[step.stage].push_back({step.peer, rank, share, step.reduces(), step.rail});
    }
  }
  Load load;
  for (const auto& flows : by_stage) {
    load.stages.push_back(load_of(flows, network));
    all.insert(all.end(), flows.begin(), flows.end());
  }
  load.together = load_of(all, network);
  return load;
}

double predict_seconds(const StageLoad& load, const Network& network, double bytes) {
  double latency = 0;
  double alone = 0;
  for (int l = 0; l < network.levels(); ++l) {
    const LevelLoad& level = load.levels[l];
    if (level.flows == 0) continue;
    // what grows with their number counts as bytes, where it is known
    const int sharing = network.overhead(l) > 0 ? 1 : level.flows_per_port;
    const double empty = network.latency(l, level.both_ways, sharing, level.flows);
    latency = std::max(latency, level.farthest + empty - network.overhead(l) / network.lane(l));
    alone = std::max(alone, level.farthest + network.seconds(l, level.longest * bytes, level.both_ways,
                                                             level.flows_per_port, level.flows));
  }
  return std::max(alone + load.gaps, latency + seconds_of_bytes(load, network, bytes)) +
         seconds_of_combining(load, network, bytes);
}

namespace {

/// What a segment takes of the busiest part of the machine.
double busy_seconds(const Load& load, const Network& network, double bytes) {
  return std::max(
      seconds_of_bytes(load.together, network, bytes) + seconds_of_combining(load.together, network, bytes),
      load.together.starting);
}

double longest_latency(const Load& load, const Network& network) {
  double longest = 0;
  for (const StageLoad& stage : load.stages) longest = std::max(longest, predict_seconds(stage, network, 0));
  return longest;
}

}  // namespace

double predict_seconds(const Load& load, const Network& network, double bytes, int segments, int under_way) {
  const double of_segment = bytes / segments;
  double seconds = 0;
  for (const StageLoad& stage : load.stages) seconds += predict_seconds(stage, network, of_segment);
  if (segments == 1) return seconds;
  const double busy = busy_seconds(load, network, of_segment);
  return seconds + (segments - 1) * std::max(busy, (longest_latency(load, network) + busy) / under_way);
}

int segments_under_way(const Load& load, const Network& network, double segment_bytes, int most) {
  const double busy = busy_seconds(load, network, segment_bytes);
  const double needed = busy > 0 ? 1 + longest_latency(load, network) / busy : most;
  return static_cast<int>(std::clamp(std::ceil(needed), 1.0, static_cast<double>(most)));
}

}  // namespace ayatori::collectives
