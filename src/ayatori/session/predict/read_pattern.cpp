#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/predict/predict.hpp"

namespace ayatori::session {

namespace {

void check_rows(std::int64_t rows) {
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw EnvironmentError(fmt::format("{} rows are too many for a forecast", rows));
}

forecast::Pattern generated(const std::string& spec) {
  const auto matrix = io::generated_matrix(spec);
  io::check_square(spec, matrix.rows, matrix.columns);
  check_rows(matrix.rows);
  forecast::Pattern pattern;
  pattern.row_start.reserve(matrix.rows + 1);
  io::RowBuilder row;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    row.clear();
    matrix.row(i, row);
    for (const auto& entry : row.sorted()) pattern.column.push_back(static_cast<std::int32_t>(entry.column));
    pattern.row_start.push_back(static_cast<std::int64_t>(pattern.column.size()));
  }
  return pattern;
}

forecast::Pattern of_file(const std::string& path) {
  const auto block = io::load_matrix(comm::Comm::self(), path).block;
  io::check_square(path, block.global_rows, block.global_columns);
  check_rows(block.global_rows);
  return {{block.row_start.begin(), block.row_start.end()}, {block.column.begin(), block.column.end()}};
}

}  // namespace

forecast::Pattern read_pattern(const std::string& source) {
  const bool is_spec = !std::filesystem::exists(source) && io::is_generator(source);
  return is_spec ? generated(source) : of_file(source);
}

}  // namespace ayatori::session
