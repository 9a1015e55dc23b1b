#include "ayatori/collectives/search/word_program.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "ayatori/collectives/schedules/schedule.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {

namespace {

/// Ways that are kept of every state of the dynamic program.
constexpr std::size_t beam = 3;

bool goes_backwards(Operation operation) {
  return operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::reduce_scatter;
}

/// Adds a way if it is among the best.
template <class Make>
void keep(std::vector<Way>& best, double seconds, const Make& make) {
  if (best.size() == beam && seconds >= best.back().seconds) return;
  Way way = make();
  way.seconds = seconds;
  best.insert(std::ranges::upper_bound(best, seconds, {}, &Way::seconds), std::move(way));
  if (best.size() > beam) best.pop_back();
}

void append(Way& way, const Way& rest) {
  way.word.insert(way.word.end(), rest.word.begin(), rest.word.end());
  way.radices.insert(way.radices.end(), rest.radices.begin(), rest.radices.end());
}

}  // namespace

WordProgram::WordProgram(Operation operation, const Layout& layout, DigitOrder order,
                         const network::Hierarchy& network, const SearchOptions& options)
    : operation_(operation),
      layout_(layout),
      order_(order),
      network_(network),
      options_(options),
      leaders_(static_cast<int>(layout.leaders.size())) {
  for (int d = 1; d <= leaders_; ++d) {
    if (leaders_ % d == 0) divisors_.push_back(d);
  }
  if (!layout.groups.empty()) find_folding();
}

std::vector<Way> WordProgram::best_ways(double bytes) {
  bytes_ = bytes;
  prices_.clear();
  ways_.clear();
  auto found = ways(1, leaders_, 1);
  const double folding = folding_seconds();
  for (Way& way : found) way.seconds += folding;
  return found;
}

void WordProgram::fix_radices(const std::vector<int>& radices) {
  fixed_.clear();
  for (int product = 1; const int radix : radices) {
    fixed_[product] = radix;
    product *= radix;
  }
}

WordPlan WordProgram::plan_of(const Way& way, int ranks, Segmentation segmentation) const {
  WordPlan plan{operation_,
                ranks,
                0,
                type_of(operation_).has_words ? way.word : Word(),
                {},
                layout_.order,
                layout_.groups,
                layout_.fold,
                segmentation};
  int used = 1;
  for (const Radix& radix : way.radices) {
    plan.digits.push_back({stride_of(used, radix.members), radix.members, radix.exchange});
    used *= radix.members;
  }
  return plan;
}

ScheduleLoad WordProgram::load_of_pipeline(const Way& way) {
  ScheduleLoad load;
  const auto add = [&](const ScheduleLoad& move, double share) {
    for (network::Load stage : move.stages) load.stages.push_back(stage *= share);
    network::Load together = move.together;
    load.together += together *= share;
  };
  add(fold_before_, 1);
  std::vector<std::pair<int, Radix>> open;
  int used = 1;
  std::size_t next = 0;
  double share = 1;
  for (const Letter letter : way.word) {
    if (letter == Letter::merge) {
      const auto [before, radix] = open.back();
      open.pop_back();
      share *= radix.members;
      add(loads(Move::collect, before, radix, used), share);
      continue;
    }
    const Radix radix = way.radices[next++];
    add(loads(letter == Letter::copy ? copy_move() : split_move(), used, radix, 0), share);
    if (letter == Letter::split) {
      open.emplace_back(used, radix);
      share /= radix.members;
    }
    used *= radix.members;
  }
  add(fold_after_, 1);
  return load;
}

std::vector<Way> WordProgram::pipelines(const machine::Profile& profile) const {
  std::vector<std::vector<int>> lists{{leaders_}};
  const auto of_levels = radices_of_levels(profile, layout_);
  if (of_levels && of_levels->size() > 1) lists.push_back(*of_levels);
  std::vector<Way> all;
  for (auto& list : lists) {
    if (order_ == DigitOrder::far_first) std::ranges::reverse(list);
    const auto digits = static_cast<int>(list.size());
    constexpr int most_digits_of_all_words = 3;
    auto words = digits <= most_digits_of_all_words ? hybrid2_words(digits) : std::vector<Word>();
    for (int splits = 0; words.empty() && splits <= digits; ++splits)
      words.push_back(hybrid1(digits, splits));
    int ways = 1;
    constexpr int exchanges = static_cast<int>(std::size(all_exchanges));
    for (int d = 0; d < digits; ++d) ways *= exchanges;
    for (int number = 0; number < ways; ++number) {
      std::vector<Radix> radices;
      bool is_possible = true;
      for (int d = 0, rest = number; d < digits; ++d, rest /= exchanges) {
        radices.push_back({list[d], all_exchanges[rest % exchanges]});
        is_possible = is_possible && list[d] > 1 && may_exchange(radices[d]);
      }
      if (!is_possible) continue;
      for (const Word& word : words) {
        bool is_doable = true;
        std::size_t next = 0;
        for (const Letter letter : word) {
          if (letter == Letter::merge) continue;
          const Exchange exchange = radices[next++].exchange;
          is_doable = is_doable && (letter == Letter::split || can_copy(operation_, exchange));
        }
        if (is_doable) all.push_back({0, word, radices});
      }
    }
  }
  return all;
}

