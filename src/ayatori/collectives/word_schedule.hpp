#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ayatori/collectives/schedule.hpp"
#include "ayatori/collectives/word.hpp"

namespace ayatori::collectives {

/// The order in which the digits of ranks are used up (Imamura, section 4): far first, near last; or near
/// first, far last.
enum class DigitOrder { far_first, near_first };
std::string_view name_of(DigitOrder order);  ///< "FFNL", "NFFL"

/// A digit of the numbers of ranks: ranks that are a multiple of `stride` apart, less than `stride` *
/// `radix`, may differ in it alone. Beyond the paper, whose digits are binary, a letter is done with all
/// radix - 1 partners at once, and a split cuts into `radix` parts.
struct Digit {
  int stride;
  int radix;

  int of(int rank) const { return rank / stride % radix; }
  int with(int rank, int value) const { return rank + (value - of(rank)) * stride; }
};

/// A schedule in the form that generates it: a rank's own steps cost the square of the number of stages, and
/// where the operation is by rank the number of blocks.
struct WordPlan {
  Operation operation = Operation::broadcast;
  int ranks = 1;
  int root = 0;
  Word word;                  ///< of broadcast, reduce and allreduce; the others merge or split every digit
  std::vector<Digit> digits;  ///< in the order in which they are used up
};

/// `radices`: of the digits, the nearest first; their product is the number of ranks. Throws InputError if it
/// is not, if the root is none of the ranks, or if the word has another number of digits.
WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order,
                   std::span<const int> radices, int root = 0);
/// With binary digits: for powers of two.
WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order, int root = 0);

int stages_of(const WordPlan& plan);
/// See Schedule.
int chunks_of(const WordPlan& plan);
std::vector<Step> steps_of(const WordPlan& plan, int rank);

/// All ranks' steps, for checking and drawing.
Schedule expand(const WordPlan& plan);

}  // namespace ayatori::collectives
