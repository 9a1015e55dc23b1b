#include <algorithm>
#include <array>
#include <memory>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/level_pairs.hpp"
#include "ayatori/machine/probes/pair_rounds.hpp"
#include "ayatori/machine/probes/probes.hpp"
#include "ayatori/machine/probes/transfer_patterns.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 1;
/// A message that takes more than this share of the probe's time is the longest of its curve.
constexpr double longest_share = 0.01;
/// Shorter ones end no curve: what makes them late is the scheduler.
constexpr std::int64_t least_longest = 64 << 10;
/// Messages between a pair: the shortest of this many samples of this many transfers counts.
struct PairSampling {
  std::int64_t bytes;
  int samples;
  int transfers;
};
constexpr PairSampling short_messages{short_message, 5, 10};
constexpr PairSampling long_messages{64 << 10, 2, 1};
constexpr PairSampling quick_long_messages{16 << 10, 2, 1};

/// Mean seconds of a message. The first of a pair measures.
double seconds_of(Transfer& transfer, const TransferLink& link, std::int64_t bytes, int repetitions) {
  const auto& role = link.role;
  if (!role.takes_part()) return 0;
  transfer.prepare(bytes);
  if (role.is_first) {  // when both are ready: ranks leave a barrier at different times
    link.comm.send(link.out.first(1), role.partner, tag);
    link.comm.recv(link.in.first(1), role.partner, tag);
  } else {
    link.comm.recv(link.in.first(1), role.partner, tag);
    link.comm.send(link.out.first(1), role.partner, tag);
  }
  const Stopwatch watch;
  transfer.run(bytes, repetitions);
  return role.is_first ? watch.seconds() / (static_cast<double>(transfer.messages(bytes)) * repetitions) : 0;
}

/// Collective. The shortest time of a message for every pair that the rounds bring together, in this many
/// seconds.
std::vector<PairTime> probe_pairs(const ProbeContext& context, const TransferLink& nobody,
                                  const std::vector<int>& node_of_rank, const PairSampling& sampling,
                                  double seconds) {
  const auto& comm = context.comm;
  const int nodes = *std::ranges::max_element(node_of_rank) + 1;
  // The usual ways to number ranks: by turns, or a node's ranks in a row, when all of a few nodes shall meet.
  std::vector distances{nodes, 2 * nodes};
  const int multiples = nodes <= PairRounds::complete_up_to ? nodes : 2;
  for (int k = 1; k < multiples; ++k) distances.push_back(k * (comm.size() / nodes));
  const PairRounds rounds(comm.size(), distances, comm.size() % nodes == 0);
  const auto& pattern = transfer_patterns().front();
  const double start = context.clock();
  std::vector<PairTime> mine;
  for (int round = 0; round < rounds.count(); ++round) {
    if (context.clock() - start > seconds || (context.stopped && context.stopped())) break;
    const int partner = rounds.partner(round, comm.rank());
    TransferLink link = nobody;
    link.role = {partner, comm.rank() < partner};
    const auto transfer = pattern.make(link);
    double shortest = 0;
    for (int sample = 0; sample <= sampling.samples; ++sample) {
      const double taken = seconds_of(*transfer, link, sampling.bytes, sampling.transfers);
      if (sample == 1 || (sample > 1 && taken < shortest)) shortest = taken;
    }
    if (link.role.takes_part() && link.role.is_first) mine.push_back({comm.rank(), partner, shortest});
    comm.barrier();
  }
  return comm.allgatherv(std::span<const PairTime>(mine)).values;
}

std::vector<std::int64_t> message_sizes(bool quick, std::int64_t longest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = short_message; bytes <= longest; bytes *= quick ? 8 : 2) {
    sizes.push_back(bytes);
    if (!quick && bytes >= 1024 && bytes < (1 << 20))
      sizes.push_back(bytes + bytes / 2);  // protocol switches
  }
  return sizes;
}

std::string name_of(const InferredLevel& level, const std::vector<int>& node_of_rank) {
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    for (std::size_t other = 0; other < rank; ++other) {
      if (level.group_of[rank] == level.group_of[other] && node_of_rank[rank] != node_of_rank[other])
        return "between nodes";
    }
  }
  return "inside a node";
}

/// How many pairs to measure at once: one, as many as share a link, by powers of two, and all of the level.
std::vector<int> pair_counts(const LevelPairs& pairs) {
  std::vector<int> counts;
  for (int count = 1; count < pairs.sharing; count *= 2) counts.push_back(count);
  counts.push_back(pairs.sharing);
  counts.push_back(static_cast<int>(pairs.pairs.size()));
  counts.erase(std::ranges::unique(counts).begin(), counts.end());
  return counts;
}

