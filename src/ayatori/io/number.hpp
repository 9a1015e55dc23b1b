#pragma once

#include <cstdint>

namespace ayatori::io {

// Numbers of a text whose last character is a line end: no loop needs to look for the end of the buffer,
// because every one of them stops at the line end.

inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') <= 9;
}

/// Blanks within a line; the carriage return of a CRLF line end counts as one.
inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// Why a number was refused.
enum class NumberFault { none, not_a_number, not_finite, too_large };

/// Reads [+]digits of at most 18 digits and moves `p` behind them. False: not such a number (it may still be
/// one that parse_integer accepts).
inline bool parse_index(const char*& p, std::int64_t& value) {
  if (*p == '+') ++p;
  const char* const begin = p;
  std::uint64_t sum = 0;
  for (; is_digit(*p); ++p) sum = 10 * sum + static_cast<std::uint64_t>(*p - '0');
  value = static_cast<std::int64_t>(sum);
  return p != begin && p - begin <= 18;
}

/// Reads [+-]digits and moves `p` behind them; too_large if it does not fit 64 bits.
NumberFault parse_integer(const char*& p, std::int64_t& value);

/// Reads an integer of any length as the nearest double.
NumberFault parse_integer_value(const char*& p, const char* end, double& value);

/// Reads any decimal that parse_real's fast path does not: long ones, great exponents, Fortran's D.
NumberFault parse_real_slowly(const char*& p, const char* end, double& value);

/// Reads a decimal as the nearest double and moves `p` behind it: [+-]digits[.digits][e[+-]digits], also with
/// d or D for e; `end` is the end of the text. NaN, infinity and what overflows a double are refused; what
/// underflows is rounded.
NumberFault parse_real(const char*& p, const char* end, double& value);

}  // namespace ayatori::io
