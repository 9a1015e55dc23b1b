#include "ayatori/collectives/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>

namespace ayatori::collectives {

namespace {

/// Ranks whose contributions a chunk holds.
class RankSet {
 public:
  explicit RankSet(int ranks = 0) : words_((ranks + 63) / 64, 0) {}

  void add(int rank) { words_[rank / 64] |= std::uint64_t{1} << rank % 64; }
  void add(const RankSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool meets(const RankSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }
  bool is_empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t word) { return word == 0; });
  }
  int count() const {
    int total = 0;
    for (const auto word : words_) total += std::popcount(word);
    return total;
  }
  bool contains(int rank) const { return (words_[rank / 64] >> rank % 64 & 1) != 0; }
  bool operator==(const RankSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

using Memory = std::vector<std::vector<RankSet>>;  // by rank and chunk

RankSet only(int rank, int ranks) {
  RankSet set(ranks);
  set.add(rank);
  return set;
}

RankSet everybody(int ranks) {
  RankSet set(ranks);
  for (int rank = 0; rank < ranks; ++rank) set.add(rank);
  return set;
}

/// What a rank has to begin with.
RankSet initial(const Schedule& s, int rank, int chunk) {
  switch (s.operation) {
    case Operation::broadcast:
    case Operation::scatter:
      return rank == s.root ? only(s.root, s.ranks) : RankSet(s.ranks);
    case Operation::gather:
    case Operation::allgather:
      return rank == chunk ? only(rank, s.ranks) : RankSet(s.ranks);
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
      break;
  }
  return only(rank, s.ranks);
}

/// What it must have in the end; nothing is promised for an empty set.
RankSet promised(const Schedule& s, int rank, int chunk) {
  const RankSet nothing(s.ranks);
  switch (s.operation) {
    case Operation::broadcast:
      return only(s.root, s.ranks);
    case Operation::scatter:
      return rank == chunk ? only(s.root, s.ranks) : nothing;
    case Operation::gather:
      return rank == s.root ? only(chunk, s.ranks) : nothing;
    case Operation::allgather:
      return only(chunk, s.ranks);
    case Operation::reduce:
      return rank == s.root ? everybody(s.ranks) : nothing;
    case Operation::allreduce:
      return everybody(s.ranks);
    case Operation::reduce_scatter:
      break;
  }
  return rank == chunk ? everybody(s.ranks) : nothing;
}

std::string where(int rank, const Step& step) {
  return fmt::format("rank {}, stage {}, {} {}", rank, step.stage,
                     step.kind == Step::Kind::send ? "to" : "from", step.peer);
}

std::optional<std::string> find_malformed(const Schedule& s) {
  if (s.ranks < 1 || std::ssize(s.steps) != s.ranks || s.chunks < 1)
    return "ranks, steps and chunks disagree";
  if (type_of(s.operation).is_by_rank && s.chunks != s.ranks) return "there is not one chunk for every rank";
  for (int rank = 0; rank < s.ranks; ++rank) {
    int stage = 0;
    for (const Step& step : s.steps[rank]) {
      if (step.stage < stage || step.stage >= s.stages)
        return where(rank, step) + ": the stages are out of order";
      if (step.peer < 0 || step.peer >= s.ranks || step.peer == rank)
        return where(rank, step) + ": no such peer";
      stage = step.stage;
      int end = 0;
      for (const ChunkRange& range : step.chunks) {
        if (range.begin < end || range.end <= range.begin || range.end > s.chunks)
          return where(rank, step) + ": its chunks are not ascending ranges of the buffer";
        end = range.end;
      }
      if (step.chunks.empty()) return where(rank, step) + ": it moves nothing";
    }
  }
  return std::nullopt;
}

bool overlap(const Chunks& a, const Chunks& b) {
  return std::ranges::any_of(a, [&](const ChunkRange& x) {
    return std::ranges::any_of(b, [&](const ChunkRange& y) { return x.begin < y.end && y.begin < x.end; });
  });
}

/// Two steps of one stage of a rank.
std::optional<std::string> find_race(const Schedule& s) {
  for (int rank = 0; rank < s.ranks; ++rank) {
    const auto& steps = s.steps[rank];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t j = i + 1; j < steps.size() && steps[j].stage == steps[i].stage; ++j) {
        using enum Step::Kind;
        const bool harmless = (steps[i].kind != receive && steps[j].kind != receive);
        if (!harmless && overlap(steps[i].chunks, steps[j].chunks))
          return where(rank, steps[j]) + ": writes what the same stage reads or writes";
      }
    }
  }
  return std::nullopt;
}

