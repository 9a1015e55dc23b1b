#include "ayatori/collectives/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/cost.hpp"
#include "ayatori/collectives/replay.hpp"
#include "ayatori/collectives/validate.hpp"

namespace ayatori::collectives {

namespace {

/// Of every state of the dynamic program so many ways are kept.
constexpr std::size_t beam = 3;

/// Of a pipeline: an MPI keeps track of so many messages of a rank with ease.
constexpr int most_under_way = 16;

/// More messages have to pay, as their own costs are known least.
constexpr double worth_more_messages = 0.98;

constexpr DigitOrder orders[] = {DigitOrder::near_first, DigitOrder::far_first};

/// Whether all ranks do words whose digits are exchanged directly, and nothing else is tried.
bool is_plain(const SearchOptions& options) {
  return options.words_only || options.keeps_order || options.reproducible;
}

/// Which ranks do the word, and in which order they are numbered: see WordPlan.
struct Layout {
  std::vector<int> order;
  std::vector<int> groups;
  Exchange fold = Exchange::direct;
  std::vector<int> leaders;  ///< their ranks
};

/// Ranks of a group next to each other, at every level.
std::vector<int> order_by_levels(const machine::Profile& profile, int ranks) {
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  for (const auto& level : profile.levels) {
    std::ranges::stable_sort(order, {}, [&](int rank) { return level.structure.group_of[rank]; });
  }
  return order;
}

std::vector<Layout> layouts_of(Operation operation, int ranks, const machine::Profile& profile,
                               const SearchOptions& options) {
  std::vector<int> natural(ranks);
  std::iota(natural.begin(), natural.end(), 0);
  std::vector<Layout> layouts{{{}, {}, Exchange::direct, natural}};
  if (is_plain(options) || operation == Operation::alltoall) return layouts;
  const auto order = order_by_levels(profile, ranks);
  const auto kept_order = order == natural ? std::vector<int>() : order;
  if (!kept_order.empty()) layouts.push_back({kept_order, {}, Exchange::direct, order});
  const auto add_groups = [&](const std::vector<int>& groups) {
    std::vector<int> leaders;
    for (const int position : groups) leaders.push_back(order[position]);
    for (const Exchange fold : {Exchange::direct, Exchange::doubling})
      layouts.push_back({kept_order, groups, fold, leaders});
  };
  for (const auto& level : profile.levels) {
    std::vector<int> groups;
    for (int position = 0; position < ranks; ++position) {
      const auto group_at = [&](int p) { return level.structure.group_of[order[p]]; };
      if (position == 0 || group_at(position) != group_at(position - 1)) groups.push_back(position);
    }
    if (std::ssize(groups) > 1 && std::ssize(groups) < ranks) add_groups(groups);
  }
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  if (core < ranks) {
    std::vector<int> groups;
    for (int position = 0; position < ranks; ++position) {
      const bool is_folded = position < 2 * (ranks - core) && position % 2 == 1;
      if (!is_folded) groups.push_back(position);
    }
    add_groups(groups);
  }
  return layouts;
}

/// What a letter does, for pricing: operations without words have one of these for every digit.
enum class Move { spread_copy, spread_parts, combine_copy, combine_parts, collect, swap };

bool goes_backwards(Operation operation) {
  return operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::reduce_scatter;
}

/// A way through some of the digits.
struct Way {
  double seconds = 0;
  Word word;
  std::vector<Radix> radices;  ///< in the order in which they are used up
};

/// How many leaders a group of every level has, if that is the same for all: radices, the nearest first.
std::optional<std::vector<int>> radices_of_levels(const machine::Profile& profile, const Layout& layout) {
  std::vector<int> radices;
  int product = 1;
  for (const auto& level : profile.levels) {
    std::map<int, int> sizes;
    for (const int leader : layout.leaders) ++sizes[level.structure.group_of[leader]];
    const int size = sizes.begin()->second;
    const bool is_same = std::ranges::all_of(sizes, [&](const auto& entry) { return entry.second == size; });
    if (!is_same || size % product != 0) return std::nullopt;
    if (size > product) radices.push_back(size / product);
    product = size;
  }
  return radices;
}

/// The moves of one operation among the leaders of a layout, with digits near first or far first, and the
/// words that are made of them.
class Program {
 public:
  Program(Operation operation, const Layout& layout, DigitOrder order, const Network& network,
          const SearchOptions& options)
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

