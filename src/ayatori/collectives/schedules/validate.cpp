#include "ayatori/collectives/schedules/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace ayatori::collectives {

namespace {

/// What a chunk holds where nothing is combined: the contribution of this number, or none. Bcast and the like
/// number them by ranks, alltoall by pairs of source and destination.
class Token {
 public:
  static Token nothing(int /*ranks*/) { return Token(-1); }
  static Token one(int number, int /*ranks*/) { return Token(number); }

  bool is_empty() const { return number_ < 0; }
  bool meets(const Token& other) const { return !is_empty() && !other.is_empty(); }
  void add(const Token& other, bool /*from_left*/) { number_ = other.number_; }
  bool is_in_order() const { return true; }
  bool operator==(const Token&) const = default;

 private:
  explicit Token(int number) : number_(number) {}
  int number_;
};

/// Ranks whose contributions a chunk holds, and in which order they were combined.
class RankSet {
 public:
  static RankSet nothing(int ranks) { return RankSet(ranks); }
  static RankSet one(int rank, int ranks) {
    RankSet set(ranks);
    set.words_[rank / 64] |= std::uint64_t{1} << rank % 64;
    set.tree_ = mixed(static_cast<std::uint64_t>(rank) + 1);
    set.first_ = set.last_ = rank;
    return set;
  }
  static RankSet all(int ranks) {
    RankSet set(ranks);
    for (int rank = 0; rank < ranks; ++rank) set.words_[rank / 64] |= std::uint64_t{1} << rank % 64;
    return set;
  }

  void add(const RankSet& other, bool from_left) {
    const bool is_next = from_left ? other.last_ + 1 == first_ : last_ + 1 == other.first_;
    is_in_order_ = is_in_order_ && other.is_in_order_ && is_next;
    first_ = std::min(first_, other.first_);
    last_ = std::max(last_, other.last_);
    // Sums of two are the same in either order, sums of three are not.
    tree_ = mixed(tree_ + other.tree_ + (mixed(tree_) ^ mixed(other.tree_)));
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
  /// Whether every combination so far was one of ranks in a row with those that follow.
  bool is_in_order() const { return is_in_order_; }
  /// Tells apart what sums of real numbers tell apart: which sums are terms of which.
  std::uint64_t tree() const { return tree_; }
  /// Whether both hold the same contributions, in whatever order.
  bool operator==(const RankSet& other) const { return words_ == other.words_; }

 private:
  explicit RankSet(int ranks) : words_((ranks + 63) / 64, 0) {}
  /// The finalizer of SplitMix64 (Steele et al. 2014).
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
  }

  std::vector<std::uint64_t> words_;
  std::uint64_t tree_ = 0;
  int first_ = 0;
  int last_ = -1;
  bool is_in_order_ = true;
};

/// What a rank has to begin with, and what it must have in the end: of an operation.
template <class Content>
class OperationPromise {
 public:
  explicit OperationPromise(const Schedule& schedule) : s_(schedule) {}

  std::string_view name() const { return type_of(s_.operation).name; }

  Content initial(int rank, int chunk) const {
    const Content nothing = Content::nothing(s_.ranks);
    switch (s_.operation) {
      case Operation::broadcast:
        return rank == s_.root ? Content::one(s_.root, s_.ranks) : nothing;
      case Operation::scatter:
        return rank == s_.root ? Content::one(chunk, s_.ranks) : nothing;
      case Operation::gather:
      case Operation::allgather:
        return rank == chunk ? Content::one(rank, s_.ranks) : nothing;
      case Operation::alltoall:
        return Content::one(rank * s_.ranks + chunk, s_.ranks);
      case Operation::reduce:
      case Operation::allreduce:
      case Operation::reduce_scatter:
      case Operation::barrier:
        break;
    }
    return Content::one(rank, s_.ranks);
  }

  /// Nothing is promised for the empty one.
  Content promised(int rank, int chunk) const { return promised(rank, chunk, Content::nothing(s_.ranks)); }

 private:
  Token promised(int rank, int chunk, const Token& nothing) const {
    switch (s_.operation) {
      case Operation::broadcast:
        return Token::one(s_.root, s_.ranks);
      case Operation::scatter:
        return rank == chunk ? Token::one(chunk, s_.ranks) : nothing;
      case Operation::gather:
        return rank == s_.root ? Token::one(chunk, s_.ranks) : nothing;
      case Operation::alltoall:
        return Token::one(chunk * s_.ranks + rank, s_.ranks);
      default:
        return Token::one(chunk, s_.ranks);
    }
  }

