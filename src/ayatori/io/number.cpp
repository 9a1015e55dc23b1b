#include "ayatori/io/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ayatori::io {

namespace {

/// The sign at `p`, moving behind it.
bool take_sign(const char*& p) {
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  return negative;
}

const char* skip_digits(const char* p) {
  while (is_digit(*p)) ++p;
  return p;
}

bool is_fortran_exponent(char c) {
  return c == 'd' || c == 'D';
}

/// Reads the decimal at `p` (behind its sign), with D for e and out of the range of doubles, too: strtod
/// tells overflow (infinity) from underflow (rounded). Moves `p` behind it.
double parse_with_strtod(const char*& p) {
  const char* end = skip_digits(p);
  if (*end == '.') end = skip_digits(end + 1);
  if (*end == 'e' || *end == 'E' || is_fortran_exponent(*end)) {
    const char* exponent = end + 1;
    take_sign(exponent);
    const char* const exponent_end = skip_digits(exponent);
    if (exponent_end != exponent) end = exponent_end;
  }
  std::string text(p, end);
  for (char& c : text) {
    if (is_fortran_exponent(c)) c = 'e';
  }
  p = end;
  return std::strtod(text.c_str(), nullptr);
}

bool spells_non_finite(const char* p) {
  const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  const auto starts = [&](const char* word) {
    return lower(p[0]) == word[0] && lower(p[1]) == word[1] && lower(p[2]) == word[2];
  };
  // The text ends in a line end, which no letter of these words equals: comparing stops there.
  return starts("nan") || starts("inf");
}

bool eight_digits(const char* p) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, p, sizeof bytes);
  // Each byte is 0x30..0x39: its high half is 3, and stays 3 when 6 is added.
  return ((bytes & 0xf0f0f0f0f0f0f0f0U) | (((bytes + 0x0606060606060606U) & 0xf0f0f0f0f0f0f0f0U) >> 4U)) ==
         0x3333333333333333U;
}

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

}  // namespace

NumberFault parse_integer(const char*& p, std::int64_t& value) {
  const char* const begin = *p == '+' ? p + 1 : p;
  const char* const end = skip_digits(*begin == '-' && begin == p ? begin + 1 : begin);
  const auto [last, status] = std::from_chars(begin, end, value);
  if (status == std::errc::invalid_argument) return NumberFault::not_a_number;
  p = last;
  return status == std::errc{} ? NumberFault::none : NumberFault::too_large;
}

NumberFault parse_integer_value(const char*& p, const char* end, double& value) {
  const char* cursor = p;
  const bool negative = take_sign(cursor);
  std::int64_t magnitude = 0;
  if (is_digit(*cursor) && parse_index(cursor, magnitude)) {
    value = static_cast<double>(negative ? -magnitude : magnitude);
    p = cursor;
    return NumberFault::none;
  }
  cursor = p;
  take_sign(cursor);
  const char* const digits_end = skip_digits(cursor);
  if (*digits_end == '.' || *digits_end == 'e' || *digits_end == 'E' || is_fortran_exponent(*digits_end)) {
    return NumberFault::not_a_number;
  }
  return parse_real_slowly(p, end, value);
}

NumberFault parse_real_slowly(const char*& p, const char* end, double& value) {
  const char* cursor = p;
  const bool negative = take_sign(cursor);
  if (!is_digit(*cursor) && *cursor != '.') {
    return end - cursor >= 4 && spells_non_finite(cursor) ? NumberFault::not_finite
                                                          : NumberFault::not_a_number;
  }
  const auto [last, status] = std::from_chars(cursor, end, value);
  if (status == std::errc::invalid_argument) return NumberFault::not_a_number;
  if (status == std::errc{} && !is_fortran_exponent(*last)) {
    cursor = last;
  } else {
    value = parse_with_strtod(cursor);
  }
  p = cursor;
  if (negative) value = -value;
  return std::isfinite(value) ? NumberFault::none : NumberFault::too_large;
}

NumberFault parse_real(const char*& p, const char* end, double& value) {
  // Clinger's fast path: a mantissa below 2^53 times or over an exact power of ten is rounded once, hence
  // right. It is worth it for short decimals; from_chars is better at long ones.
  constexpr std::ptrdiff_t short_digits = 15;
  if (end - p >= 12 && eight_digits(p + 4)) return parse_real_slowly(p, end, value);
  const char* cursor = p;
  const bool negative = take_sign(cursor);
  const char* const digits = cursor;
  std::int64_t mantissa = 0;
  for (; is_digit(*cursor) && cursor - digits <= short_digits; ++cursor) {
    mantissa = 10 * mantissa + (*cursor - '0');
  }
  auto count = cursor - digits;
  std::int64_t exponent = 0;
  if (*cursor == '.') {
    const char* const fraction = ++cursor;
    for (; is_digit(*cursor) && count <= short_digits; ++cursor, ++count) {
      mantissa = 10 * mantissa + (*cursor - '0');
    }
    exponent = fraction - cursor;
  }
  if (count == 0 || count > short_digits) return parse_real_slowly(p, end, value);
  if (*cursor == 'e' || *cursor == 'E') {
    const char* after = cursor + 1;
    const bool below = take_sign(after);
    const char* const first = after;
    std::int64_t stated = 0;
    for (; is_digit(*after) && after - first < 3; ++after) stated = 10 * stated + (*after - '0');
    if (after == first || is_digit(*after)) return parse_real_slowly(p, end, value);
    exponent += below ? -stated : stated;
    cursor = after;
  }
  if (exponent < -22 || exponent > 22 || is_fortran_exponent(*cursor))
    return parse_real_slowly(p, end, value);
  const auto magnitude = static_cast<double>(mantissa);
  const double scaled =
      exponent < 0 ? magnitude / powers_of_ten[-exponent] : magnitude * powers_of_ten[exponent];
  value = negative ? -scaled : scaled;
  p = cursor;
  return NumberFault::none;
}

}  // namespace ayatori::io
