#include <algorithm>
#include <array>

#include "ayatori/base/array.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/pair_rounds.hpp"
#include "ayatori/machine/probes.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 1;
constexpr std::int64_t short_message = 8;
/// A sample shall take as long as this, in seconds, by repeating the transfer.
constexpr double sample_seconds = 2e-4;
/// A message that takes more than this share of the probe's time is the longest of its curve.
constexpr double longest_share = 0.01;
/// Shorter ones end no curve: what makes them late is the scheduler.
constexpr std::int64_t least_longest = 64 << 10;
/// Short messages between a pair: the shortest of so many samples of so many transfers counts.
constexpr int pair_samples = 10;
constexpr int pair_transfers = 20;

using Pairs = std::vector<std::pair<int, int>>;

/// This rank's part in transfers between disjoint pairs.
struct Role {
  int partner = -1;
  bool is_first = false;
};

Role role_of(int rank, const Pairs& pairs) {
  for (const auto& [first, second] : pairs) {
    if (rank == first) return {second, true};
    if (rank == second) return {first, false};
  }
  return {};
}

class Transfers {
 public:
  Transfers(const comm::Comm& comm, std::int64_t most_bytes) : comm_(comm) {
    comm::agree(comm, [&] {
      out_.assign(most_bytes, std::byte{1});
      in_.assign(most_bytes, std::byte{0});
    });
  }

  /// Mean seconds of a message there, by messages that go there and back. The first of a pair measures.
  double one_way(const Role& role, std::int64_t bytes, int repetitions) {
    if (role.partner < 0) return 0;
    meet(role);
    const Stopwatch watch;
    for (int k = 0; k < repetitions; ++k) there_and_back(role, bytes);
    return role.is_first ? watch.seconds() / (2 * repetitions) : 0;
  }

  /// Mean seconds of two messages that cross. The first of a pair measures.
  double both_ways(const Role& role, std::int64_t bytes, int repetitions) {
    if (role.partner < 0) return 0;
    meet(role);
    const Stopwatch watch;
    for (int k = 0; k < repetitions; ++k) {
      std::array<comm::Request, 2> requests{comm_.irecv(in(bytes), role.partner, tag),
                                            comm_.isend(out(bytes), role.partner, tag)};
      comm::wait_all(requests);
    }
    return role.is_first ? watch.seconds() / repetitions : 0;
  }

 private:
  /// The second is ready when the first goes on: ranks leave a barrier at different times.
  void meet(const Role& role) { there_and_back(role, 1); }

  void there_and_back(const Role& role, std::int64_t bytes) {
    if (role.is_first) {
      comm_.send(out(bytes), role.partner, tag);
      comm_.recv(in(bytes), role.partner, tag);
    } else {
      comm_.recv(in(bytes), role.partner, tag);
      comm_.send(out(bytes), role.partner, tag);
    }
  }

  std::span<const std::byte> out(std::int64_t bytes) const { return std::span(out_).first(bytes); }
  std::span<std::byte> in(std::int64_t bytes) { return std::span(in_).first(bytes); }

  const comm::Comm& comm_;
  Array<std::byte> out_;
  Array<std::byte> in_;
};

/// Collective. The shortest time of a short message for every pair that the rounds bring together.
std::vector<PairTime> probe_pairs(const ProbeContext& context, Transfers& transfers,
                                  const std::vector<int>& node_of_rank) {
  const auto& comm = context.comm;
  const int nodes = *std::ranges::max_element(node_of_rank) + 1;
  const std::array distances{nodes, 2 * nodes, comm.size() / nodes};  // the usual ways to number ranks
  const PairRounds rounds(comm.size(), distances);
  const double start = context.clock();
  std::vector<PairTime> mine;
  for (int round = 0; round < rounds.count(); ++round) {
    if (context.clock() - start > context.seconds || (context.stopped && context.stopped())) break;
    const int partner = rounds.partner(round, comm.rank());
    const Role role{partner, comm.rank() < partner};
    double shortest = 0;
    for (int sample = 0; sample <= pair_samples; ++sample) {
      const double seconds = transfers.one_way(role, short_message, pair_transfers);
      if (sample == 1 || (sample > 1 && seconds < shortest)) shortest = seconds;
    }
    if (role.is_first) mine.push_back({comm.rank(), partner, shortest});
    comm.barrier();
  }
  return comm.allgatherv(std::span<const PairTime>(mine)).values;
}