const ScheduleLoad& WordProgram::loads(Move move, int used, const Radix& radix, int merging) {
  if (!is_from_one()) merging = 0;
  const auto key = std::tuple(move, used, radix.members, radix.exchange, merging);
  const auto known = loads_.find(key);
  if (known != loads_.end()) return known->second;
  const int members = radix.members;
  const int stride = stride_of(used, members);
  const int reached = move == Move::collect ? merging : used;
  std::vector<std::vector<network::Message>> stages;
  const auto add = [&](int stage, int base, int from, int to, double share, bool is_reduced) {
    if (std::ssize(stages) <= stage) stages.resize(stage + 1);
    const auto rank = [&](int member) { return layout_.leaders[base + member * stride]; };
    if (goes_backwards(operation_)) {
      std::swap(from, to);
      is_reduced = type_of(operation_).reduces;
    }
    stages[stage].push_back({rank(from), rank(to), share, is_reduced});
  };
  for (int base = 0; base < leaders_; ++base) {
    if (base / stride % members != 0 || !is_reached(base, std::max(reached, 1))) continue;
    const bool has_all = is_from_one() && is_reached(base, used);
    for (int me = 0; me < members; ++me) {
      const auto share = [&](const GroupMessage& message) {
        return move == Move::spread_copy ? 1.0 : static_cast<double>(message.count) / members;
      };
      switch (move) {
        case Move::spread_copy:
        case Move::spread_parts:
          for (const auto& message : one_to_all(radix.exchange, members, me)) {
            if (message.is_sent) add(message.stage, base, me, message.peer, share(message), false);
          }
          break;
        case Move::combine_copy:
          for (const auto& message : combine_on_all(radix.exchange, members, me)) {
            const bool is_last = message.kind == CombineMessage::Kind::replace;
            if (message.kind != CombineMessage::Kind::send)
              add(message.stage, base, message.peer, me, 1, !is_last);
          }
          break;
        case Move::combine_parts:
        case Move::collect:
          for (const auto& message : all_to_all(radix.exchange, members, me)) {
            // the member from which all parts came gets none back
            if (!message.is_sent || (move == Move::collect && has_all && message.peer == 0)) continue;
            if (move == Move::collect)
              add(message.stage, base, me, message.peer, share(message), false);
            else
              add(message.stage, base, message.peer, me, share(message), true);
          }
          break;
        case Move::swap:
          for (const auto& message : pairwise(radix.exchange, members, me))
            add(message.stage, base, me, message.peer, 1.0 / members, false);
          break;
      }
    }
  }
  ScheduleLoad& result = loads_[key];
  std::vector<network::Message> all;
  for (const auto& messages : stages) {
    result.stages.push_back(load_of(messages, network_));
    all.insert(all.end(), messages.begin(), messages.end());
  }
  result.together = load_of(all, network_);
  return result;
}

double WordProgram::price(Move move, int used, const Radix& radix, int merging, double share) {
  if (!is_from_one()) merging = 0;
  const auto key = std::tuple(move, used, radix.members, radix.exchange, merging, share);
  const auto [place, is_new] = prices_.emplace(key, 0.0);
  if (is_new) {
    for (const network::Load& stage : loads(move, used, radix, merging).stages)
      place->second += predict_seconds(stage, network_, share * bytes_);
  }
  return place->second;
}

bool WordProgram::may_exchange(const Radix& radix) const {
  if (radix.exchange == Exchange::direct) return radix.members <= options_.most_radix;
  if (radix.exchange == Exchange::swing && !network_.knows_pairs()) return false;
  return radix.members > 2 && can_exchange(radix.exchange, radix.members);
}

