#include <functional>
#include <numeric>

#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::sparse {

namespace {

/// The rows of a rank with global columns, ascending in each row.
struct WholeRows {
  Array<std::int32_t> length;
  Array<std::int32_t> column;
  Array<double> value;
};

/// Traffic: 24 bytes per nonzero.
WholeRows join(const SplitMatrix& parts, Range mine) {
  const Csr& interior = parts.interior;
  const Csr& halo = parts.halo;
  WholeRows rows{Array<std::int32_t>(interior.rows),
                 Array<std::int32_t>(interior.nonzeros() + halo.nonzeros()),
                 Array<double>(interior.nonzeros() + halo.nonzeros())};
  std::int64_t to = 0;
  const auto add = [&](std::int64_t column, double value) {
    rows.column[to] = static_cast<std::int32_t>(column);
    rows.value[to++] = value;
  };
  std::int32_t r = 0;  // row of the halo part
  for (std::int32_t i = 0; i < interior.rows; ++i) {
    const std::int64_t begin = to;
    const bool has_ghosts = r < halo.rows && parts.halo_rows[r] == i;
    std::int64_t h = has_ghosts ? halo.row_start[r] : 0;
    const std::int64_t h_end = has_ghosts ? halo.row_start[++r] : 0;
    const auto ghost = [&] { return parts.plan.ghosts[halo.column[h]]; };
    for (; h < h_end && ghost() < mine.begin; ++h) add(ghost(), halo.value[h]);
    for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k)
      add(mine.begin + interior.column[k], interior.value[k]);
    for (; h < h_end; ++h) add(ghost(), halo.value[h]);
    rows.length[i] = static_cast<std::int32_t>(to - begin);
  }
  return rows;
}

}  // namespace

SplitMatrix gather(const comm::Comm& comm, const SplitMatrix& parts) {
  auto mine = comm::agree(comm, [&] { return join(parts, parts.partition.range(comm.rank())); });
  const auto lengths = comm.gatherv(std::span<const std::int32_t>(mine.length), 0);
  const auto columns = comm.gatherv(std::span<const std::int32_t>(mine.column), 0);
  const auto values = comm.gatherv(std::span<const double>(mine.value), 0);
  return comm::agree(comm, [&] {
    SplitMatrix all{RowPartition::on_first(parts.partition.rows(), comm.size()), {}, {}, {}, {}};
    Csr& csr = all.interior;
    csr.rows = csr.columns = all.plan.local_size = static_cast<std::int32_t>(lengths.values.size());
    csr.row_start.resize(lengths.values.size() + 1);
    csr.row_start.front() = 0;
    std::inclusive_scan(lengths.values.begin(), lengths.values.end(), csr.row_start.begin() + 1,
                        std::plus<>(), std::int64_t{0});
    csr.column.assign(columns.values.begin(), columns.values.end());
    csr.value.assign(values.values.begin(), values.values.end());
    all.halo.row_start.assign(1, 0);
    return all;
  });
}

}  // namespace ayatori::sparse
