#include "ayatori/collectives/words/word_schedule.hpp"

#include <algorithm>
#include <numeric>

#include "ayatori/collectives/words/exchange.hpp"

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

/// Ranges that hold these chunks, each of which is named once.
Chunks ranges_of(std::vector<int> chunks) {
  std::ranges::sort(chunks);
  Chunks ranges;
  for (const int chunk : chunks) {
    if (!ranges.empty() && ranges.back().end == chunk)
      ++ranges.back().end;
    else
      ranges.push_back({chunk, chunk + 1});
  }
  return ranges;
}

/// Digits, each in use or not.
using Mask = std::vector<bool>;

bool is_mirrored(const WordPlan& plan, int stripe) {
  return stripe >= std::ssize(plan.digits);
}

int stages_of_letter(Operation operation, Letter letter, const Digit& digit) {
  if (operation != Operation::allreduce && letter != Letter::merge)
    return stages_one_to_all(digit.exchange, digit.radix);
  if (letter == Letter::copy) return stages_combine_on_all(digit.exchange, digit.radix);
  return stages_all_to_all(digit.exchange, digit.radix);
}

int stages_of_digit(Operation operation, const Digit& digit) {
  switch (operation) {
    case Operation::scatter:
    case Operation::gather:
      return stages_one_to_all(digit.exchange, digit.radix);
    case Operation::alltoall:
      return stages_pairwise(digit.exchange, digit.radix);
    default:
      return stages_all_to_all(digit.exchange, digit.radix);
  }
}

/// The stages of all letters or digits but those of groups.
int core_stages(const WordPlan& plan) {
  int stages = 0;
  if (!type_of(plan.operation).has_words) {
    for (const Digit& digit : plan.digits) stages += stages_of_digit(plan.operation, digit);
    return stages;
  }
  const auto places = digits_by_letter(plan);
  for (std::size_t i = 0; i < places.size(); ++i)
    stages += stages_of_letter(plan.operation, plan.word[i], plan.digits[places[i]]);
  return stages;
}

/// The stages in which the largest group brings what it has to its leader, or gets it from there.
int fold_stages(const WordPlan& plan) {
  int most = 1;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const int end = g + 1 < plan.groups.size() ? plan.groups[g + 1] : plan.ranks;
    most = std::max(most, end - plan.groups[g]);
  }
  return stages_one_to_all(plan.fold, most);
}

bool folds_before(Operation operation) {
  return operation != Operation::broadcast && operation != Operation::scatter;
}

bool folds_after(Operation operation) {
  return operation != Operation::reduce && operation != Operation::gather;
}

/// A leader on its way through a word.
struct Walker {
  int number;
  ChunkRange piece;              ///< what it works on
  std::vector<ChunkRange> undo;  ///< pieces before the splits that are open
  ChunkRange held;               ///< all of this it has in its final form (broadcast)
};

/// Generates the steps of all ranks of one plan without stripes, in numbers by which leader 0 is the root,
/// and translates them.
class Generator {
 public:
  /// `mirrored`: what goes from member to member of a group goes the other way.
  Generator(WordPlan plan_without_stripes, bool mirrored)
      : plan_(std::move(plan_without_stripes)),
        mirrored_(mirrored),
        places_(digits_by_letter(plan_)),
        core_stages_(core_stages(plan_)) {
    const WordPlan& plan = plan_;
    const int leaders = plan.groups.empty() ? plan.ranks : static_cast<int>(plan.groups.size());
    const auto rank_at = [&](int position) { return plan.order.empty() ? position : plan.order[position]; };
    int root_leader = 0;
    std::vector<std::vector<int>> groups(leaders);
    for (int g = 0; g < leaders; ++g) {
      const int begin = plan.groups.empty() ? g : plan.groups[g];
      int end = g + 1;
      if (!plan.groups.empty()) end = g + 1 < leaders ? plan.groups[g + 1] : plan.ranks;
      for (int position = begin; position < end; ++position) {
        groups[g].push_back(rank_at(position));
        if (groups[g].back() != plan.root || !type_of(plan.operation).has_root) continue;
        root_leader = g;
        std::swap(groups[g].front(), groups[g].back());
      }
    }
    members_.resize(leaders);
    place_of_.resize(plan.ranks);
    for (int number = 0; number < leaders; ++number) {
      members_[number] = std::move(groups[rotated(number, root_leader)]);
      for (int m = 0; m < std::ssize(members_[number]); ++m) place_of_[members_[number][m]] = {number, m};
    }
    first_stage_ = !plan.groups.empty() && folds_before(plan.operation) ? fold_stages(plan) : 0;
  }

