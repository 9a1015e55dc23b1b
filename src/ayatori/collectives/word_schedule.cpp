#include "ayatori/collectives/word_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

namespace {

/// Part `number` of a piece that is cut into `parts`.
ChunkRange part_of(ChunkRange piece, int number, int parts) {
  const int length = piece.count() / parts;
  return {piece.begin + number * length, piece.begin + (number + 1) * length};
}

bool contains(ChunkRange outer, ChunkRange inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

Chunks ranges_of(std::vector<int> blocks) {
  std::ranges::sort(blocks);
  Chunks chunks;
  for (const int block : blocks) {
    if (!chunks.empty() && chunks.back().end == block)
      ++chunks.back().end;
    else
      chunks.push_back({block, block + 1});
  }
  return chunks;
}

/// Digits, each in use or not.
using Mask = std::vector<bool>;

/// Whether the rank is zero in all digits of the mask.
bool is_zero_in(const WordPlan& plan, const Mask& mask, int rank) {
  for (std::size_t d = 0; d < mask.size(); ++d) {
    if (mask[d] && plan.digits[d].of(rank) != 0) return false;
  }
  return true;
}

/// The blocks of ranks that differ from `rank` at most in the digits of the mask.
Chunks blocks_like(const WordPlan& plan, int rank, const Mask& mask) {
  std::vector<int> blocks;
  for (int block = 0; block < plan.ranks; ++block) {
    bool is_like = true;
    for (std::size_t d = 0; d < mask.size() && is_like; ++d)
      is_like = mask[d] || plan.digits[d].of(block) == plan.digits[d].of(rank);
    if (is_like) blocks.push_back(block);
  }
  return ranges_of(std::move(blocks));
}

/// The digits that the letters use, as places in plan.digits: a merge that of its split.
std::vector<std::size_t> digits_by_letter(const WordPlan& plan) {
  std::vector<std::size_t> digits;
  std::vector<std::size_t> open;
  std::size_t next = 0;
  for (const Letter letter : plan.word) {
    if (letter == Letter::merge) {
      digits.push_back(open.back());
      open.pop_back();
      continue;
    }
    digits.push_back(next++);
    if (letter == Letter::split) open.push_back(digits.back());
  }
  return digits;
}

/// A rank on its way through a word.
struct Walker {
  int rank;
  ChunkRange piece;              ///< what it works on
  std::vector<ChunkRange> undo;  ///< pieces before the splits that are open
  ChunkRange held;               ///< all of this it has in its final form (broadcast)
};

void split_piece(Walker& walker, const Digit& digit) {
  walker.undo.push_back(walker.piece);
  walker.piece = part_of(walker.piece, digit.of(walker.rank), digit.radix);
}

void merge_piece(Walker& walker) {
  walker.piece = walker.undo.back();
  walker.undo.pop_back();
}

/// What a letter does to what a broadcast's rank works on and holds. `unused`: digits that no letter has used
/// before.
void advance(const WordPlan& plan, Walker& walker, Letter letter, std::size_t place, const Mask& unused) {
  const bool is_active = is_zero_in(plan, unused, walker.rank);
  if (letter == Letter::split) split_piece(walker, plan.digits[place]);
  if (letter == Letter::merge) {
    merge_piece(walker);
    if (is_active && !contains(walker.held, walker.piece)) walker.held = walker.piece;
    return;
  }
  const bool is_reached = !is_active && is_zero_in(plan, unused, plan.digits[place].with(walker.rank, 0));
  if (is_reached) walker.held = walker.piece;
}

/// A rank before the letter of this number.
Walker walk(const WordPlan& plan, const std::vector<std::size_t>& places, int rank, std::size_t letters) {
  const ChunkRange all{0, chunks_of(plan)};
  Walker walker{rank, all, {}, rank == 0 ? all : ChunkRange{0, 0}};
  Mask unused(plan.digits.size(), true);
  for (std::size_t i = 0; i < letters; ++i) {
    advance(plan, walker, plan.word[i], places[i], unused);
    if (plan.word[i] != Letter::merge) unused[places[i]] = false;
  }
  return walker;
}

/// Broadcast from rank 0. A rank that holds what a merge would bring gets nothing, so every chunk arrives on
/// every rank exactly once.
std::vector<Step> broadcast_steps(const WordPlan& plan, int rank) {
  const auto places = digits_by_letter(plan);
  Walker me = walk(plan, places, rank, 0);
  Mask unused(plan.digits.size(), true);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.word.size(); ++i) {
    const Letter letter = plan.word[i];
    const Digit& digit = plan.digits[places[i]];
    const int stage = static_cast<int>(i);
    const bool is_active = is_zero_in(plan, unused, rank);
    const int own = digit.of(rank);
    if (is_active && letter == Letter::merge) {
      for (int value = 0; value < digit.radix; ++value) {
        if (value == own) continue;
        const int partner = digit.with(rank, value);
        const Walker other = walk(plan, places, partner, i);
        if (!contains(other.held, me.piece)) steps.push_back({stage, Step::Kind::send, partner, {me.piece}});
        if (!contains(me.held, other.piece))
          steps.push_back({stage, Step::Kind::receive, partner, {other.piece}});
      }
    } else if (letter != Letter::merge) {
      // Whoever is reached has followed the same splits, so it works on the same piece.
      const auto moved = [&](int value) {
        return letter == Letter::split ? part_of(me.piece, value, digit.radix) : me.piece;
      };
      if (is_active) {
        for (int value = 1; value < digit.radix; ++value)
          steps.push_back({stage, Step::Kind::send, digit.with(rank, value), {moved(value)}});
      } else if (is_zero_in(plan, unused, digit.with(rank, 0))) {
        steps.push_back({stage, Step::Kind::receive, digit.with(rank, 0), {moved(own)}});
      }
    }
    advance(plan, me, letter, places[i], unused);
    if (letter != Letter::merge) unused[places[i]] = false;
  }
  return steps;
}

std::vector<Step> allreduce_steps(const WordPlan& plan, int rank) {
  const auto places = digits_by_letter(plan);
  Walker me{rank, {0, chunks_of(plan)}, {}, {}};
  std::vector<Step> steps;
  for (std::size_t i = 0; i < plan.word.size(); ++i) {
    const Letter letter = plan.word[i];
    const Digit& digit = plan.digits[places[i]];
    const ChunkRange before = me.piece;
    if (letter == Letter::split) split_piece(me, digit);
    if (letter == Letter::merge) merge_piece(me);
    for (int value = 0; value < digit.radix; ++value) {
      const int partner = digit.with(rank, value);
      if (partner == rank) continue;
      const int stage = static_cast<int>(i);
      const bool splits = letter == Letter::split;
      steps.push_back(
          {stage, Step::Kind::send, partner, {splits ? part_of(before, value, digit.radix) : before}});
      if (letter == Letter::merge)
        steps.push_back({stage, Step::Kind::receive, partner, {part_of(me.piece, value, digit.radix)}});
      else
        steps.push_back({stage, Step::Kind::reduce, partner, {me.piece}});
    }
  }
  return steps;
}

std::vector<Step> allgather_steps(const WordPlan& plan, int rank) {
  std::vector<Step> steps;
  Mask merged(plan.digits.size(), false);
  for (std::size_t i = 0; i < plan.digits.size(); ++i) {
    const Digit& digit = plan.digits[i];
    const int stage = static_cast<int>(i);
    for (int value = 0; value < digit.radix; ++value) {
      const int partner = digit.with(rank, value);
      if (partner == rank) continue;
      steps.push_back({stage, Step::Kind::send, partner, blocks_like(plan, rank, merged)});
      steps.push_back({stage, Step::Kind::receive, partner, blocks_like(plan, partner, merged)});
    }
    merged[i] = true;
  }
  return steps;
}

/// Scatter from rank 0: a tree, each link of which carries the blocks of all behind it.
std::vector<Step> scatter_steps(const WordPlan& plan, int rank) {
  std::vector<Step> steps;
  Mask unused(plan.digits.size(), true);
  for (std::size_t i = 0; i < plan.digits.size(); ++i) {
    const Digit& digit = plan.digits[i];
    const int stage = static_cast<int>(i);
    const bool is_active = is_zero_in(plan, unused, rank);
    const bool is_reached = !is_active && is_zero_in(plan, unused, digit.with(rank, 0));
    unused[i] = false;  // what is left are the digits by which the blocks behind a link differ
    if (is_active) {
      for (int value = 1; value < digit.radix; ++value) {
        const int partner = digit.with(rank, value);
        steps.push_back({stage, Step::Kind::send, partner, blocks_like(plan, partner, unused)});
      }
    } else if (is_reached) {
      steps.push_back({stage, Step::Kind::receive, digit.with(rank, 0), blocks_like(plan, rank, unused)});
    }
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

/// Ranks are renamed so that 0 becomes the root: digit by digit, so that the distances stay what they are.
int to_root(const WordPlan& plan, int rank, int root, bool forth) {
  for (const Digit& digit : plan.digits) {
    const int shift = forth ? digit.of(root) : digit.radix - digit.of(root);
    rank = digit.with(rank, (digit.of(rank) + shift) % digit.radix);
  }
  return rank;
}

/// Blocks go with their ranks.
std::vector<Step> renamed(const WordPlan& plan, std::vector<Step> steps) {
  if (plan.root == 0) return steps;
  for (Step& step : steps) {
    step.peer = to_root(plan, step.peer, plan.root, true);
    if (!type_of(plan.operation).is_by_rank) continue;
    std::vector<int> blocks;
    for (const ChunkRange& range : step.chunks) {
      for (int block = range.begin; block < range.end; ++block)
        blocks.push_back(to_root(plan, block, plan.root, true));
    }
    step.chunks = ranges_of(std::move(blocks));
  }
  return steps;
}

}  // namespace

std::string_view name_of(DigitOrder order) {
  return order == DigitOrder::far_first ? "FFNL" : "NFFL";
}

WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order,
                   std::span<const int> radices, int root) {
  WordPlan plan{operation, ranks, root, type_of(operation).has_words ? word : Word(), {}};
  std::int64_t stride = 1;
  for (const int radix : radices) {
    if (radix < 2 || stride * radix > ranks)
      throw InputError(fmt::format("the radices do not multiply to {} ranks", ranks));
    plan.digits.push_back({static_cast<int>(stride), radix});
    stride *= radix;
  }
  if (ranks < 1 || stride != ranks)
    throw InputError(fmt::format("the radices do not multiply to {} ranks", ranks));
  if (root < 0 || root >= ranks) throw InputError(fmt::format("root {} is none of {} ranks", root, ranks));
  const auto digits = std::ssize(plan.digits);
  if (type_of(operation).has_words && digits_of(word) != digits) {
    throw InputError(fmt::format("the word '{}' has {} digits (its C and S), but {} ranks have {} here",
                                 to_string(word), digits_of(word), ranks, digits));
  }
  if (order == DigitOrder::far_first) std::ranges::reverse(plan.digits);
  return plan;
}

WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order, int root) {
  if (ranks < 1 || !std::has_single_bit(static_cast<unsigned>(ranks)))
    throw InputError(fmt::format("{} ranks: binary digits are for powers of two", ranks));
  const std::vector<int> radices(std::countr_zero(static_cast<unsigned>(ranks)), 2);
  return make_plan(operation, ranks, word, order, radices, root);
}