/// A curve under way: who transfers what.
struct Course {
  std::size_t level;
  TransferLink link;
  std::unique_ptr<Transfer> transfer;
  TransferCurve curve = {};
  std::int64_t longest = 0;
  bool ended = false;
};

struct Case {
  Course* course;
  std::int64_t bytes;
  bool is_warm = false;
};

/// Collective. nullptr where the MPI refuses, as some do one-sided transfers over some networks.
std::unique_ptr<Transfer> try_to_make(const TransferPattern& pattern, const TransferLink& link,
                                      std::vector<std::string>& left_out) {
  try {
    return pattern.make(link);
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    const std::string reason = fmt::format("transfers by {}: {}", pattern.name, error.what());
    if (std::ranges::find(left_out, reason) == left_out.end()) left_out.push_back(reason);
    return nullptr;
  }
}

/// Collective.
std::vector<Course> plan(const ProbeContext& context, const TransferLink& nobody,
                         const std::vector<InferredLevel>& structures, std::vector<std::string>& left_out) {
  std::vector<Course> courses;
  for (std::size_t l = 0; l < structures.size(); ++l) {
    const auto pairs = pairs_at(structures, l);
    if (pairs.pairs.empty()) continue;
    for (const int count : pair_counts(pairs)) {
      for (const auto& pattern : transfer_patterns()) {
        const bool is_wanted =
            (count == 1 || pattern.for_several_pairs) && (pattern.in_quick_probes || !context.quick);
        if (!is_wanted) continue;
        TransferLink link = nobody;
        link.role = role_of(context.comm.rank(), std::span(pairs.pairs).first(count));
        auto transfer = try_to_make(pattern, link, left_out);
        if (!transfer) continue;
        Course& course = courses.emplace_back(l, link, std::move(transfer));
        course.curve.pattern = pattern.name;
        course.curve.pairs = count;
        course.longest = std::min(pattern.longest, static_cast<std::int64_t>(nobody.in.size()));
      }
    }
  }
  return courses;
}

}  // namespace

void probe_transfers(const ProbeContext& context, Profile& profile) {
  const auto& comm = context.comm;
  if (comm.size() < 2) return;
  const std::int64_t longest = context.quick ? 1 << 20 : 64 << 20;
  // On pages as they come, as an application's buffers are: on huge ones a kernel's copy takes half the time.
  std::vector<std::byte> out;
  std::vector<std::byte> in;
  comm::agree(comm, [&] {
    out.assign(longest, std::byte{1});
    in.assign(longest, std::byte{0});
  });
  const auto channel = comm::make_node_channel(comm, comm.split_by_node());
  const TransferLink nobody{comm, {}, out, in, channel.get()};
  profile.pairs = probe_pairs(context, nobody, profile.node_of_rank, short_messages, context.seconds / 4);
  auto of_long = probe_pairs(context, nobody, profile.node_of_rank,
                             context.quick ? quick_long_messages : long_messages, context.seconds / 4);
  // Groups inferred from some of the rounds would be those of who met by then.
  if (of_long.size() < profile.pairs.size()) of_long.clear();
  const auto structures = infer_levels(comm.size(), profile.pairs, of_long);

  auto courses = plan(context, nobody, structures, profile.left_out);
  std::vector<Case> cases;
  for (Course& course : courses) {
    for (const auto bytes : message_sizes(context.quick, course.longest)) cases.push_back({&course, bytes});
  }
  const auto measure = [&](int i, int repetitions) {
    Case& c = cases[i];
    if (!c.is_warm && c.course->ended) return 0.0;
    comm.barrier();
    const double mine = seconds_of(*c.course->transfer, c.course->link, c.bytes, repetitions);
    const double seconds = comm.allreduce(mine, comm::ReduceOp::max);
    if (!c.is_warm && c.bytes >= least_longest && seconds > longest_share * context.seconds)
      c.course->ended = true;
    c.is_warm = true;
    return seconds;
  };
  auto limits = context.limits(0.75);
  limits.most_repetitions = 200;
  const auto seconds =
      measure_in_turns(static_cast<int>(cases.size()), limits, measure, [&] { return context.clock(); });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (seconds[i].low > 0) cases[i].course->curve.points.push_back({cases[i].bytes, seconds[i]});
  }

  auto& levels = profile.levels;
  for (std::size_t l = 0; l < structures.size(); ++l) {
    levels.push_back({name_of(structures[l], profile.node_of_rank),
                      structures[l],
                      pairs_at(structures, l).sharing,
                      {},
                      {}});
  }
  for (Course& course : courses) {
    std::vector<TransferTime> times;
    for (const auto& point : course.curve.points)
      times.push_back({static_cast<double>(point.bytes), point.seconds.median});
    course.curve.model = fit_transfers(times);
    levels[course.level].curves.push_back(std::move(course.curve));
  }
}

}  // namespace ayatori::machine
