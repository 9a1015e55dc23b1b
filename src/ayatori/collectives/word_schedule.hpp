#pragma once

#include <string_view>
#include <vector>

#include "ayatori/collectives/schedule.hpp"
#include "ayatori/collectives/word.hpp"

namespace ayatori::collectives {

/// The order in which the digits of ranks are used up (Imamura, section 4): digit d tells ranks apart that
/// are 2^d apart. Far first, near last; or near first, far last.
enum class DigitOrder { far_first, near_first };
std::string_view name_of(DigitOrder order);  ///< "FFNL", "NFFL"

/// A schedule in the form that generates it: a rank's own steps cost the square of the number of stages, and
/// where the operation is by rank the number of blocks.
struct WordPlan {
  Operation operation = Operation::broadcast;
  int ranks = 1;  ///< a power of two
  int root = 0;
  Word word;                ///< of broadcast, reduce and allreduce; the others merge or split every digit
  std::vector<int> digits;  ///< in the order in which they are used up
};

/// Throws InputError if the ranks are not a power of two, the root is none of them, or the word has other
/// than their number of digits.
WordPlan make_plan(Operation operation, int ranks, const Word& word, DigitOrder order, int root = 0);

int stages_of(const WordPlan& plan);
/// See Schedule.
int chunks_of(const WordPlan& plan);
std::vector<Step> steps_of(const WordPlan& plan, int rank);

/// All ranks' steps, for checking and drawing.
Schedule expand(const WordPlan& plan);

}  // namespace ayatori::collectives