  RankSet promised(int rank, int chunk, const RankSet& nothing) const {
    const bool has_all = s_.operation == Operation::allreduce || s_.operation == Operation::barrier ||
                         rank == (s_.operation == Operation::reduce ? s_.root : chunk);
    return has_all ? RankSet::all(s_.ranks) : nothing;
  }

  const Schedule& s_;
};

bool contains(const Chunks& chunks, int chunk) {
  const auto after = std::ranges::upper_bound(chunks, chunk, {}, &ChunkRange::begin);
  return after != chunks.begin() && chunk < std::prev(after)->end;
}

/// The same of a neighbourhood.
class NeighbourhoodPromise {
 public:
  explicit NeighbourhoodPromise(const Neighbourhood& neighbourhood) : n_(neighbourhood) {}

  std::string_view name() const { return "the neighbourhood"; }
  Token initial(int rank, int chunk) const {
    return n_.owned(rank).begin <= chunk && chunk < n_.owned(rank).end ? Token::one(chunk, n_.ranks())
                                                                       : Token::nothing(n_.ranks());
  }
  Token promised(int rank, int chunk) const {
    return contains(n_.wanted[rank], chunk) ? Token::one(chunk, n_.ranks()) : initial(rank, chunk);
  }

 private:
  const Neighbourhood& n_;
};

std::string where(int rank, const Step& step) {
  return fmt::format("rank {}, stage {}, {} {}", rank, step.stage,
                     step.kind == Step::Kind::send ? "to" : "from", step.peer);
}

std::optional<std::string> find_malformed(const Schedule& s) {
  if (s.ranks < 1 || std::ssize(s.steps) != s.ranks || s.chunks < 1)
    return "ranks, steps and chunks disagree";
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
      if (step.rail < network::any_rail) return where(rank, step) + ": no such rail";
    }
  }
  return std::nullopt;
}

bool overlap(const Chunks& a, const Chunks& b) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->begin < y->end && y->begin < x->end) return true;
    if (x->end < y->end)
      ++x;
    else
      ++y;
  }
  return false;
}

