#pragma once

#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/forecast/pattern.hpp"
#include "ayatori/io/matrix_source.hpp"

namespace ayatori::forecast {

/// The pattern of a generated matrix.
inline Pattern pattern_of(const std::string& spec) {
  const auto block = io::load_matrix(comm::Comm::self(), spec).block;
  return {{block.row_start.begin(), block.row_start.end()}, {block.column.begin(), block.column.end()}};
}

}  // namespace ayatori::forecast
