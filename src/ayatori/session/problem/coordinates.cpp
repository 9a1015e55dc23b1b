#include "ayatori/session/problem/coordinates.hpp"

#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/problem/input_file.hpp"

namespace ayatori::session {

Array<double> load_coordinates(const comm::Comm& comm, const std::string& path, const Problem& problem) {
  comm::agree(comm, [&] {
    if (comm.rank() == 0) check_input("--coordinates", path);
    if (problem.permutation)
      throw InputError(
          "--coordinates needs the rows of a node together: not with --partition graph or --placement");
  });
  const sparse::RowBlock nodes = io::load_matrix(comm, path).block;
  const std::int64_t rows = problem.file_rows.rows();
  comm::agree(comm, [&] {
    const bool fits =
        nodes.global_rows > 0 && (rows == 2 * nodes.global_rows || rows == 3 * nodes.global_rows);
    if (!fits || nodes.global_columns < 2 || nodes.global_columns > 3)
      throw InputError(
          fmt::format("{}: {} x {}, where the coordinates of {} rows, two or three for each node, are "
                      "needed: a row for each node, of two or three columns",
                      path, nodes.global_rows, nodes.global_columns, rows));
  });
  const std::int64_t per_node = rows / nodes.global_rows;
  auto entries = comm::agree(comm, [&] {
    std::vector<Array<sparse::Entry>> batch(1);
    for (std::int64_t i = 0; i < nodes.rows(); ++i)
      for (std::int64_t k = nodes.row_start[i]; k < nodes.row_start[i + 1]; ++k)
        for (std::int64_t c = 0; c < per_node; ++c)
          batch[0].push_back({(nodes.first_row + i) * per_node + c, nodes.column[k], nodes.value[k]});
    return batch;
  });
  const auto of_rows = sparse::assemble(comm, problem.file_rows, 3, std::move(entries));
  return comm::agree(comm, [&] {
    Array<double> coordinates(3 * of_rows.rows(), 0.0);
    for (std::int64_t i = 0; i < of_rows.rows(); ++i)
      for (std::int64_t k = of_rows.row_start[i]; k < of_rows.row_start[i + 1]; ++k)
        coordinates[3 * i + of_rows.column[k]] = of_rows.value[k];
    return coordinates;
  });
}

}  // namespace ayatori::session
