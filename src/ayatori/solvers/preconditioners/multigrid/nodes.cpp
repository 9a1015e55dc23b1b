#include "ayatori/solvers/preconditioners/multigrid/nodes.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers::amg {

namespace {

/// Entries among a rank's own nodes of `size` rows, cut at multiples of `size` in global numbering, and
/// places in the blocks that hold them; of a sample of the nodes.
std::array<double, 2> fill_of_blocks(const sparse::Csr& a, std::int64_t first_row, int size) {
  constexpr std::int64_t sample = 500;
  const std::int64_t skipped = (size - first_row % size) % size;
  const std::int64_t nodes = (a.rows - skipped) / size;
  const std::int64_t step = std::max<std::int64_t>(nodes / sample, 1);
  std::array<double, 2> fill{};
  std::vector<std::int64_t> blocks;
  for (std::int64_t node = 0; node < nodes; node += step) {
    const std::int64_t row = skipped + node * size;
    blocks.clear();
    for (std::int64_t k = a.row_start[row]; k < a.row_start[row + size]; ++k) {
      const std::int64_t column = a.column[k] - skipped;
      if (column >= 0 && column < nodes * size) blocks.push_back(column / size);
    }
    fill[0] += static_cast<double>(blocks.size());
    std::ranges::sort(blocks);
    fill[1] += static_cast<double>((std::ranges::unique(blocks).begin() - blocks.begin()) * size * size);
  }
  return fill;
}

}  // namespace

int unknowns_per_node(const sparse::DistributedMatrix& matrix) {
  constexpr double full = 0.9;
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  for (const int size : {3, 2}) {
    auto fill =
        comm::agree(matrix.comm(), [&] { return fill_of_blocks(matrix.interior(), first_row, size); });
    matrix.comm().allreduce(std::span<double>(fill), comm::ReduceOp::sum);
    if (matrix.global_rows() % size == 0 && fill[1] > 0 && fill[0] >= full * fill[1]) return size;
  }
  return 1;
}

}  // namespace ayatori::solvers::amg