int stages_of(const WordPlan& plan) {
  return static_cast<int>(type_of(plan.operation).has_words ? plan.word.size() : plan.digits.size());
}

int chunks_of(const WordPlan& plan) {
  if (type_of(plan.operation).is_by_rank) return plan.ranks;
  int chunks = 1;
  int open = 1;  // parts that a piece is one of
  const auto places = digits_by_letter(plan);
  for (std::size_t i = 0; i < plan.word.size(); ++i) {
    const int radix = plan.digits[places[i]].radix;
    if (plan.word[i] == Letter::split) open *= radix;
    if (plan.word[i] == Letter::merge) open /= radix;
    chunks = std::lcm(chunks, open);
  }
  return chunks;
}

std::vector<Step> steps_of(const WordPlan& plan, int rank) {
  const int stages = stages_of(plan);
  const int virtual_rank = type_of(plan.operation).has_root ? to_root(plan, rank, plan.root, false) : rank;
  switch (plan.operation) {
    case Operation::broadcast:
      return renamed(plan, broadcast_steps(plan, virtual_rank));
    case Operation::reduce:
      return renamed(plan, reversed(broadcast_steps(plan, virtual_rank), stages, Step::Kind::reduce));
    case Operation::allreduce:
      return allreduce_steps(plan, rank);
    case Operation::scatter:
      return renamed(plan, scatter_steps(plan, virtual_rank));
    case Operation::gather:
      return renamed(plan, reversed(scatter_steps(plan, virtual_rank), stages, Step::Kind::receive));
    case Operation::allgather:
      return allgather_steps(plan, rank);
    case Operation::reduce_scatter:
      break;
  }
  return reversed(allgather_steps(plan, rank), stages, Step::Kind::reduce);
}

Schedule expand(const WordPlan& plan) {
  Schedule schedule{plan.operation, plan.ranks, plan.root, chunks_of(plan), stages_of(plan), {}};
  for (int rank = 0; rank < plan.ranks; ++rank) schedule.steps.push_back(steps_of(plan, rank));
  return schedule;
}

}  // namespace ayatori::collectives
