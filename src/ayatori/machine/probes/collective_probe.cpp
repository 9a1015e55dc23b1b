#include <algorithm>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/collective_operations.hpp"
#include "ayatori/machine/probes/call_time.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

/// Bytes that a rank receives from all together: each has two buffers of this many.
constexpr std::int64_t most_received = 64 << 20;
constexpr std::int64_t quick_most_received = 4 << 20;
/// Calls in a sample, each of which begins at an appointed time.
constexpr int most_calls = 20;

/// Ranks that measure together: this many of each node.
struct Team {
  int ranks_per_node;
  int size;
  comm::Comm comm;  ///< communicator of the members; that of the others on the ranks that are none
  bool is_member;
};

/// 1, 2, 4, ... and all ranks of each node.
std::vector<Team> make_teams(const ProbeContext& context, const std::vector<int>& node_of_rank) {
  const auto& comm = context.comm;
  std::vector<int> place_in_node;
  int most = 0;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    place_in_node.push_back(
        static_cast<int>(std::count(node_of_rank.begin(), node_of_rank.begin() + rank, node_of_rank[rank])));
    most = std::max(most, place_in_node.back() + 1);
  }
  std::vector<Team> teams;
  for (const int count : thread_counts(most)) {
    if (context.quick && count < most) continue;
    const auto size =
        static_cast<int>(std::ranges::count_if(place_in_node, [&](int place) { return place < count; }));
    if (size < 2) continue;
    const bool is_member = place_in_node[comm.rank()] < count;
    teams.push_back({count, size, comm.split(is_member ? 0 : 1, comm.rank()), is_member});
  }
  return teams;
}

/// A call that takes more than this share of the probe's time is the longest of its operation and team.
constexpr double longest_share = 0.01;

struct Case {
  const CollectiveOperation* operation;
  Team* team;
  std::int64_t bytes;
  std::size_t series;  ///< number of its operation and team
  double seconds = 0;  ///< seconds of a call, roughly; 0 before the warm-up
};

}  // namespace

std::vector<CollectiveFigure> probe_collectives(const ProbeContext& context,
                                                const std::vector<int>& node_of_rank) {
  const auto& comm = context.comm;
  if (comm.size() < 2) return {};
  auto teams = make_teams(context, node_of_rank);
  const std::int64_t longest = context.quick ? 1 << 20 : 4 << 20;
  std::vector<Case> cases;
  std::int64_t most = 0;
  std::size_t series = 0;
  for (Team& team : teams) {
    for (const auto& operation : collective_operations()) {
      for (std::int64_t bytes = 8; bytes <= longest; bytes *= context.quick ? 32 : 8) {
        const std::int64_t in_all = bytes * (operation.per_rank ? team.size : 1);
        if (in_all > (context.quick ? quick_most_received : most_received)) break;
        most = std::max(most, in_all / 8);
        cases.push_back({&operation, &team, operation.has_length ? bytes : 0, series});
        if (!operation.has_length) break;
      }
      ++series;
    }
  }
  Array<double> mine;
  Array<double> all;
  comm::agree(comm, [&] {
    mine.assign(most, 1.0);
    all.assign(most, 0.0);
  });
  std::vector<bool> has_ended(series, false);
  const auto measure = [&](int i, int repetitions) {
    Case& c = cases[i];
    if (c.seconds == 0 && has_ended[c.series]) return 0.0;
    comm.barrier();
    double seconds = 0;
    if (c.team->is_member) {
      const auto& team = c.team->comm;
      const auto call = [&] { c.operation->run(team, mine.data(), all.data(), c.bytes / 8); };
      seconds = c.seconds == 0 ? time_roughly(team, call)
                               : time_calls(team, node_of_rank[comm.rank()], repetitions, c.seconds, call);
    }
    seconds = comm.allreduce(seconds, comm::ReduceOp::max);
    if (c.seconds == 0) {
      c.seconds = seconds;
      if (seconds > longest_share * context.seconds) has_ended[c.series] = true;
    }
    return seconds;
  };
  auto limits = context.limits();
  limits.most_repetitions = most_calls;
  const auto seconds =
      measure_in_turns(static_cast<int>(cases.size()), limits, measure, [&] { return context.clock(); });
  std::vector<CollectiveFigure> figures;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    if (!(seconds[i].low > 0)) continue;
    figures.push_back(
        {std::string(c.operation->name), c.team->ranks_per_node, c.team->size, c.bytes, seconds[i]});
  }
  return figures;
}

}  // namespace ayatori::machine