/// For every rank and step the place of its other end among the peer's steps.
using Matching = std::vector<std::vector<int>>;

/// Messages between two ranks arrive in the order in which they were sent (MPI's rule).
std::optional<std::string> match(const Schedule& s, Matching& matching) {
  std::map<std::pair<int, int>, std::vector<int>> sent;  // (from, to) -> steps of the sender
  std::map<std::pair<int, int>, std::vector<int>> expected;
  matching.resize(s.ranks);
  for (int rank = 0; rank < s.ranks; ++rank) {
    const auto& steps = s.steps[rank];
    matching[rank].assign(steps.size(), -1);
    for (int i = 0; i < std::ssize(steps); ++i) {
      if (steps[i].kind == Step::Kind::send)
        sent[{rank, steps[i].peer}].push_back(i);
      else
        expected[{steps[i].peer, rank}].push_back(i);
    }
  }
  for (const auto& [ends, receivers] : expected) {
    if (!sent.contains(ends))
      return where(ends.second, s.steps[ends.second][receivers.front()]) + ": nothing is ever sent";
  }
  for (const auto& [ends, senders] : sent) {
    const auto& [from, to] = ends;
    const auto& receivers = expected[ends];
    for (std::size_t k = 0; k < senders.size(); ++k) {
      const Step& send = s.steps[from][senders[k]];
      if (k >= receivers.size()) return where(from, send) + ": nobody receives it";
      const Step& receive = s.steps[to][receivers[k]];
      if (send.chunks != receive.chunks) return where(from, send) + ": the receiver expects other chunks";
      matching[from][senders[k]] = receivers[k];
      matching[to][receivers[k]] = senders[k];
    }
    if (receivers.size() > senders.size())
      return where(to, s.steps[to][receivers[senders.size()]]) + ": nothing is ever sent";
  }
  return std::nullopt;
}

/// The steps of the stage that begins with step `begin`.
std::span<const Step> stage_at(const std::vector<Step>& steps, std::size_t begin) {
  std::size_t end = begin;
  while (end < steps.size() && steps[end].stage == steps[begin].stage) ++end;
  return std::span(steps).subspan(begin, end - begin);
}

/// Carries stages out as soon as all that they wait for has begun.
class Execution {
 public:
  Execution(const Schedule& schedule, const Matching& matching)
      : s_(schedule), matching_(matching), next_(schedule.ranks, 0), sent_(schedule.ranks) {
    for (int rank = 0; rank < s_.ranks; ++rank) {
      auto& chunks = memory_.emplace_back();
      for (int chunk = 0; chunk < s_.chunks; ++chunk) chunks.push_back(initial(s_, rank, chunk));
      sent_[rank].resize(s_.steps[rank].size());
      post(rank);
    }
  }

  std::optional<std::string> run() {
    for (bool moves = true; moves && !violation_;) {
      moves = false;
      for (int rank = 0; rank < s_.ranks && !violation_; ++rank) {
        while (!is_done(rank) && can_complete(rank) && !violation_) {
          complete(rank);
          moves = true;
        }
      }
    }
    if (violation_) return violation_;
    for (int rank = 0; rank < s_.ranks; ++rank) {
      if (!is_done(rank)) return where(rank, s_.steps[rank][next_[rank]]) + ": waits for ever";
    }
    return find_broken_promise();
  }

  bool in_order() const { return in_order_; }

 private:
  bool is_done(int rank) const { return next_[rank] >= s_.steps[rank].size(); }

