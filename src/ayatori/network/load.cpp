#include "ayatori/network/load.hpp"

#include <algorithm>

namespace ayatori::network {

namespace {

/// Seconds of a whole buffer of this many bytes, and of messages with their overheads.
double seconds_through(const PortLoad& load, double bytes, double overhead, double bytes_per_second,
                       double duplex) {
  const auto all = [&](double Ways::*way) { return bytes * load.share.*way + overhead * load.messages.*way; };
  return std::max({all(&Ways::out), all(&Ways::in), all(&Ways::both) / duplex}) / bytes_per_second;
}

/// What is busiest, without latencies.
double seconds_of_bytes(const Load& load, const Hierarchy& hierarchy, double bytes) {
  if (hierarchy.levels() == 0) return 0;
  const int fastest = hierarchy.fastest();
  double most = seconds_through(load.rank, bytes, hierarchy.overhead(fastest), hierarchy.lane(fastest),
                                hierarchy.lane_duplex(fastest));
  for (int l = 0; l < hierarchy.levels(); ++l) {
    const LevelLoad& level = load.levels[l];
    const double overhead = hierarchy.overhead(l);
    most = std::max(
        {most, seconds_through(level.lane, bytes, overhead, hierarchy.lane(l), hierarchy.lane_duplex(l)),
         seconds_through(level.port, bytes, overhead, hierarchy.port(l), hierarchy.port_duplex(l))});
  }
  return most;
}

double seconds_of_combining(const Load& load, const Hierarchy& hierarchy, double bytes) {
  return load.messages > 0 ? load.messages * hierarchy.reducing(load.reduced * bytes / load.messages) : 0;
}

}  // namespace

Ways& Ways::operator+=(const Ways& other) {
  out += other.out;
  in += other.in;
  both += other.both;
  return *this;
}

Ways& Ways::operator*=(double factor) {
  out *= factor;
  in *= factor;
  both *= factor;
  return *this;
}

PortLoad& PortLoad::operator+=(const PortLoad& other) {
  share += other.share;
  messages += other.messages;
  return *this;
}

void PortLoad::raise_to(const PortLoad& other) {
  const auto raise = [](Ways& ways, const Ways& to) {
    ways = {std::max(ways.out, to.out), std::max(ways.in, to.in), std::max(ways.both, to.both)};
  };
  raise(share, other.share);
  raise(messages, other.messages);
}

Load& Load::operator*=(double share) {
  for (LevelLoad& level : levels) {
    level.longest *= share;
    level.lane.share *= share;
    level.port.share *= share;
  }
  rank.share *= share;
  reduced *= share;
  return *this;
}

Load& Load::operator+=(const Load& other) {
  levels.resize(std::max(levels.size(), other.levels.size()));
  for (std::size_t l = 0; l < other.levels.size(); ++l) {
    levels[l].lane += other.levels[l].lane;
    levels[l].port += other.levels[l].port;
  }
  rank += other.rank;
  starting += other.starting;
  reduced += other.reduced;
  messages += other.messages;
  return *this;
}

Load load_of(std::span<const Message> messages, const Hierarchy& hierarchy) {
  struct OfRank {
    double gaps = 0;
    double least_gap = 0;
    double reduced = 0;
    int messages = 0;
    PortLoad passing;
  };
  Load load;
  load.levels.resize(hierarchy.levels());
  std::vector<OfRank> ranks(hierarchy.ranks());
  std::vector<std::vector<PortLoad>> lanes(hierarchy.levels());
  std::vector<std::vector<PortLoad>> ports(hierarchy.levels());
  const int rails = hierarchy.rails();
  std::vector<Ways> by_rail;
  for (const Message& message : messages) {
    const int level = hierarchy.level_of(message.from, message.to);
    LevelLoad& at = load.levels[level];
    const double farther = hierarchy.farther(level, message.from, message.to);
    at.farthest = at.flows == 0 ? farther : std::max(at.farthest, farther);
    ++at.flows;
    at.longest = std::max(at.longest, message.share);
    const PortLoad sent{{message.share, 0, message.share}, {1, 0, 1}};
    const PortLoad received{{0, message.share, message.share}, {0, 1, 1}};
    lanes[level].resize(hierarchy.ranks());
    lanes[level][message.from] += sent;
    lanes[level][message.to] += received;
    for (int l = 1; l <= level; ++l) {
      ports[l].resize(hierarchy.owners(l));
      ports[l][hierarchy.owner(l, message.from)] += sent;
      ports[l][hierarchy.owner(l, message.to)] += received;
    }
    const int leaving = hierarchy.rail_level();
    if (message.rail != any_rail && rails > 1 && level >= leaving) {
      by_rail.resize(static_cast<std::size_t>(hierarchy.owners(leaving)) * rails);
      const int rail = message.rail % rails;
      by_rail[hierarchy.owner(leaving, message.from) * rails + rail] += sent.share;
      by_rail[hierarchy.owner(leaving, message.to) * rails + rail] += received.share;
    }
    OfRank& sender = ranks[message.from];
    const double gap = hierarchy.gap(level);
    sender.gaps += gap;
    sender.least_gap = sender.passing.messages.out == 0 ? gap : std::min(sender.least_gap, gap);
    sender.passing += sent;
    OfRank& receiver = ranks[message.to];
    receiver.passing += received;
    if (message.is_reduced) {
      receiver.reduced += message.share;
      ++receiver.messages;
    }
  }
  for (const OfRank& of_rank : ranks) {
    load.rank.raise_to(of_rank.passing);
    load.starting = std::max(load.starting, of_rank.gaps);
    load.gaps = std::max(load.gaps, of_rank.gaps - of_rank.least_gap);
    if (of_rank.reduced > load.reduced) {
      load.reduced = of_rank.reduced;
      load.messages = of_rank.messages;
    }
  }
  for (int l = 0; l < hierarchy.levels(); ++l) {
    LevelLoad& level = load.levels[l];
    for (const PortLoad& lane : lanes[l]) {
      level.lane.raise_to(lane);
      if (lane.share.out > 0 && lane.share.in > 0) level.both_ways = true;
    }
    for (const PortLoad& port : ports[l]) level.port.raise_to(port);
    level.flows_per_port = std::max(static_cast<int>(level.port.messages.out), level.flows > 0 ? 1 : 0);
  }
  for (Ways ways : by_rail) {
    const int leaving = hierarchy.rail_level();
    LevelLoad& level = load.levels[leaving];
    (leaving == 0 ? level.lane : level.port).raise_to({ways *= rails, {}});
  }
  return load;
}

double predict_seconds(const Load& load, const Hierarchy& hierarchy, double bytes) {
  double latency = 0;
  double alone = 0;
  for (int l = 0; l < hierarchy.levels(); ++l) {
    const LevelLoad& level = load.levels[l];
    if (level.flows == 0) continue;
    // what grows with their number counts as bytes, where it is known
    const int sharing = hierarchy.overhead(l) > 0 ? 1 : level.flows_per_port;
    const double empty = hierarchy.model(l, level.both_ways, sharing, level.flows).latency();
    latency = std::max(latency, level.farthest + empty - hierarchy.overhead(l) / hierarchy.lane(l));
    const auto& model = hierarchy.model(l, level.both_ways, level.flows_per_port, level.flows);
    alone = std::max(alone, level.farthest + model.seconds(level.longest * bytes));
  }
  return std::max(alone + load.gaps, latency + seconds_of_bytes(load, hierarchy, bytes)) +
         seconds_of_combining(load, hierarchy, bytes);
}

double busy_seconds(const Load& load, const Hierarchy& hierarchy, double bytes) {
  return std::max(seconds_of_bytes(load, hierarchy, bytes) + seconds_of_combining(load, hierarchy, bytes),
                  load.starting);
}

}  // namespace ayatori::network
