#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ayatori::collectives {

/// What all active ranks do with the partner whose number differs in one digit (Imamura, section 3.2).
enum class Letter : char {
  copy = 'C',   ///< all of the current piece
  split = 'S',  ///< half of it; each goes on with its half
  merge = 'M'   ///< all of it, to undo the last split: each goes on with both halves
};

/// A word over the letters, in the order in which they are done. Every copy and split uses up one digit;
/// every merge undoes the last split that is left, so the words are those of Hybrid2 (equations 8 and 9; they
/// are Schroeder paths, with S up, M down and C level).
using Word = std::vector<Letter>;

/// The paper writes products: what is done first stands last. "MMSCCS" begins and ends with S and M.
std::string to_string(const Word& word);

/// Reads what to_string() writes; the empty word is that of one rank. Throws InputError for other letters, a
/// merge without a split, and splits that are not merged.
Word parse_word(std::string_view text);

/// Digits that the word uses up.
int digits_of(const Word& word);
/// The most splits that are open at once.
int depth_of(const Word& word);

/// Every Hybrid2 word of this many digits, in alphabetical order of to_string(): 2, 6, 22, 90, 394, 1806, ...
/// (the large Schroeder numbers). Throws InputError beyond `most_digits`.
std::vector<Word> hybrid2_words(int digits);
inline constexpr int most_digits = 12;

/// Hybrid1 (equation 7): j splits, copies, and j merges.
Word hybrid1(int digits, int splits);

/// Words of this many digits without those in which a split is merged at once: where digits are exchanged
/// directly, that is never better than a copy, which moves the same bytes in half the stages. Catalan-many.
std::vector<Word> worthwhile_words(int digits);

}  // namespace ayatori::collectives