  /// The stage begins: what it sends is what is there now.
  void post(int rank) {
    if (is_done(rank)) return;
    const auto stage = stage_at(s_.steps[rank], next_[rank]);
    for (std::size_t i = 0; i < stage.size(); ++i) {
      if (stage[i].kind != Step::Kind::send) continue;
      auto& content = sent_[rank][next_[rank] + i];
      for (const ChunkRange& range : stage[i].chunks) {
        for (int chunk = range.begin; chunk < range.end; ++chunk) {
          if (memory_[rank][chunk].is_empty())
            violation_ =
                where(rank, stage[i]) + fmt::format(": sends chunk {}, which it does not have", chunk);
          content.push_back(memory_[rank][chunk]);
        }
      }
    }
  }

  bool can_complete(int rank) const {
    const auto stage = stage_at(s_.steps[rank], next_[rank]);
    for (std::size_t i = 0; i < stage.size(); ++i) {
      const int peer = stage[i].peer;
      const auto other = static_cast<std::size_t>(matching_[rank][next_[rank] + i]);
      // the peer has begun the stage of the other end, or left it behind
      if (is_done(peer) || other < next_[peer]) continue;
      const auto there = stage_at(s_.steps[peer], next_[peer]);
      if (other >= next_[peer] + there.size()) return false;
    }
    return true;
  }

  void complete(int rank) {
    const auto stage = stage_at(s_.steps[rank], next_[rank]);
    for (std::size_t i = 0; i < stage.size(); ++i) {
      if (stage[i].kind == Step::Kind::send) continue;
      const auto& content = sent_[stage[i].peer][matching_[rank][next_[rank] + i]];
      std::size_t k = 0;
      for (const ChunkRange& range : stage[i].chunks) {
        for (int chunk = range.begin; chunk < range.end; ++chunk) arrive(rank, stage[i], chunk, content[k++]);
      }
    }
    next_[rank] += stage.size();
    post(rank);
  }

  void arrive(int rank, const Step& step, int chunk, const RankSet& content) {
    RankSet& place = memory_[rank][chunk];
    if (step.kind == Step::Kind::receive) {
      place = content;
      return;
    }
    if (place.meets(content))
      violation_ = where(rank, step) + fmt::format(": adds a contribution to chunk {} twice", chunk);
    in_order_ = in_order_ && are_neighbours(place, content);
    place.add(content);
  }

  /// Whether both together, and each alone, are ranks in a row (cyclically for none).
  bool are_neighbours(const RankSet& a, const RankSet& b) const {
    RankSet both = a;
    both.add(b);
    const auto is_row = [&](const RankSet& set) {
      int first = 0;
      while (first < s_.ranks && !set.contains(first)) ++first;
      int last = s_.ranks - 1;
      while (last > first && !set.contains(last)) --last;
      return set.count() == last - first + 1;
    };
    return is_row(a) && is_row(b) && is_row(both);
  }

  std::optional<std::string> find_broken_promise() const {
    for (int rank = 0; rank < s_.ranks; ++rank) {
      for (int chunk = 0; chunk < s_.chunks; ++chunk) {
        const RankSet promise = promised(s_, rank, chunk);
        if (!promise.is_empty() && memory_[rank][chunk] != promise)
          return fmt::format("at the end chunk {} on rank {} is not what {} promises", chunk, rank,
                             type_of(s_.operation).name);
      }
    }
    return std::nullopt;
  }

  const Schedule& s_;
  const Matching& matching_;
  Memory memory_;
  std::vector<std::size_t> next_;                        ///< by rank: the first step of its stage
  std::vector<std::vector<std::vector<RankSet>>> sent_;  ///< by rank and step: what went on its way
  std::optional<std::string> violation_;
  bool in_order_ = true;
};

}  // namespace

std::optional<std::string> find_violation(const Schedule& schedule) {
  if (auto violation = find_malformed(schedule)) return violation;
  if (auto violation = find_race(schedule)) return violation;
  Matching matching;
  if (auto violation = match(schedule, matching)) return violation;
  return Execution(schedule, matching).run();
}

bool keeps_order(const Schedule& schedule) {
  Matching matching;
  if (find_malformed(schedule) || match(schedule, matching)) return false;
  Execution execution(schedule, matching);
  return !execution.run() && execution.in_order();
}

}  // namespace ayatori::collectives