/// Two steps of one stage of a rank.
std::optional<std::string> find_race(const Schedule& s) {
  for (int rank = 0; rank < s.ranks; ++rank) {
    const auto& steps = s.steps[rank];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::size_t j = i + 1; j < steps.size() && steps[j].stage == steps[i].stage; ++j) {
        using enum Step::Kind;
        const auto pair = std::minmax(steps[i].kind, steps[j].kind);
        const bool receives = pair.first == receive || pair.second == receive;
        const bool swaps_with_other = pair.second == swap ? pair.first != send : pair.first == swap;
        if ((receives || swaps_with_other) && overlap(steps[i].chunks, steps[j].chunks))
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
      // What is swapped takes the place of what was sent, so only its extent has to be the same.
      const bool fits = receive.kind == Step::Kind::swap
                            ? chunk_count(send.chunks) == chunk_count(receive.chunks)
                            : send.chunks == receive.chunks;
      if (!fits) return where(from, send) + ": the receiver expects other chunks";
      if (send.rail != receive.rail) return where(from, send) + ": the receiver expects it by another rail";
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
template <class Promise>
class Execution {
 public:
  Execution(const Schedule& schedule, const Promise& promise, const Matching& matching)
      : s_(schedule),
        promise_(promise),
        matching_(matching),
        next_(schedule.ranks, 0),
        sent_(schedule.ranks) {
    for (int rank = 0; rank < s_.ranks; ++rank) {
      auto& chunks = memory_.emplace_back();
      for (int chunk = 0; chunk < s_.chunks; ++chunk) chunks.push_back(promise_.initial(rank, chunk));
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

  /// Rank and chunk of the first promise for which what(what is there, promise) is false.
  template <class What>
  std::optional<std::pair<int, int>> first_promise_without(const What& what) const {
    for (int rank = 0; rank < s_.ranks; ++rank) {
      for (int chunk = 0; chunk < s_.chunks; ++chunk) {
        const Content promise = promise_.promised(rank, chunk);
        if (!promise.is_empty() && !what(memory_[rank][chunk], promise)) return std::pair(rank, chunk);
      }
    }
    return std::nullopt;
  }

 private:
  using Content = decltype(std::declval<Promise>().initial(0, 0));

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
    // Left operands are combined with one another before what is there.
    std::map<int, Content> left;
    for (std::size_t i = 0; i < stage.size(); ++i) {
      const Step& step = stage[i];
      if (step.kind == Step::Kind::send) continue;
      auto& sent = sent_[step.peer][matching_[rank][next_[rank] + i]];
      std::size_t k = 0;
      for (const ChunkRange& range : step.chunks) {
        for (int chunk = range.begin; chunk < range.end; ++chunk) {
          const Content& content = sent[k++];
          if (step.kind == Step::Kind::reduce_left) {
            const auto [place, is_first] = left.emplace(chunk, content);
            if (!is_first) combine(rank, step, chunk, place->second, content, false);
          } else if (step.kind == Step::Kind::reduce) {
            // those from the left come first in the steps of a stage, and in what is done
            flush(rank, step, left);
            combine(rank, step, chunk, memory_[rank][chunk], content, false);
          } else {
            memory_[rank][chunk] = content;
          }
        }
      }
      sent = {};
    }
    flush(rank, stage.front(), left);
    next_[rank] += stage.size();
    post(rank);
  }

  void flush(int rank, const Step& step, std::map<int, Content>& left) {
    for (const auto& [chunk, content] : left) combine(rank, step, chunk, memory_[rank][chunk], content, true);
    left.clear();
  }

  void combine(int rank, const Step& step, int chunk, Content& place, const Content& content,
               bool from_left) {
    if (place.meets(content))
      violation_ = where(rank, step) + fmt::format(": adds a contribution to chunk {} twice", chunk);
    place.add(content, from_left);
  }

  std::optional<std::string> find_broken_promise() const {
    const auto place =
        first_promise_without([](const auto& has, const auto& promise) { return has == promise; });
    if (!place) return std::nullopt;
    return fmt::format("at the end chunk {} on rank {} is not what {} promises", place->second, place->first,
                       promise_.name());
  }

  const Schedule& s_;
  const Promise& promise_;
  const Matching& matching_;
  std::vector<std::vector<Content>> memory_;             ///< by rank and chunk
  std::vector<std::size_t> next_;                        ///< by rank: the first step of its stage
  std::vector<std::vector<std::vector<Content>>> sent_;  ///< by rank and step: what is on its way
  std::optional<std::string> violation_;
};

template <class Promise>
std::optional<std::string> find_violation_of(const Schedule& schedule, const Promise& promise) {
  if (auto violation = find_race(schedule)) return violation;
  Matching matching;
  if (auto violation = match(schedule, matching)) return violation;
  return Execution(schedule, promise, matching).run();
}

/// What a rank receives that it owns, or has received before.
std::optional<std::string> find_repetition(const Schedule& s, const Neighbourhood& neighbourhood) {
  for (int rank = 0; rank < s.ranks; ++rank) {
    std::vector<bool> is_here(s.chunks, false);
    const auto add = [&](const ChunkRange& range) {
      for (int chunk = range.begin; chunk < range.end; ++chunk) {
        if (is_here[chunk]) return false;
        is_here[chunk] = true;
      }
      return true;
    };
    add(neighbourhood.owned(rank));
    for (const Step& step : s.steps[rank]) {
      if (step.kind != Step::Kind::send && !std::ranges::all_of(step.chunks, add))
        return where(rank, step) + ": brings what is there";
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_violation(const Schedule& schedule) {
  if (auto violation = find_malformed(schedule)) return violation;
  const OperationType& type = type_of(schedule.operation);
  if (type.is_by_rank && schedule.chunks != schedule.ranks) return "there is not one chunk for every rank";
  if (type.reduces) return find_violation_of(schedule, OperationPromise<RankSet>(schedule));
  return find_violation_of(schedule, OperationPromise<Token>(schedule));
}

std::optional<std::string> find_violation(const Schedule& schedule, const Neighbourhood& neighbourhood) {
  if (schedule.ranks != neighbourhood.ranks() || schedule.chunks != neighbourhood.elements())
    return "schedule and neighbourhood disagree";
  if (auto violation = find_malformed(schedule)) return violation;
  if (auto violation = find_repetition(schedule, neighbourhood)) return violation;
  return find_violation_of(schedule, NeighbourhoodPromise(neighbourhood));
}

ReductionOrder reduction_order(const Schedule& schedule) {
  Matching matching;
  ReductionOrder order;
  if (find_malformed(schedule) || match(schedule, matching)) return order;
  const OperationPromise<RankSet> promise(schedule);
  Execution execution(schedule, promise, matching);
  if (execution.run()) return order;
  order.keeps_ranks =
      !execution.first_promise_without([](const auto& has, const auto&) { return has.is_in_order(); });
  std::optional<std::uint64_t> tree;
  const auto other = execution.first_promise_without([&](const auto& has, const auto&) {
    if (!tree) tree = has.tree();
    return *tree == has.tree();
  });
  if (!other) order.tree = tree;
  return order;
}

}  // namespace ayatori::collectives