  std::vector<Step> steps(int rank) const {
    const auto [number, member] = place_of_[rank];
    std::vector<Step> steps;
    if (folds_before(plan_.operation)) fold(steps, number, member, true);
    if (member == 0) {
      auto core = translated(core_steps(number));
      steps.insert(steps.end(), std::make_move_iterator(core.begin()), std::make_move_iterator(core.end()));
    }
    if (folds_after(plan_.operation)) fold(steps, number, member, false);
    return steps;
  }

 private:
  struct Place {
    int leader;
    int member;
  };

  /// Digit by digit, so that distances stay what they are.
  int rotated(int number, int root) const {
    for (const Digit& digit : plan_.digits) {
      const int value = mirrored_ ? digit.radix - digit.of(number) : digit.of(number);
      number = digit.with(number, (value + digit.of(root)) % digit.radix);
    }
    return number;
  }

  bool is_by_rank() const { return type_of(plan_.operation).is_by_rank; }

  ChunkRange everything() const { return {0, is_by_rank() ? plan_.ranks : chunks_of(plan_)}; }

  /// Leaders' numbers become their ranks, and their blocks those of their groups.
  std::vector<Step> translated(std::vector<Step> steps) const {
    for (Step& step : steps) {
      step.stage += first_stage_;
      step.peer = members_[step.peer].front();
      if (!is_by_rank()) continue;
      std::vector<int> blocks;
      for (const ChunkRange& range : step.chunks) {
        for (int number = range.begin; number < range.end; ++number)
          blocks.insert(blocks.end(), members_[number].begin(), members_[number].end());
      }
      step.chunks = ranges_of(std::move(blocks));
    }
    return steps;
  }

  /// What a group does for its leader, before or after the leaders' work.
  void fold(std::vector<Step>& steps, int number, int member, bool before) const {
    const auto& group = members_[number];
    const int size = static_cast<int>(group.size());
    const bool moves_blocks = is_by_rank() && (before ? plan_.operation != Operation::reduce_scatter
                                                      : plan_.operation != Operation::allgather);
    const int stages = stages_one_to_all(plan_.fold, size);
    std::vector<Step> folding;
    for (const GroupMessage& message : one_to_all(plan_.fold, size, member)) {
      const int stage = before ? stages - 1 - message.stage : first_stage_ + core_stages_ + message.stage;
      auto kind = Step::Kind::send;
      if (message.is_sent == before) {
        kind = before && type_of(plan_.operation).reduces ? Step::Kind::reduce : Step::Kind::receive;
      }
      Chunks chunks{everything()};
      if (moves_blocks) {
        std::vector<int> blocks;
        for (int m = message.first; m < message.first + message.count; ++m) blocks.push_back(group[m]);
        chunks = ranges_of(std::move(blocks));
      }
      folding.push_back({stage, kind, group[message.peer], std::move(chunks)});
    }
    std::ranges::stable_sort(folding, {}, &Step::stage);
    steps.insert(steps.end(), folding.begin(), folding.end());
  }

  std::vector<Step> core_steps(int number) const {
    switch (plan_.operation) {
      case Operation::broadcast:
        return broadcast_steps(number);
      case Operation::reduce:
        return reversed(broadcast_steps(number), number);
      case Operation::allreduce:
        return allreduce_steps(number);
      case Operation::scatter:
        return scatter_steps(number);
      case Operation::gather:
        return reversed(scatter_steps(number), number);
      case Operation::allgather:
        return allgather_steps(number);
      case Operation::reduce_scatter:
        return reversed(allgather_steps(number), number);
      case Operation::alltoall:
      case Operation::barrier:  // done by schedules of another operation
        break;
    }
    return alltoall_steps(number);
  }

  /// The dual: every arrow reversed, the last first. What was sent comes back, to be combined or stored.
  std::vector<Step> reversed(std::vector<Step> steps, int number) const {
    for (Step& step : steps) {
      auto arrival = Step::Kind::receive;
      if (type_of(plan_.operation).reduces)
        arrival = step.peer < number ? Step::Kind::reduce_left : Step::Kind::reduce;
      step.stage = core_stages_ - 1 - step.stage;
      step.kind = step.kind == Step::Kind::send ? arrival : Step::Kind::send;
    }
    std::ranges::stable_sort(steps, {}, &Step::stage);
    return steps;
  }

