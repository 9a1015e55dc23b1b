#include "ayatori/collectives/word_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

namespace {

bool has_digit(int rank, int digit) {
  return (rank >> digit & 1) != 0;
}

ChunkRange half(ChunkRange piece, bool second) {
  const int middle = (piece.begin + piece.end) / 2;
  return second ? ChunkRange{middle, piece.end} : ChunkRange{piece.begin, middle};
}

/// The chunks of blocks whose ranks are in `mask`-free positions those of `rank`: what merging the digits of
/// the mask has brought together.
Chunks blocks_like(int rank, int mask, int ranks) {
  Chunks chunks;
  for (int block = 0; block < ranks; ++block) {
    if (((block ^ rank) & ~mask) != 0) continue;
    if (!chunks.empty() && chunks.back().end == block)
      ++chunks.back().end;
    else
      chunks.push_back({block, block + 1});
  }
  return chunks;
}

/// A rank on its way through a word.
struct Walker {
  int rank;
  ChunkRange piece;              ///< what it works on
  std::vector<ChunkRange> undo;  ///< pieces before the splits that are open
  ChunkRange held;               ///< all of this it has in its final form (broadcast)
};

void split_piece(Walker& walker, int digit) {
  walker.undo.push_back(walker.piece);
  walker.piece = half(walker.piece, has_digit(walker.rank, digit));
}

void merge_piece(Walker& walker) {
  walker.piece = walker.undo.back();
  walker.undo.pop_back();
}

bool contains(ChunkRange outer, ChunkRange inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

/// The digits that the letters use: a merge that of its split.
std::vector<int> digits_by_letter(const WordPlan& plan) {
  std::vector<int> digits;
  std::vector<int> open;
  std::size_t next = 0;
  for (const Letter letter : plan.word) {
    if (letter == Letter::merge) {
      digits.push_back(open.back());
      open.pop_back();
      continue;
    }
    digits.push_back(plan.digits[next++]);
    if (letter == Letter::split) open.push_back(digits.back());
  }
  return digits;
}

/// What a letter does to what a broadcast's rank works on and holds. `unused`: mask of the digits that no
/// letter has used before.
void advance(Walker& walker, Letter letter, int digit, int unused) {
  const bool is_active = (walker.rank & unused) == 0;
  const bool is_reached = !is_active && (walker.rank & unused) == 1 << digit;
  if (letter == Letter::split) split_piece(walker, digit);
  if (letter == Letter::merge) {
    merge_piece(walker);
    if (is_active && !contains(walker.held, walker.piece)) walker.held = walker.piece;
  } else if (is_reached) {
    walker.held = walker.piece;
  }
}

/// A rank before the letter of this number.
Walker walk(const WordPlan& plan, const std::vector<int>& digits, int rank, std::size_t letters) {
  const ChunkRange all{0, chunks_of(plan)};
  Walker walker{rank, all, {}, rank == 0 ? all : ChunkRange{0, 0}};
  int unused = plan.ranks - 1;
  for (std::size_t i = 0; i < letters; ++i) {
    advance(walker, plan.word[i], digits[i], unused);
    if (plan.word[i] != Letter::merge) unused &= ~(1 << digits[i]);
  }
  return walker;
}

/// Broadcast from rank 0. A rank that holds what a merge would bring gets nothing, so every chunk arrives on
/// every rank exactly once.
std::vector<Step> broadcast_steps(const WordPlan& plan, int rank) {
  const auto digits = digits_by_letter(plan);
  Walker me = walk(plan, digits, rank, 0);
  int unused = plan.ranks - 1;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.word.size(); ++i) {
    const Letter letter = plan.word[i];
    const int bit = 1 << digits[i];
    const int stage = static_cast<int>(i);
    const int partner = rank ^ bit;
    const bool is_active = (rank & unused) == 0;
    if (letter == Letter::merge) {
      if (is_active) {
        const Walker other = walk(plan, digits, partner, i);
        if (!contains(other.held, me.piece)) steps.push_back({stage, Step::Kind::send, partner, {me.piece}});
        if (!contains(me.held, other.piece))
          steps.push_back({stage, Step::Kind::receive, partner, {other.piece}});
      }
    } else if (is_active || (rank & unused) == bit) {
      // Whoever is reached has followed the same splits, so it works on the same piece.
      const ChunkRange moved = letter == Letter::split ? half(me.piece, true) : me.piece;
      steps.push_back({stage, is_active ? Step::Kind::send : Step::Kind::receive, partner, {moved}});
    }
    advance(me, letter, digits[i], unused);
    if (letter != Letter::merge) unused &= ~bit;
  }
  return steps;
}

std::vector<Step> allreduce_steps(const WordPlan& plan, int rank) {
  const auto digits = digits_by_letter(plan);
  Walker me{rank, {0, chunks_of(plan)}, {}, {}};
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.word.size(); ++i) {
    const int stage = static_cast<int>(i);
    const int partner = rank ^ 1 << digits[i];
    const bool is_second = has_digit(rank, digits[i]);
    switch (plan.word[i]) {
      case Letter::copy:
        steps.push_back({stage, Step::Kind::send, partner, {me.piece}});
        steps.push_back({stage, Step::Kind::reduce, partner, {me.piece}});
        break;
      case Letter::split:
        steps.push_back({stage, Step::Kind::send, partner, {half(me.piece, !is_second)}});
        split_piece(me, digits[i]);
        steps.push_back({stage, Step::Kind::reduce, partner, {me.piece}});
        break;
      case Letter::merge: {
        steps.push_back({stage, Step::Kind::send, partner, {me.piece}});
        merge_piece(me);
        steps.push_back({stage, Step::Kind::receive, partner, {half(me.piece, !is_second)}});
        break;
      }
    }
  }
  return steps;
}

