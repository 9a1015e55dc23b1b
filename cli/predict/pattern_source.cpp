#include "cli/predict/pattern_source.hpp"

#include <filesystem>
#include <limits>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "bench/npb/matrix.hpp"

namespace ayatori::cli {

namespace {

constexpr std::string_view npb = "npb-cg:";

void check_rows(std::int64_t rows) {
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw EnvironmentError(fmt::format("{} rows are too many for a forecast", rows));
}

template <class Rows, class Columns>
forecast::Pattern copy_of(const Rows& row_start, const Columns& column) {
  return {{row_start.begin(), row_start.end()}, {column.begin(), column.end()}};
}

forecast::Pattern generated(const std::string& spec) {
  const auto matrix = io::generated_matrix(spec);
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
  if (block.global_rows != block.global_columns)
    throw InputError(
        fmt::format("{}: {} x {}, but it has to be square", path, block.global_rows, block.global_columns));
  check_rows(block.global_rows);
  return copy_of(block.row_start, block.column);
}

}  // namespace

forecast::Pattern read_pattern(const std::string& source) {
  if (std::filesystem::exists(source)) return of_file(source);
  if (source.starts_with(npb)) {
    const auto matrix =
        bench::npb_matrix(comm::Comm::self(), bench::npb_class(source.substr(npb.size()))).interior;
    return copy_of(matrix.row_start, matrix.column);
  }
  return io::is_generator(source) ? generated(source) : of_file(source);
}

}  // namespace ayatori::cli