  /// Whether the leader is zero in all digits of the mask.
  bool is_zero_in(const Mask& mask, int number) const {
    for (std::size_t d = 0; d < mask.size(); ++d) {
      if (mask[d] && plan_.digits[d].of(number) != 0) return false;
    }
    return true;
  }

  /// The leaders that differ from these at most in the digits of the mask.
  Chunks like(std::vector<int> numbers, const Mask& mask) const {
    for (std::size_t d = 0; d < mask.size(); ++d) {
      if (!mask[d]) continue;
      const Digit& digit = plan_.digits[d];
      const std::size_t before = numbers.size();
      for (std::size_t i = 0; i < before; ++i) {
        for (int value = 0; value < digit.radix; ++value) {
          if (value != digit.of(numbers[i])) numbers.push_back(digit.with(numbers[i], value));
        }
      }
    }
    return ranges_of(std::move(numbers));
  }

  /// Likewise of this many members, cyclically, of the group of a digit.
  Chunks like_members(const Digit& digit, int number, const GroupMessage& message, const Mask& mask) const {
    std::vector<int> numbers;
    for (int m = message.first; m < message.first + message.count; ++m)
      numbers.push_back(digit.with(number, m % digit.radix));
    return like(std::move(numbers), mask);
  }

  /// The parts of a piece that a message carries, without those in `has`.
  static Chunks parts_of(ChunkRange piece, const Digit& digit, const GroupMessage& message,
                         ChunkRange has = {0, 0}) {
    std::vector<ChunkRange> parts;
    for (int m = message.first; m < message.first + message.count; ++m) {
      const ChunkRange part = part_of(piece, m % digit.radix, digit.radix);
      if (!contains(has, part)) parts.push_back(part);
    }
    std::ranges::sort(parts, {}, &ChunkRange::begin);
    Chunks chunks;
    for (const ChunkRange& part : parts) {
      if (!chunks.empty() && chunks.back().end == part.begin)
        chunks.back().end = part.end;
      else
        chunks.push_back(part);
    }
    return chunks;
  }

  /// A message of the group of a digit, where nothing is combined.
  static Step step_of(int first_stage, const Digit& digit, int number, const GroupMessage& message,
                      Chunks chunks) {
    const auto kind = message.is_sent ? Step::Kind::send : Step::Kind::receive;
    return {first_stage + message.stage, kind, digit.with(number, message.peer), std::move(chunks)};
  }

  static void split_piece(Walker& walker, const Digit& digit) {
    walker.undo.push_back(walker.piece);
    walker.piece = part_of(walker.piece, digit.of(walker.number), digit.radix);
  }

  static void merge_piece(Walker& walker) {
    walker.piece = walker.undo.back();
    walker.undo.pop_back();
  }

  /// What a letter does to what a broadcast's leader works on and holds. `unused`: digits that no letter has
  /// used before.
  void advance(Walker& walker, Letter letter, std::size_t place, const Mask& unused) const {
    const Digit& digit = plan_.digits[place];
    const bool is_active = is_zero_in(unused, walker.number);
    if (letter == Letter::merge) {
      merge_piece(walker);
      if (is_active && !contains(walker.held, walker.piece)) walker.held = walker.piece;
      return;
    }
    const bool is_reached = !is_active && is_zero_in(unused, digit.with(walker.number, 0));
    const ChunkRange before = walker.piece;
    if (letter == Letter::split) split_piece(walker, digit);
    if (!is_reached) return;
    walker.held = walker.piece;
    if (letter == Letter::copy) return;
    // with the parts of all that are behind it in the tree
    for (const auto& message : one_to_all(digit.exchange, digit.radix, digit.of(walker.number))) {
      if (message.is_sent) continue;
      walker.held = {part_of(before, message.first, digit.radix).begin,
                     part_of(before, message.first + message.count - 1, digit.radix).end};
    }
  }

  /// A leader before the letter of this number.
  Walker walk(int number, std::size_t letters) const {
    Walker walker{number, everything(), {}, number == 0 ? everything() : ChunkRange{0, 0}};
    Mask unused(plan_.digits.size(), true);
    for (std::size_t i = 0; i < letters; ++i) {
      advance(walker, plan_.word[i], places_[i], unused);
      if (plan_.word[i] != Letter::merge) unused[places_[i]] = false;
    }
    return walker;
  }