std::vector<Step> allgather_steps(const WordPlan& plan, int rank) {
  std::vector<Step> steps;
  int merged = 0;
  for (std::size_t i = 0; i < plan.digits.size(); ++i) {
    const int stage = static_cast<int>(i);
    const int partner = rank ^ 1 << plan.digits[i];
    steps.push_back({stage, Step::Kind::send, partner, blocks_like(rank, merged, plan.ranks)});
    steps.push_back({stage, Step::Kind::receive, partner, blocks_like(partner, merged, plan.ranks)});
    merged |= 1 << plan.digits[i];
  }
  return steps;
}

/// Scatter from rank 0: a binomial tree, each link of which carries the blocks of all behind it.
std::vector<Step> scatter_steps(const WordPlan& plan, int rank) {
  std::vector<Step> steps;
  int unused = plan.ranks - 1;
  for (std::size_t i = 0; i < plan.digits.size(); ++i) {
    const int digit = 1 << plan.digits[i];
    const int stage = static_cast<int>(i);
    const int behind = unused & ~digit;  // digits by which the blocks behind the link differ
    if ((rank & unused) == 0)
      steps.push_back({stage, Step::Kind::send, rank | digit, blocks_like(rank | digit, behind, plan.ranks)});
    else if ((rank & unused) == digit)
      steps.push_back({stage, Step::Kind::receive, rank & ~digit, blocks_like(rank, behind, plan.ranks)});
    unused &= ~digit;
  }
  return steps;
}

/// The dual: every arrow reversed, the last first. What was sent comes back, to be combined or stored.
std::vector<Step> reversed(std::vector<Step> steps, int stages, Step::Kind arrival) {
  for (Step& step : steps) {
    step.stage = stages - 1 - step.stage;
    step.kind = step.kind == Step::Kind::send ? arrival : Step::Kind::send;
  }
  std::ranges::stable_sort(steps, {}, &Step::stage);
  return steps;
}

/// Ranks renamed so that 0 becomes the root; blocks go with their ranks.
std::vector<Step> renamed(std::vector<Step> steps, int root, bool is_by_rank) {
  if (root == 0) return steps;
  for (Step& step : steps) {
    step.peer ^= root;
    if (!is_by_rank) continue;
    std::vector<int> blocks;
    for (const ChunkRange& range : step.chunks) {
      for (int block = range.begin; block < range.end; ++block) blocks.push_back(block ^ root);
    }
    std::ranges::sort(blocks);
    step.chunks.clear();
    for (const int block : blocks) {
      if (!step.chunks.empty() && step.chunks.back().end == block)
        ++step.chunks.back().end;
      else
        step.chunks.push_back({block, block + 1});
    }
  }
  return steps;
}

}  // namespace

std::string_view name_of(DigitOrder order) {
  return order == DigitOrder::far_first ? "FFNL" : "NFFL";
}

WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order, int root) {
  if (ranks < 1 || !std::has_single_bit(static_cast<unsigned>(ranks)))
    throw InputError(fmt::format("{} ranks: words are for powers of two", ranks));
  if (root < 0 || root >= ranks) throw InputError(fmt::format("root {} is none of {} ranks", root, ranks));
  const int digits = std::countr_zero(static_cast<unsigned>(ranks));
  const bool has_words = type_of(operation).has_words;
  if (has_words && digits_of(word) != digits) {
    throw InputError(fmt::format("the word '{}' has {} digits (its C and S), but {} ranks need {}",
                                 to_string(word), digits_of(word), ranks, digits));
  }
  WordPlan plan{operation, ranks, root, has_words ? word : Word(), {}};
  for (int d = 0; d < digits; ++d)
    plan.digits.push_back(order == DigitOrder::near_first ? d : digits - 1 - d);
  return plan;
}

int stages_of(const WordPlan& plan) {
  return static_cast<int>(type_of(plan.operation).has_words ? plan.word.size() : plan.digits.size());
}

int chunks_of(const WordPlan& plan) {
  return type_of(plan.operation).is_by_rank ? plan.ranks : 1 << depth_of(plan.word);
}

std::vector<Step> steps_of(const WordPlan& plan, int rank) {
  const int stages = stages_of(plan);
  const int virtual_rank = type_of(plan.operation).has_root ? rank ^ plan.root : rank;
  const auto steps = [&] {
    switch (plan.operation) {
      case Operation::broadcast:
        return broadcast_steps(plan, virtual_rank);
      case Operation::reduce:
        return reversed(broadcast_steps(plan, virtual_rank), stages, Step::Kind::reduce);
      case Operation::allreduce:
        return allreduce_steps(plan, virtual_rank);
      case Operation::scatter:
        return scatter_steps(plan, virtual_rank);
      case Operation::gather:
        return reversed(scatter_steps(plan, virtual_rank), stages, Step::Kind::receive);
      case Operation::allgather:
        return allgather_steps(plan, virtual_rank);
      case Operation::reduce_scatter:
        break;
    }
    return reversed(allgather_steps(plan, virtual_rank), stages, Step::Kind::reduce);
  }();
  return type_of(plan.operation).has_root ? renamed(steps, plan.root, type_of(plan.operation).is_by_rank)
                                          : steps;
}

Schedule expand(const WordPlan& plan) {
  Schedule schedule{plan.operation, plan.ranks, plan.root, chunks_of(plan), stages_of(plan), {}};
  for (int rank = 0; rank < plan.ranks; ++rank) schedule.steps.push_back(steps_of(plan, rank));
  return schedule;
}

}  // namespace ayatori::collectives