std::vector<Radix> WordProgram::radices(int used, int target) const {
  std::vector<Radix> all;
  for (const int members : divisors_) {
    if (members < 2 || target % (used * members) != 0) continue;
    const auto fixed = fixed_.find(used);
    if (!fixed_.empty() && (fixed == fixed_.end() || fixed->second != members)) continue;
    for (const Exchange exchange : all_exchanges) {
      const bool is_other = exchange != Exchange::direct;
      if (may_exchange({members, exchange}) && !(is_other && options_.is_restricted()))
        all.push_back({members, exchange});
    }
  }
  return all;
}

const std::vector<Way>& WordProgram::ways(int used, int target, int parts) {
  const auto key = std::tuple(used, target, parts);
  const auto known = ways_.find(key);
  if (known != ways_.end()) return known->second;
  std::vector<Way> best;
  if (used == target) best.emplace_back();
  for (const Radix& radix : used == target ? std::vector<Radix>() : radices(used, target)) {
    const int next = used * radix.members;
    if (!type_of(operation_).has_words) {
      add_digit(best, used, radix, ways(next, target, 1));
      continue;
    }
    if (can_copy(operation_, radix.exchange)) {
      const double seconds = price(copy_move(), used, radix, 0, 1.0 / parts);
      for (const Way& rest : ways(next, target, parts)) {
        keep(best, seconds + rest.seconds, [&] {
          Way way{0, {Letter::copy}, {radix}};
          append(way, rest);
          return way;
        });
      }
    }
    const double split = price(split_move(), used, radix, 0, 1.0 / parts);
    for (const int merging : divisors_) {
      if (merging % next != 0 || target % merging != 0) continue;
      // that is never better than a copy
      if (merging == next && radix.exchange == Exchange::direct) continue;
      const double both = split + price(Move::collect, used, radix, merging, 1.0 / parts);
      if (best.size() == beam && both >= best.back().seconds) continue;
      for (const Way& inner : ways(next, merging, parts * radix.members)) {
        for (const Way& rest : ways(merging, target, parts)) {
          keep(best, both + inner.seconds + rest.seconds, [&] {
            Way way{0, {Letter::split}, {radix}};
            append(way, inner);
            way.word.push_back(Letter::merge);
            append(way, rest);
            return way;
          });
        }
      }
    }
  }
  return ways_[key] = std::move(best);
}

void WordProgram::add_digit(std::vector<Way>& best, int used, const Radix& radix,
                            const std::vector<Way>& rests) {
  const double all = leaders_;
  const int next = used * radix.members;
  double seconds = 0;
  switch (operation_) {
    case Operation::scatter:
    case Operation::gather:
      seconds = price(Move::spread_parts, used, radix, 0, 1.0 / used);
      break;
    case Operation::alltoall:
      if (!can_pair(radix.exchange)) return;
      seconds = price(Move::swap, used, radix, 0, 1);
      break;
    default:
      seconds = price(Move::collect, used, radix, leaders_, next / all);
      break;
  }
  for (const Way& rest : rests) {
    keep(best, seconds + rest.seconds, [&] {
      Way way{0, {}, {radix}};
      append(way, rest);
      return way;
    });
  }
}

void WordProgram::find_folding() {
  WordPlan plan = plan_of({}, network_.ranks());
  if (leaders_ > 1) {
    plan.digits.push_back({1, leaders_});
    if (type_of(operation_).has_words) plan.word = {Letter::copy};
  }
  auto schedule = expand(plan);
  std::vector<bool> leads(schedule.ranks, false);
  for (const int leader : layout_.leaders) leads[leader] = true;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    std::erase_if(schedule.steps[rank], [&](const Step& step) { return leads[rank] && leads[step.peer]; });
  }
  // Between the two is at least the stage of the leaders' letter.
  const auto is_empty = [&](int stage) {
    return std::ranges::all_of(schedule.steps, [&](const auto& steps) {
      return std::ranges::find(steps, stage, &Step::stage) == steps.end();
    });
  };
  int first = 0;
  while (first < schedule.stages && !is_empty(first)) ++first;
  for (ScheduleLoad* load : {&fold_before_, &fold_after_}) {
    auto part = schedule;
    for (auto& steps : part.steps) {
      std::erase_if(steps, [&](const Step& step) { return (step.stage < first) != (load == &fold_before_); });
    }
    *load = load_of(part, network_);
    std::erase_if(load->stages, [](const network::Load& stage) { return stage.rank.share.both == 0; });
  }
}

double WordProgram::folding_seconds() const {
  double seconds = 0;
  for (const ScheduleLoad* load : {&fold_before_, &fold_after_}) {
    for (const network::Load& stage : load->stages) seconds += predict_seconds(stage, network_, bytes_);
  }
  return seconds;
}

}  // namespace ayatori::collectives
