#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/harwell_boeing/number_format.hpp"
#include "ayatori/io/header_lines.hpp"
#include "ayatori/io/symmetry.hpp"

namespace ayatori::io::harwell_boeing {

using Lines = HeaderLines;

/// What the first lines say. The matrix is stored by compressed columns.
struct Header {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;  ///< stored; of a symmetric matrix those of one triangle
  bool pattern = false;
  bool is_complex = false;
  Symmetry symmetry = Symmetry::general;
  bool right_hand_sides = false;
  NumberFormat pointer_format;
  NumberFormat index_format;
  NumberFormat value_format;  ///< unused for a pattern
};

/// Reads the lines before the pointers. Throws InputError that names source and line; also if a file of this
/// size cannot hold what is promised.
Header read_header(const ByteSource& source, Lines& lines);

/// The error "NAME, line N: what".
InputError error_at(const ByteSource& source, const Lines& lines, std::string_view what);

}  // namespace ayatori::io::harwell_boeing
