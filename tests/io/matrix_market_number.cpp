#include "ayatori/io/number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "ayatori/base/random.hpp"

namespace ayatori::io::matrix_market {
namespace {

/// The text as a number, bit for bit what the C library makes of it.
void expect_like_strtod(const std::string& text) {
  const std::string line = text + "\n";
  const char* p = line.data();
  double value = 0;
  ASSERT_EQ(parse_real(p, line.data() + line.size(), value), NumberFault::none) << text;
  EXPECT_EQ(p - line.data(), static_cast<std::ptrdiff_t>(text.size())) << text;
  const double expected = std::strtod(text.c_str(), nullptr);
  EXPECT_EQ(std::memcmp(&value, &expected, sizeof value), 0) << text << " gave " << value;
}

TEST(MatrixMarketNumber, RandomDoublesInEveryLength) {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    double value = 0;
    const std::uint64_t bits = random_bits(1, i);
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const int digits = static_cast<int>(i % 22);
    expect_like_strtod(fmt::format("{}", value));
    expect_like_strtod(fmt::format("{:.{}e}", value, digits));
    const double moderate = std::ldexp(random_uniform(2, i) - 0.5, static_cast<int>(i % 60) - 20);
    expect_like_strtod(fmt::format("{}", moderate));
    expect_like_strtod(fmt::format("{:.{}f}", moderate, digits));
    expect_like_strtod(fmt::format("{:.{}g}", moderate, digits + 1));
  }
}

TEST(MatrixMarketNumber, Corners) {
  for (const char* text : {"0",
                           "-0",
                           "+0",
                           "0.0",
                           "-0e5",
                           "1",
                           "1.",
                           ".5",
                           "-.5",
                           "9007199254740993",
                           "999999999999999",
                           "9999999999999999",
                           "1e22",
                           "1e23",
                           "123456789012345e22",
                           "1e-22",
                           "1e-23",
                           "1e00000000000000000005",
                           "1e-400",
                           "4.9e-324",
                           "2.4703282292062327e-324",
                           "1.7976931348623157e308",
                           "0.000000000000000000000000000000000001",
                           "1234567890123456789012345678901234567890",
                           "0000000000000000000000000000001.5"}) {
    expect_like_strtod(text);
  }
}

TEST(MatrixMarketNumber, FortranExponents) {
  for (const std::string text : {"1d5", "1.25D-3", "-1.234567890123456789d+2", "1D-400"}) {
    const std::string line = text + "\n";
    const char* p = line.data();
    double value = 0;
    ASSERT_EQ(parse_real(p, line.data() + line.size(), value), NumberFault::none) << text;
    EXPECT_EQ(*p, '\n') << text;
    std::string with_e = text;
    for (char& c : with_e) c = c == 'd' || c == 'D' ? 'e' : c;
    EXPECT_EQ(value, std::strtod(with_e.c_str(), nullptr)) << text;
  }
}

TEST(MatrixMarketNumber, Integers) {
  const auto parse = [](const std::string& text) {
    const std::string line = text + "\n";
    const char* p = line.data();
    std::int64_t value = -99;
    const NumberFault fault = parse_integer(p, value);
    return std::pair(fault, value);
  };
  EXPECT_EQ(parse("12"), std::pair(NumberFault::none, std::int64_t{12}));
  EXPECT_EQ(parse("+12"), std::pair(NumberFault::none, std::int64_t{12}));
  EXPECT_EQ(parse("-12"), std::pair(NumberFault::none, std::int64_t{-12}));
  EXPECT_EQ(parse("9223372036854775807").second, INT64_MAX);
  EXPECT_EQ(parse("9223372036854775808").first, NumberFault::too_large);
  EXPECT_EQ(parse("+-1").first, NumberFault::not_a_number);
  EXPECT_EQ(parse("-").first, NumberFault::not_a_number);
  EXPECT_EQ(parse("").first, NumberFault::not_a_number);
}

}  // namespace
}  // namespace ayatori::io::matrix_market
