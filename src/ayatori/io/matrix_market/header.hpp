#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/symmetry.hpp"

namespace ayatori::io::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern, complex };

/// What the lines before the data say. Plain data, so that rank 0 reads it for all.
struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;    ///< lines of data that are promised
  std::int64_t size_line = 0;  ///< number of the size line, from 1
  std::int64_t body = 0;       ///< offset of the first character behind the size line

  bool is_complex() const { return field == Field::complex; }
};

/// The first word of a file, in lower case.
inline constexpr std::string_view banner_word = "%%matrixmarket";

/// Reads the header of a source, decompressed if need be. Throws InputError naming source, line and what is
/// wrong; also if the file has no room for the promised entries.
Header read_header(const ByteSource& source);

/// An error message: "NAME, line N: what".
std::string located(std::string_view name, std::int64_t line, std::string_view what);

}  // namespace ayatori::io::matrix_market
