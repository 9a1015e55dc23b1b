#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/search/layout.hpp"
#include "ayatori/collectives/search/search_options.hpp"
#include "ayatori/collectives/words/word_plan.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/network/hierarchy.hpp"

namespace ayatori::collectives {

/// A way through some of the digits.
struct Way {
  double seconds = 0;
  Word word;
  std::vector<Radix> radices;  ///< in the order in which they are used up
};

/// The moves of one operation among the leaders of a layout, with digits near first or far first, and the
/// words that are made of them.
class WordProgram {
 public:
  WordProgram(Operation operation, const Layout& layout, DigitOrder order, const network::Hierarchy& network,
              const SearchOptions& options);

  /// The least-time ways to use up all digits for a buffer of this size, the best first.
  std::vector<Way> best_ways(double bytes);

  /// Restricts the digits to these radices, the first used up first.
  void fix_radices(const std::vector<int>& radices);

  WordPlan plan_of(const Way& way, int ranks, Segmentation segmentation = {}) const;

  /// A word in segments, whose busiest parts add up.
  ScheduleLoad load_of_pipeline(const Way& way);

  /// The ways of pipelines: a digit for every level of the machine, or one for all.
  std::vector<Way> pipelines(const machine::Profile& profile) const;

 private:
  /// What a letter does, for pricing: operations without words have one of these for every digit.
  enum class Move { spread_copy, spread_parts, combine_copy, combine_parts, collect, swap };

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

  /// Whether a leader takes part when this many are reached.
  bool is_reached(int number, int used) const {
    if (!is_from_one()) return true;
    return order_ == DigitOrder::near_first ? number < used : number % (leaders_ / used) == 0;
  }

  /// What the stages of a move ask, as shares of the piece that it is done with. `used`: leaders that were
  /// reached before the digit was used up; `merging`: when it is merged.
  const ScheduleLoad& loads(Move move, int used, const Radix& radix, int merging);

  double price(Move move, int used, const Radix& radix, int merging, double share);

  /// Two members exchange alike in every way; and a swing differs from doubling by where its partners are, of
  /// which only the times of pairs tell.
  bool may_exchange(const Radix& radix) const;

  std::vector<Radix> radices(int used, int target) const;

  /// From `used` leaders to `target` with pieces of 1 / parts.
  const std::vector<Way>& ways(int used, int target, int parts);

  /// A digit of an operation without words.
  void add_digit(std::vector<Way>& best, int used, const Radix& radix, const std::vector<Way>& rests);

  /// What groups do before and after: the steps of a plan that has no others.
  void find_folding();

  double folding_seconds() const;

  Operation operation_;
  const Layout& layout_;
  DigitOrder order_;
  const network::Hierarchy& network_;
  const SearchOptions& options_;
  int leaders_;
  std::vector<int> divisors_;
  std::map<int, int> fixed_;  ///< the radix after this many leaders
  ScheduleLoad fold_before_;
  ScheduleLoad fold_after_;
  std::map<std::tuple<Move, int, int, Exchange, int>, ScheduleLoad> loads_;
  double bytes_ = 0;  ///< for which prices and ways are
  std::map<std::tuple<Move, int, int, Exchange, int, double>, double> prices_;
  std::map<std::tuple<int, int, int>, std::vector<Way>> ways_;
};

}  // namespace ayatori::collectives
