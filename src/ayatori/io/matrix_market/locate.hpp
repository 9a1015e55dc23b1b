#pragma once

#include <cstdint>

#include "ayatori/io/matrix_market/header.hpp"

namespace ayatori::io::matrix_market {

/// Where a scan of the lines stopped.
struct Place {
  std::int64_t line = 0;     ///< number of the line, from 1; at the end of the content, of the last one
  std::int64_t entries = 0;  ///< lines of data before it
  bool excess = false;       ///< the line is the first beyond the promised entries
};

/// Counts lines up to the first of: the line that begins at `offset`, the first entry too many, the end.
/// Called when an error is known, and only to say where.
Place locate(const ByteSource& source, const Header& header, std::int64_t offset);

/// The number of the line, from 1, that has entry `ordinal`, from 0.
std::int64_t line_of_entry(const ByteSource& source, const Header& header, std::int64_t ordinal);

}  // namespace ayatori::io::matrix_market
