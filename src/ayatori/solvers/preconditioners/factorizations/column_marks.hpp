#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ayatori/base/array.hpp"

namespace ayatori::solvers {

static_assert(std::endian::native == std::endian::little, "the first byte of a word is its lowest");

/// A set of columns, marked in any order and met by ascending numbers. Marks are bytes, so that a column is
/// marked by stores alone, and looked at eight at a time; 64 columns share a mark of their own.
class ColumnMarks {
 public:
  explicit ColumnMarks(std::int32_t columns)
      : marks_(room(columns, group_bits), 0), groups_(room(columns >> group_bits, word_bits), 0) {}

  void mark(std::int32_t j) {
    marks_[j] = 1;
    groups_[j >> group_bits] = 1;
  }

  /// The smallest column beyond `j`, where there is one; marks that are left behind are taken away.
  std::int32_t next(std::int32_t j) {
    std::int32_t place = j >> word_bits;
    Word found = beyond(j);
    while (found == 0) found = advance(place);
    return first_of(found, place);
  }

  /// Calls f for all columns beyond `j` up to `last`, the last one, and takes all marks away.
  template <class F>
  void drain(std::int32_t j, std::int32_t last, F&& f) {
    std::int32_t place = j >> word_bits;
    for (Word found = beyond(j);; found = advance(place)) {
      for (; found != 0; found &= found - 1) f(first_of(found, place));
      if (place == last >> word_bits) break;
    }
    clear(place);
    groups_[last >> group_bits] = 0;
  }

 private:
  using Word = std::uint64_t;
  static constexpr int word_bits = 3;  ///< 8 marks are a word
  static constexpr int group_bits = 6;
  static constexpr int words_bits = group_bits - word_bits;  ///< words of a group
  static constexpr std::int32_t word = 1 << word_bits;

  /// Bytes for marks up to the last, in whole units of 2^bits.
  static std::size_t room(std::int32_t last, int bits) {
    return (static_cast<std::size_t>(last >> bits) + 1) << bits;
  }
  static Word word_of(const Array<std::uint8_t>& marks, std::int32_t place) {
    Word bytes = 0;
    std::memcpy(&bytes, marks.data() + std::ptrdiff_t{place} * word, word);
    return bytes;
  }
  static std::int32_t first_of(Word bytes, std::int32_t place) {
    return (place << word_bits) + (std::countr_zero(bytes) >> 3);
  }
  void clear(std::int32_t place) { std::memset(marks_.data() + std::ptrdiff_t{place} * word, 0, word); }

  Word beyond(std::int32_t j) const {
    const Word byte_of_j = Word{0xff} << (8 * (j & (word - 1)));
    return word_of(marks_, j >> word_bits) & ~(byte_of_j | (byte_of_j - 1));
  }
  /// Leaves a word for the next one that may have marks; gives that.
  Word advance(std::int32_t& place) {
    clear(place);
    ++place;
    const bool leaves_group = (place & ((1 << words_bits) - 1)) == 0;
    if (leaves_group) place = next_group((place >> words_bits) - 1) << words_bits;
    return word_of(marks_, place);
  }
  std::int32_t next_group(std::int32_t left) {
    groups_[left] = 0;
    std::int32_t place = left >> word_bits;
    Word found = word_of(groups_, place);
    while (found == 0) found = word_of(groups_, ++place);
    return first_of(found, place);
  }

  Array<std::uint8_t> marks_;
  Array<std::uint8_t> groups_;
};

}  // namespace ayatori::solvers
