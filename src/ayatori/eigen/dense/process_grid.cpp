#include "ayatori/eigen/dense/process_grid.hpp"

#include <charconv>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::eigen {

GridShape near_square(int ranks) {
  int rows = 1;
  for (int candidate = 1; candidate * candidate <= ranks; ++candidate) {
    if (ranks % candidate == 0) rows = candidate;
  }
  return {rows, ranks / rows};
}

GridShape parse_grid_shape(std::string_view text) {
  if (text == "auto") return {};
  GridShape shape;
  const char* const end = text.data() + text.size();
  const auto [cross, error] = std::from_chars(text.data(), end, shape.rows);
  if (error == std::errc() && cross != end && *cross == 'x') {
    const auto [stop, second_error] = std::from_chars(cross + 1, end, shape.columns);
    if (second_error == std::errc() && stop == end && shape.rows > 0 && shape.columns > 0) return shape;
  }
  throw InputError(fmt::format("--grid {}: neither 'auto' nor ROWSxCOLUMNS, for example 2x3", text));
}

ProcessGrid make_grid(const comm::Comm& comm, GridShape shape) {
  if (shape.rows == 0 && shape.columns == 0) shape = near_square(comm.size());
  comm::agree(comm, [&] {
    if (static_cast<std::int64_t>(shape.rows) * shape.columns == comm.size()) return;
    throw InputError(
        fmt::format("a grid of {} x {} is not for {} ranks", shape.rows, shape.columns, comm.size()));
  });
  const int row = comm.rank() / shape.columns;
  const int column = comm.rank() % shape.columns;
  return {comm, comm.split(row, column), comm.split(column, row), shape, row, column};
}

ProcessGrid with_collectives(const ProcessGrid& grid,
                             const std::shared_ptr<const comm::Collectives>& collectives) {
  return {grid.all.with_collectives(collectives),
          grid.along_row.with_collectives(collectives),
          grid.along_column.with_collectives(collectives),
          grid.shape,
          grid.row,
          grid.column};
}

}  // namespace ayatori::eigen
