#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/collectives/schedules/schedule.hpp"
#include "ayatori/collectives/words/exchange.hpp"
#include "ayatori/collectives/words/word.hpp"

namespace ayatori::collectives {

/// The order in which the digits of ranks are used up (Imamura, section 4): far first, near last; or near
/// first, far last.
enum class DigitOrder { far_first, near_first };
std::string_view name_of(DigitOrder order);  ///< "FFNL", "NFFL"

/// A digit's radix: how many values it has, and how the ranks that differ in it alone pass on what a letter
/// moves. The paper's digits are binary.
struct Radix {
  int members;
  Exchange exchange = Exchange::direct;

  bool operator==(const Radix&) const = default;
};

/// A digit of the numbers of leaders: those that are a multiple of `stride` apart, less than `stride` *
/// `radix`, may differ in it alone. A split cuts into `radix` parts.
struct Digit {
  int stride;
  int radix;
  Exchange exchange = Exchange::direct;

  int of(int number) const { return number / stride % radix; }
  int with(int number, int value) const { return number + (value - of(number)) * stride; }
  bool operator==(const Digit&) const = default;
};

/// Which messages inside a node, of the long ones that one rank alone gets, are copied once, where that is
/// possible (see comm::NodeChannel).
enum class SingleCopy {
  none,
  moved,  ///< those that replace what is there
  all,    ///< also those that are combined, or whose place is sent from
};
std::string_view name_of(SingleCopy messages);  ///< "none", "moved", "all"
SingleCopy single_copy(std::string_view name);  ///< the value of that name; throws InputError

/// A schedule in the form that generates it. A word is done by leaders, with whom all other ranks are in one
/// group: before it, what a group contributes is brought to its leader, and afterwards the result to the
/// group. Without groups everybody is a leader.
struct WordPlan {
  Operation operation = Operation::broadcast;
  int ranks = 1;
  int root = 0;
  Word word;                  ///< word of operations with words; the others merge or split every digit
  std::vector<Digit> digits;  ///< in the order in which they are used up; they number the leaders
  std::vector<int> order;     ///< the rank at every position; empty: position p is rank p
  std::vector<int> groups;  ///< the positions at which groups begin, and with which they are led; empty: all
  Exchange fold = Exchange::direct;  ///< how groups do their part
  Segmentation segmentation;
  /// The buffer is cut into this many parts, each of which goes through the word on its own: the next part
  /// with the digit first that is second for this one, so that parts use different levels, directions or
  /// ports at one time; and when all digits have been first, the other way round every group.
  int stripes = 1;
  int rails = 1;                              ///< stripe s is meant for rail s modulo this many; 1: for any
  SingleCopy single_copy = SingleCopy::none;  ///< nothing that the schedule knows of, but who carries it out

  bool operator==(const WordPlan&) const = default;
};

/// The plan of one of the stripes, but for its direction.
WordPlan stripe_of(const WordPlan& plan, int stripe);

/// The digits that the letters use, as places in plan.digits: a merge that of its split.
std::vector<std::size_t> digits_by_letter(const WordPlan& plan);

/// Whether a copy of this operation can go so: rings and swings split and merge, they do not combine copies.
bool can_copy(Operation operation, Exchange exchange);

/// `radices`: of the digits, the nearest first; their product is the number of leaders. `groups`: see
/// WordPlan. Throws InputError if it is not, if the root is none of the ranks, if the word has another number
/// of digits, or a copy that combines goes round a ring.
WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order,
                   std::span<const Radix> radices, int root = 0, std::vector<int> groups = {});
/// A plan whose digits are exchanged directly.
WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order,
                   std::span<const int> radices, int root = 0);
/// With binary digits: for powers of two.
WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order, int root = 0);

/// What make_plan() promises of the parts of a plan; for plans that come from elsewhere. Throws InputError.
void check_plan(const WordPlan& plan);

/// Such as "MCS of 4 (stride 8, ring), 2 (stride 1); 16 segments".
std::string describe(const WordPlan& plan);

}  // namespace ayatori::collectives
