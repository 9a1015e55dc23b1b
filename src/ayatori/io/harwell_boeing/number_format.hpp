#pragma once

#include <cstdint>
#include <string_view>

namespace ayatori::io::harwell_boeing {

/// A Fortran format of equal fields, for example (1P,4D20.12).
struct NumberFormat {
  int per_line = 0;
  int width = 0;
  int decimals = 0;  ///< digits behind the point where a number has none
  int scale = 0;     ///< k of kP: a number without exponent is divided by 10^k
};

/// The longest line that a format may ask for, in characters.
inline constexpr int longest_line = 1024;

/// Parses the format of integers, (16I5), or of reals, (10F8.2) with any of F, E, D, G. Throws InputError,
/// which names no place.
NumberFormat parse_integer_format(std::string_view text);
NumberFormat parse_real_format(std::string_view text);

/// The number in a field, as Fortran reads it, but for blank fields and blanks between digits, which are
/// signs of damage. Throw InputError, which names no place.
std::int64_t parse_integer_field(std::string_view field);
double parse_real_field(std::string_view field, const NumberFormat& format);

}  // namespace ayatori::io::harwell_boeing
