#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ayatori::io::harwell_boeing {

/// A Fortran format of equal fields, for example (1P,4D20.12).
struct NumberFormat {
  int per_line = 0;
  int width = 0;
  int decimals = 0;          ///< digits behind the point where a number has none
  int scale = 0;             ///< k of kP: a number without exponent is divided by 10^k
  bool integer = false;      ///< true for whole numbers, (16I5)
  bool exponential = false;  ///< with E, D or G
};

/// The longest line that a format may ask for, in characters.
inline constexpr int longest_line = 1024;

/// Parses the format of integers, (16I5), or of values, which may be integers or reals: (10F8.2) with any of
/// F, E, D, G. Throws InputError, which names no place.
NumberFormat parse_integer_format(std::string_view text);
NumberFormat parse_value_format(std::string_view text);

/// The number in a field, as Fortran reads it, but for blank fields and blanks between digits, which are
/// signs of damage. Throw InputError, which names no place.
std::int64_t parse_integer_field(std::string_view field);
double parse_value_field(std::string_view field, const NumberFormat& format);

/// Whether the format alone says where this number has its point: in a file that does not keep to its format
/// that is a guess.
bool needs_format(std::string_view field, const NumberFormat& format);

/// The numbers of a line that does not keep to its columns. They end at blanks, and where a sign can only
/// begin the next one: after an exponent, 1.0E+00-2.0E+00, or after a whole number, 5-128.
std::vector<std::string_view> split_numbers(std::string_view line);

}  // namespace ayatori::io::harwell_boeing