  /// The least-time ways to use up all digits for a buffer of this size, the best first.
  std::vector<Way> best_ways(double bytes) {
    bytes_ = bytes;
    prices_.clear();
    ways_.clear();
    auto found = ways(1, leaders_, 1);
    const double folding = folding_seconds();
    for (Way& way : found) way.seconds += folding;
    return found;
  }

  /// Restricts the digits to these radices, the first used up first.
  void fix_radices(const std::vector<int>& radices) {
    fixed_.clear();
    for (int product = 1; const int radix : radices) {
      fixed_[product] = radix;
      product *= radix;
    }
  }

  WordPlan plan_of(const Way& way, int ranks, Segmentation segmentation = {}) const {
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

  /// A word in segments, whose busiest parts add up.
  Load load_of_pipeline(const Way& way) {
    Load load;
    const auto add = [&](const Load& move, double share) {
      for (StageLoad stage : move.stages) load.stages.push_back(stage *= share);
      StageLoad together = move.together;
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

  /// The ways of pipelines: a digit for every level of the machine, or one for all.
  std::vector<Way> pipelines(const machine::Profile& profile) const {
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

 private:
  int stride_of(int used, int members) const {
    return order_ == DigitOrder::near_first ? used : leaders_ / (used * members);
  }

  Move copy_move() const {
    return operation_ == Operation::allreduce ? Move::combine_copy : Move::spread_copy;
  }
  Move split_move() const {
    return operation_ == Operation::allreduce ? Move::combine_parts : Move::spread_parts;
  }
  bool is_from_one() const {
    return operation_ == Operation::broadcast || operation_ == Operation::reduce ||
           operation_ == Operation::scatter || operation_ == Operation::gather;
  }

  /// Whether a leader takes part when so many are reached.
  bool is_reached(int number, int used) const {
    if (!is_from_one()) return true;
    return order_ == DigitOrder::near_first ? number < used : number % (leaders_ / used) == 0;
  }

  /// What the stages of a move ask, as shares of the piece that it is done with. `used`: leaders that were
  /// reached before the digit was used up; `merging`: when it is merged.
  const Load& loads(Move move, int used, const Radix& radix, int merging) {
    if (!is_from_one()) merging = 0;
    const auto key = std::tuple(move, used, radix.members, radix.exchange, merging);
    const auto known = loads_.find(key);
    if (known != loads_.end()) return known->second;
    const int members = radix.members;
    const int stride = stride_of(used, members);
    const int reached = move == Move::collect ? merging : used;
    std::vector<std::vector<Message>> stages;
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
    Load& result = loads_[key];
    std::vector<Message> all;
    for (const auto& messages : stages) {
      result.stages.push_back(load_of(messages, network_));
      all.insert(all.end(), messages.begin(), messages.end());
    }
    result.together = load_of(all, network_);
    return result;
  }

  double price(Move move, int used, const Radix& radix, int merging, double share) {
    if (!is_from_one()) merging = 0;
    const auto key = std::tuple(move, used, radix.members, radix.exchange, merging, share);
    const auto [place, is_new] = prices_.emplace(key, 0.0);
    if (is_new) {
      for (const StageLoad& stage : loads(move, used, radix, merging).stages)
        place->second += predict_seconds(stage, network_, share * bytes_);
    }
    return place->second;
  }

  /// Two members exchange alike in every way; and a swing differs from doubling by where its partners are, of
  /// which only the times of pairs tell.
  bool may_exchange(const Radix& radix) const {
    if (radix.exchange == Exchange::direct) return radix.members <= options_.most_radix;
    if (radix.exchange == Exchange::swing && !network_.knows_pairs()) return false;
    return radix.members > 2 && can_exchange(radix.exchange, radix.members);
  }

  std::vector<Radix> radices(int used, int target) const {
    std::vector<Radix> all;
    for (const int members : divisors_) {
      if (members < 2 || target % (used * members) != 0) continue;
      const auto fixed = fixed_.find(used);
      if (!fixed_.empty() && (fixed == fixed_.end() || fixed->second != members)) continue;
      for (const Exchange exchange : all_exchanges) {
        const bool is_other = exchange != Exchange::direct;
        if (may_exchange({members, exchange}) && !(is_other && is_plain(options_)))
          all.push_back({members, exchange});
      }
    }
    return all;
  }

  /// From `used` leaders to `target` with pieces of 1 / parts.
  const std::vector<Way>& ways(int used, int target, int parts) {
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

  /// A digit of an operation without words.
  void add_digit(std::vector<Way>& best, int used, const Radix& radix, const std::vector<Way>& rests) {
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

  template <class Make>
  static void keep(std::vector<Way>& best, double seconds, const Make& make) {
    if (best.size() == beam && seconds >= best.back().seconds) return;
    Way way = make();
    way.seconds = seconds;
    best.insert(std::ranges::upper_bound(best, seconds, {}, &Way::seconds), std::move(way));
    if (best.size() > beam) best.pop_back();
  }

  static void append(Way& way, const Way& rest) {
    way.word.insert(way.word.end(), rest.word.begin(), rest.word.end());
    way.radices.insert(way.radices.end(), rest.radices.begin(), rest.radices.end());
  }

  /// What groups do before and after: the steps of a plan that has no others.
  void find_folding() {
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
    for (Load* load : {&fold_before_, &fold_after_}) {
      auto part = schedule;
      for (auto& steps : part.steps) {
        std::erase_if(steps,
                      [&](const Step& step) { return (step.stage < first) != (load == &fold_before_); });
      }
      *load = load_of(part, network_);
      std::erase_if(load->stages, [](const StageLoad& stage) { return stage.rank.both == 0; });
    }
  }

  double folding_seconds() const {
    double seconds = 0;
    for (const Load* load : {&fold_before_, &fold_after_}) {
      for (const StageLoad& stage : load->stages) seconds += predict_seconds(stage, network_, bytes_);
    }
    return seconds;
  }

  Operation operation_;
  const Layout& layout_;
  DigitOrder order_;
  const Network& network_;
  const SearchOptions& options_;
  int leaders_;
  std::vector<int> divisors_;
  std::map<int, int> fixed_;  ///< the radix after so many leaders
  Load fold_before_;
  Load fold_after_;
  std::map<std::tuple<Move, int, int, Exchange, int>, Load> loads_;
  double bytes_ = 0;  ///< for which prices and ways are
  std::map<std::tuple<Move, int, int, Exchange, int, double>, double> prices_;
  std::map<std::tuple<int, int, int>, std::vector<Way>> ways_;
};

/// The candidates for one size that are worth a closer look.
class Finalists {
 public:
  explicit Finalists(std::size_t most) : most_(most) {}

  template <class Make>
  void add(double seconds, const Make& make) {
    if (list_.size() == most_ && seconds >= list_.back().seconds) return;
    Candidate candidate{make(), seconds, 0};
    if (std::ranges::find(list_, candidate.plan, &Candidate::plan) != list_.end()) return;
    list_.insert(std::ranges::upper_bound(list_, seconds, {}, &Candidate::seconds), std::move(candidate));
    if (list_.size() > most_) list_.pop_back();
  }

  std::vector<Candidate> take() { return std::move(list_); }

 private:
  std::size_t most_;
  std::vector<Candidate> list_;
};

double seconds_of_word(Operation operation, int ranks, const Word& word, const Network& network,
                       std::int64_t bytes) {
  const auto plan = make_plan(operation, ranks, word, DigitOrder::near_first);
  return predict_seconds(load_of(expand(plan), network), network, static_cast<double>(bytes));
}

/// The best by the model first, and none that it is too far from what has been replayed to win.
void replay(std::vector<Candidate>& finalists, const Network& network, double bytes) {
  constexpr double farthest = 1.5;
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(finalists, [&](Candidate& candidate) {
    if (candidate.seconds > farthest * least) return true;
    candidate.replayed_seconds = Replay(expand(candidate.plan), network).seconds(bytes);
    least = std::min(least, candidate.replayed_seconds);
    return false;
  });
}

bool is_possible(const WordPlan& plan) {
  try {
    check_plan(plan);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Stripes are meant for rails of their own where that costs nothing: then no two of them have to meet in
/// one.
void give_rails(Candidate& candidate, const Network& network, double bytes) {
  WordPlan plan = candidate.plan;
  plan.rails = std::min(network.rails(), plan.stripes);
  if (plan.rails == 1) return;
  constexpr double rounding = 1 + 1e-6;
  const double replayed = Replay(expand(plan), network).seconds(bytes);
  if (replayed <= candidate.replayed_seconds * rounding) candidate.plan = std::move(plan);
}

/// Replays find other numbers of stripes for the best candidates, and of segments and stages under way for
/// those that are pipelines, step by step.
void refine(std::vector<Candidate>& finalists, const Network& network, double bytes, int most_segments) {
  constexpr std::size_t refined = 2;
  for (std::size_t i = 0; i < std::min(refined, finalists.size()); ++i) {
    Candidate& best = finalists[i];
    const int digits = static_cast<int>(best.plan.digits.size());
    if (digits == 0) continue;
    for (bool improves = true; improves;) {
      improves = false;
      const WordPlan from = best.plan;
      const auto attempt = [&](int segments, int under_way, int stripes) {
        if (segments > most_segments || under_way < 1 || under_way > most_under_way) return;
        WordPlan plan = from;
        plan.segmentation = {segments, under_way};
        plan.stripes = stripes;
        if (plan == from || !is_possible(plan)) return;
        const auto schedule = expand(plan);
        const double replayed = Replay(schedule, network).seconds(bytes);
        if (replayed >= best.replayed_seconds * worth_more_messages) return;
        const double seconds =
            predict_seconds(load_of(schedule, network), network, bytes, segments, under_way);
        best = {std::move(plan), seconds, replayed};
        improves = true;
      };
      const auto [segments, under_way] = from.segmentation;
      for (const int stripes : std::set{1, 2, digits, 2 * digits, network.rails()})
        attempt(segments, under_way, stripes);
      if (segments == 1) continue;
      attempt(2 * segments, under_way, from.stripes);
      if (segments > 2) attempt(segments / 2, under_way, from.stripes);
      attempt(segments, 2 * under_way, from.stripes);
      attempt(segments, under_way / 2, from.stripes);
    }
    give_rails(best, network, bytes);
  }
  std::ranges::stable_sort(finalists, {}, &Candidate::replayed_seconds);
}

/// What reproducible results ask for: the same digits for every size, those that suit all sizes best.
void fix_digits(std::vector<Program>& programs, std::span<const std::int64_t> sizes) {
  std::vector<std::vector<int>> seen;
  for (const auto bytes : sizes) {
    for (const Way& way : programs.front().best_ways(static_cast<double>(bytes))) {
      std::vector<int> radices;
      for (const Radix& radix : way.radices) radices.push_back(radix.members);
      if (std::ranges::find(seen, radices) == seen.end()) seen.push_back(radices);
    }
  }
  double least = std::numeric_limits<double>::infinity();
  std::vector<int> best;
  for (const auto& radices : seen) {
    programs.front().fix_radices(radices);
    double logarithms = 0;
    for (const auto bytes : sizes)
      logarithms += std::log(programs.front().best_ways(static_cast<double>(bytes)).front().seconds);
    if (logarithms >= least) continue;
    least = logarithms;
    best = radices;
  }
  programs.front().fix_radices(best);
}

}  // namespace

std::vector<Choice> search(Operation operation, int ranks, const machine::Profile& profile,
                           std::span<const std::int64_t> sizes, const SearchOptions& options) {
  const auto& type = type_of(operation);
  operation = type.schedule;
  if (ranks < 1) throw InputError(fmt::format("{} ranks: at least one is needed", ranks));
  const Network network(profile, ranks);
  const auto layouts = layouts_of(operation, ranks, profile, options);
  std::vector<Program> programs;
  for (const Layout& layout : layouts) {
    for (const DigitOrder order : orders) {
      if (options.reproducible && order != DigitOrder::near_first) continue;
      programs.emplace_back(operation, layout, order, network, options);
    }
  }
  if (options.reproducible && type.reduces) fix_digits(programs, sizes);

  struct Pipeline {
    std::size_t program;
    Way way;
    Load load;
  };
  std::vector<Pipeline> pipes;
  const bool may_pipeline = type.has_words && !is_plain(options) && options.most_segments > 1 && ranks > 1;
  for (std::size_t p = 0; may_pipeline && p < programs.size(); ++p) {
    for (Way& way : programs[p].pipelines(profile)) {
      auto load = programs[p].load_of_pipeline(way);
      pipes.push_back({p, std::move(way), std::move(load)});
    }
  }

  std::vector<Choice> choices;
  for (const auto size : sizes) {
    const auto bytes = static_cast<double>(size);
    Choice& choice = choices.emplace_back();
    choice.bytes = size;
    // Half of the places are for pipelines, whose times the model knows less well.
    const auto places = static_cast<std::size_t>(std::max(options.finalists, 2));
    Finalists whole(places - places / 2);
    Finalists pipelined(places / 2);
    for (Program& program : programs) {
      for (const Way& way : program.best_ways(bytes))
        whole.add(way.seconds, [&] { return program.plan_of(way, ranks); });
    }
    for (const Pipeline& pipe : pipes) {
      double least = std::numeric_limits<double>::infinity();
      int segments = 0;
      int under_way = 1;
      for (int s = 2; s <= options.most_segments && s <= size; s *= 2) {
        for (const int most : {1, most_under_way}) {
          const int ways = segments_under_way(pipe.load, network, bytes / s, most);
          const double seconds = predict_seconds(pipe.load, network, bytes, s, ways);
          if (seconds >= least * worth_more_messages) continue;
          least = seconds;
          segments = s;
          under_way = ways;
        }
      }
      if (segments == 0) continue;
      pipelined.add(least, [&] {
        return programs[pipe.program].plan_of(pipe.way, ranks, {segments, under_way});
      });
    }
    choice.finalists = whole.take();
    for (Candidate& candidate : pipelined.take()) choice.finalists.push_back(std::move(candidate));
    std::ranges::stable_sort(choice.finalists, {}, &Candidate::seconds);
    if (options.keeps_order && type.reduces) {
      std::erase_if(choice.finalists,
                    [](const Candidate& c) { return !reduction_order(expand(c.plan)).keeps_ranks; });
    }
    if (choice.finalists.empty())
      throw InputError(fmt::format("no plan for {} of {} ranks: allow digits of more than {} members",
                                   type.name, ranks, options.most_radix));
    if (options.finalists > 0) {
      replay(choice.finalists, network, bytes);
      std::ranges::stable_sort(choice.finalists, {}, &Candidate::replayed_seconds);
      if (type.has_words && !is_plain(options))
        refine(choice.finalists, network, bytes, options.most_segments);
    }
    if (!type.has_words || !std::has_single_bit(static_cast<unsigned>(ranks))) continue;
    const int digits = std::countr_zero(static_cast<unsigned>(ranks));
    choice.binomial_seconds = seconds_of_word(operation, ranks, hybrid1(digits, 0), network, size);
    choice.rabenseifner_seconds = seconds_of_word(operation, ranks, hybrid1(digits, digits), network, size);
  }
  return choices;
}

}  // namespace ayatori::collectives