  /// Broadcast from leader 0. Whoever holds what a merge would bring gets nothing, so every chunk arrives on
  /// every leader exactly once.
  std::vector<Step> broadcast_steps(int number) const {
    Walker me = walk(number, 0);
    Mask unused(plan_.digits.size(), true);
    std::vector<Step> steps;
    int first_stage = 0;
    for (std::size_t i = 0; i < plan_.word.size(); ++i) {
      const Letter letter = plan_.word[i];
      const Digit& digit = plan_.digits[places_[i]];
      const int own = digit.of(number);
      const auto add = [&](const GroupMessage& message, Chunks chunks) {
        if (!chunks.empty()) steps.push_back(step_of(first_stage, digit, number, message, std::move(chunks)));
      };
      if (letter == Letter::merge) {
        if (is_zero_in(unused, number)) {
          for (const auto& message : all_to_all(digit.exchange, digit.radix, own)) {
            const auto has = message.is_sent ? walk(digit.with(number, message.peer), i).held : me.held;
            add(message, parts_of(me.undo.back(), digit, message, has));
          }
        }
      } else if (is_zero_in(unused, digit.with(number, 0))) {
        // Whoever is reached has followed the same splits, so it works on the same piece.
        for (const auto& message : one_to_all(digit.exchange, digit.radix, own))
          add(message, letter == Letter::copy ? Chunks{me.piece} : parts_of(me.piece, digit, message));
      }
      advance(me, letter, places_[i], unused);
      if (letter != Letter::merge) unused[places_[i]] = false;
      first_stage += stages_of_letter(plan_.operation, letter, digit);
    }
    return steps;
  }

  std::vector<Step> allreduce_steps(int number) const {
    Walker me{number, everything(), {}, {}};
    std::vector<Step> steps;
    int first_stage = 0;
    for (std::size_t i = 0; i < plan_.word.size(); ++i) {
      const Letter letter = plan_.word[i];
      const Digit& digit = plan_.digits[places_[i]];
      const int own = digit.of(number);
      const int stages = stages_of_letter(plan_.operation, letter, digit);
      // Every member combines in the same order, so that all get the same bits.
      const auto combine = [&](int peer) {
        return peer < own ? Step::Kind::reduce_left : Step::Kind::reduce;
      };
      if (letter == Letter::copy) {
        for (const auto& message : combine_on_all(digit.exchange, digit.radix, own)) {
          auto kind = Step::Kind::send;
          if (message.kind == CombineMessage::Kind::replace) kind = Step::Kind::receive;
          if (message.kind == CombineMessage::Kind::combine) kind = combine(message.peer);
          steps.push_back({first_stage + message.stage, kind, digit.with(number, message.peer), {me.piece}});
        }
      } else {
        const bool splits = letter == Letter::split;
        const ChunkRange whole = splits ? me.piece : me.undo.back();
        auto messages = all_to_all(digit.exchange, digit.radix, own);
        if (splits) {
          for (GroupMessage& message : messages) message.stage = stages - 1 - message.stage;
          std::ranges::stable_sort(messages, {}, &GroupMessage::stage);
          split_piece(me, digit);
        } else {
          merge_piece(me);
        }
        for (const GroupMessage& message : messages) {
          auto kind = Step::Kind::send;
          if (message.is_sent == splits) kind = splits ? combine(message.peer) : Step::Kind::receive;
          steps.push_back({first_stage + message.stage, kind, digit.with(number, message.peer),
                           parts_of(whole, digit, message)});
        }
      }
      first_stage += stages;
    }
    return steps;
  }

  std::vector<Step> allgather_steps(int number) const {
    std::vector<Step> steps;
    Mask merged(plan_.digits.size(), false);
    int first_stage = 0;
    for (std::size_t i = 0; i < plan_.digits.size(); ++i) {
      const Digit& digit = plan_.digits[i];
      for (const auto& message : all_to_all(digit.exchange, digit.radix, digit.of(number))) {
        steps.push_back(
            step_of(first_stage, digit, number, message, like_members(digit, number, message, merged)));
      }
      first_stage += stages_of_digit(plan_.operation, digit);
      merged[i] = true;
    }
    return steps;
  }

  /// Scatter from leader 0: a tree, each link of which carries the blocks of all behind it.
  std::vector<Step> scatter_steps(int number) const {
    std::vector<Step> steps;
    Mask unused(plan_.digits.size(), true);
    int first_stage = 0;
    for (std::size_t i = 0; i < plan_.digits.size(); ++i) {
      const Digit& digit = plan_.digits[i];
      const bool takes_part = is_zero_in(unused, digit.with(number, 0));
      unused[i] = false;  // what is left are the digits by which the blocks behind a link differ
      if (takes_part) {
        for (const auto& message : one_to_all(digit.exchange, digit.radix, digit.of(number))) {
          steps.push_back(
              step_of(first_stage, digit, number, message, like_members(digit, number, message, unused)));
        }
      }
      first_stage += stages_of_digit(plan_.operation, digit);
    }
    return steps;
  }

