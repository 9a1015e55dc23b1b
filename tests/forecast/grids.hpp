#pragma once

#include <string_view>

#include "ayatori/forecast/pattern.hpp"
#include "ayatori/io/generator.hpp"

namespace ayatori::forecast {

/// The pattern of a generated matrix.
inline Pattern pattern_of(std::string_view spec) {
  const auto matrix = io::generated_matrix(spec);
  Pattern pattern;
  io::RowBuilder row;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    row.clear();
    matrix.row(i, row);
    for (const auto& entry : row.sorted()) pattern.column.push_back(static_cast<std::int32_t>(entry.column));
    pattern.row_start.push_back(static_cast<std::int64_t>(pattern.column.size()));
  }
  return pattern;
}

}  // namespace ayatori::forecast