/// The ranks of a group, in order.
std::vector<int> members(const std::vector<int>& group_of, int group) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < group_of.size(); ++rank) {
    if (group_of[rank] == group) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// Disjoint pairs that meet at this level and not below: of neighbouring groups of the level below, rank by
/// rank. All pairs between the first two such groups come first.
Pairs pairs_at(const std::vector<InferredLevel>& levels, std::size_t level) {
  const auto& here = levels[level].group_of;
  std::vector<int> below(here.size());
  for (std::size_t rank = 0; rank < here.size(); ++rank)
    below[rank] = level == 0 ? static_cast<int>(rank) : levels[level - 1].group_of[rank];
  Pairs pairs;
  for (int group = 0; group < levels[level].groups; ++group) {
    std::vector<int> children;
    for (const int rank : members(here, group)) {
      if (std::ranges::find(children, below[rank]) == children.end()) children.push_back(below[rank]);
    }
    for (std::size_t child = 0; child + 1 < children.size(); child += 2) {
      const auto left = members(below, children[child]);
      const auto right = members(below, children[child + 1]);
      for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
        pairs.emplace_back(left[i], right[i]);
    }
  }
  return pairs;
}

/// How many pairs between the first two groups, which share whatever lies between them.
int sharing_pairs(const std::vector<InferredLevel>& levels, std::size_t level, const Pairs& pairs) {
  if (level == 0 || pairs.empty()) return 1;
  const auto& below = levels[level - 1].group_of;
  const auto is_of_first = [&](const auto& pair) {
    return below[pair.first] == below[pairs[0].first] && below[pair.second] == below[pairs[0].second];
  };
  return static_cast<int>(std::ranges::count_if(pairs, is_of_first));
}

std::vector<std::int64_t> message_sizes(bool quick) {
  std::vector<std::int64_t> sizes;
  const std::int64_t most = quick ? 1 << 20 : 64 << 20;
  for (std::int64_t bytes = short_message; bytes <= most; bytes *= quick ? 8 : 2) {
    sizes.push_back(bytes);
    if (!quick && bytes >= 1024 && bytes < (1 << 20))
      sizes.push_back(bytes + bytes / 2);  // protocol switches
  }
  return sizes;
}

struct Case {
  TransferCurve* curve;
  Role role;
  std::int64_t bytes;
  int repetitions = 0;  ///< in a sample; 0 before the warm-up
};

std::string name_of(const InferredLevel& level, const std::vector<int>& node_of_rank) {
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      if (level.group_of[rank] == level.group_of[other] && node_of_rank[rank] != node_of_rank[other])
        return "between nodes";
    }
  }
  return "inside a node";
}

}  // namespace

std::vector<Level> probe_transfers(const ProbeContext& context, const std::vector<int>& node_of_rank) {
  const auto& comm = context.comm;
  if (comm.size() < 2) return {};
  const auto sizes = message_sizes(context.quick);
  Transfers transfers(comm, sizes.back());
  const ProbeContext pair_context{comm, context.seconds / 4, context.quick, context.stopped};
  const auto structures = infer_levels(comm.size(), probe_pairs(pair_context, transfers, node_of_rank));

  std::vector<Level> levels;
  for (std::size_t l = 0; l < structures.size(); ++l) {
    const Pairs pairs = pairs_at(structures, l);
    Level level{name_of(structures[l], node_of_rank), structures[l], {}};
    std::vector<int> counts{1, sharing_pairs(structures, l, pairs), static_cast<int>(pairs.size())};
    counts.erase(std::ranges::unique(counts).begin(), counts.end());
    for (const int count : counts) {
      for (const char* pattern : {"one-way", "both-ways"}) {
        if (!pairs.empty()) level.curves.push_back({pattern, count, {}, {}});
      }
    }
    levels.push_back(std::move(level));
  }

  std::vector<Case> cases;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const Pairs pairs = pairs_at(structures, l);
    for (TransferCurve& curve : levels[l].curves) {
      const Pairs chosen(pairs.begin(), pairs.begin() + curve.pairs);
      for (const std::int64_t bytes : sizes) cases.push_back({&curve, role_of(comm.rank(), chosen), bytes});
    }
  }
  std::vector<const TransferCurve*> ended;
  const auto measure = [&](int i) {
    Case& c = cases[i];
    if (c.repetitions == 0 && std::ranges::find(ended, c.curve) != ended.end()) return 0.0;
    const int repetitions = std::max(c.repetitions, 1);
    comm.barrier();
    const double mine = c.curve->pattern == "one-way" ? transfers.one_way(c.role, c.bytes, repetitions)
                                                      : transfers.both_ways(c.role, c.bytes, repetitions);
    const double seconds = comm.allreduce(mine, comm::ReduceOp::max);
    if (c.repetitions == 0) {
      c.repetitions = repetitions_for(sample_seconds, seconds, 200);
      if (c.bytes >= least_longest && seconds > longest_share * context.seconds) ended.push_back(c.curve);
    }
    return seconds;
  };
  const auto seconds = measure_in_turns(static_cast<int>(cases.size()), context.limits(0.75), measure,
                                        [&] { return context.clock(); });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (seconds[i].low > 0) cases[i].curve->points.push_back({cases[i].bytes, seconds[i]});
  }
  for (Level& level : levels) {
    for (TransferCurve& curve : level.curves) {
      std::vector<TransferTime> times;
      for (const auto& point : curve.points)
        times.push_back({static_cast<double>(point.bytes), point.seconds.median});
      curve.model = fit_transfers(times);
    }
  }
  return levels;
}

}  // namespace ayatori::machine