  /// Everybody's block for everybody: a split by destinations and a merge of sources in one (Imamura's S and
  /// M over both). Two that differ in a digit swap the blocks that are on the wrong side of it.
  std::vector<Step> alltoall_steps(int number) const {
    std::vector<Step> steps;
    int first_stage = 0;
    for (std::size_t i = 0; i < plan_.digits.size(); ++i) {
      const Digit& digit = plan_.digits[i];
      Mask others(plan_.digits.size(), true);
      others[i] = false;
      for (const auto& message : pairwise(digit.exchange, digit.radix, digit.of(number))) {
        const int peer = digit.with(number, message.peer);
        const Chunks blocks = like({peer}, others);
        steps.push_back({first_stage + message.stage, Step::Kind::send, peer, blocks});
        steps.push_back({first_stage + message.stage, Step::Kind::swap, peer, blocks});
      }
      first_stage += stages_of_digit(plan_.operation, digit);
    }
    return steps;
  }

  WordPlan plan_;
  bool mirrored_;
  std::vector<std::size_t> places_;
  int core_stages_;
  int first_stage_ = 0;                    ///< first stage of the leaders
  std::vector<std::vector<int>> members_;  ///< by number of the leader: the ranks of its group, itself first
  std::vector<Place> place_of_;            ///< by rank
};

/// Generates the steps of all ranks: stripe by stripe, each in its part of the chunks.
class StripedGenerator {
 public:
  explicit StripedGenerator(const WordPlan& plan) {
    const int chunks = chunks_of(plan) / plan.stripes;
    for (int stripe = 0; stripe < plan.stripes; ++stripe) {
      auto one = stripe_of(plan, stripe);
      const int own_chunks = chunks_of(one);
      stripes_.push_back({Generator(std::move(one), is_mirrored(plan, stripe)), stripe * chunks,
                          chunks / own_chunks, plan.rails > 1 ? stripe % plan.rails : network::any_rail});
    }
  }

  std::vector<Step> steps(int rank) const {
    if (stripes_.size() == 1) return stripes_.front().generator.steps(rank);
    std::vector<Step> all;
    for (const auto& [generator, first, length, rail] : stripes_) {
      for (Step& step : generator.steps(rank)) {
        step.rail = rail;
        for (ChunkRange& range : step.chunks)
          range = {first + range.begin * length, first + range.end * length};
        all.push_back(std::move(step));
      }
    }
    std::ranges::stable_sort(all, {}, &Step::stage);
    return all;
  }

 private:
  struct Stripe {
    Generator generator;
    int first;   ///< first of its chunks
    int length;  ///< length of what is one chunk to its generator
    int rail;
  };
  std::vector<Stripe> stripes_;
};

}  // namespace

int stages_of(const WordPlan& plan) {
  if (plan.stripes > 1) {
    int most = 0;
    for (int stripe = 0; stripe < plan.stripes; ++stripe)
      most = std::max(most, stages_of(stripe_of(plan, stripe)));
    return most;
  }
  const int folds = plan.groups.empty()
                        ? 0
                        : (folds_before(plan.operation) ? 1 : 0) + (folds_after(plan.operation) ? 1 : 0);
  return core_stages(plan) + folds * fold_stages(plan);
}

int chunks_of(const WordPlan& plan) {
  if (type_of(plan.operation).is_by_rank) return plan.ranks;
  if (plan.stripes > 1) {
    int chunks = 1;
    for (int stripe = 0; stripe < plan.stripes; ++stripe)
      chunks = std::lcm(chunks, chunks_of(stripe_of(plan, stripe)));
    return plan.stripes * chunks;
  }
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
  return StripedGenerator(plan).steps(rank);
}

Schedule expand(const WordPlan& plan) {
  const StripedGenerator generator(plan);
  Schedule schedule{plan.operation,  plan.ranks,        plan.root, chunks_of(plan),
                    stages_of(plan), plan.segmentation, {}};
  for (int rank = 0; rank < plan.ranks; ++rank) schedule.steps.push_back(generator.steps(rank));
  return schedule;
}

}  // namespace ayatori::collectives
