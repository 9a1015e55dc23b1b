#include <algorithm>
#include <limits>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::sparse {

std::vector<std::int64_t> ghosts_of(const RowBlock& block, Range mine) {
  std::vector<std::int64_t> ghosts;
  for (const std::int64_t column : block.column) {
    if (!mine.contains(column)) ghosts.push_back(column);
  }
  std::ranges::sort(ghosts);
  const auto repeated = std::ranges::unique(ghosts);
  ghosts.erase(repeated.begin(), repeated.end());
  return ghosts;
}

namespace {

void check_fits(const RowBlock& block, std::size_t ghosts) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (block.rows() > most || static_cast<std::int64_t>(ghosts) > most) {
    throw EnvironmentError(
        fmt::format("one rank would hold {} rows and {} ghosts, more than 2^31 - 1: use more ranks",
                    block.rows(), ghosts));
  }
}

/// The entries of `block` for which `keep(column)`, renumbered by `local(column)`, of the rows listed.
template <class Keep, class Local>
Csr extract(const RowBlock& block, std::span<const std::int32_t> rows, std::int64_t columns, Keep&& keep,
            Local&& local) {
  const auto count = static_cast<std::int64_t>(rows.size());
  Csr csr{static_cast<std::int32_t>(count),
          static_cast<std::int32_t>(columns),
          Array<std::int64_t>(count + 1),
          {},
          {}};
  csr.row_start[0] = 0;
  parallel_for(count, [&](std::int64_t r) {
    std::int64_t kept = 0;
    for (std::int64_t k = block.row_start[rows[r]]; k < block.row_start[rows[r] + 1]; ++k)
      kept += keep(block.column[k]) ? 1 : 0;
    csr.row_start[r + 1] = kept;
  });
  std::partial_sum(csr.row_start.begin(), csr.row_start.end(), csr.row_start.begin());
  csr.column.resize(csr.row_start.back());
  csr.value.resize(csr.row_start.back());
  parallel_for(count, [&](std::int64_t r) {
    std::int64_t position = csr.row_start[r];
    for (std::int64_t k = block.row_start[rows[r]]; k < block.row_start[rows[r] + 1]; ++k) {
      if (!keep(block.column[k])) continue;
      csr.column[position] = static_cast<std::int32_t>(local(block.column[k]));
      csr.value[position++] = block.value[k];
    }
  });
  return csr;
}

/// The whole block as the interior part, of which entries and starts are not copied.
Csr take_interior(RowBlock block, Range mine) {
  Csr csr{static_cast<std::int32_t>(block.rows()), static_cast<std::int32_t>(mine.size()),
          std::move(block.row_start), Array<std::int32_t>(block.column.size()), std::move(block.value)};
  parallel_for(static_cast<std::int64_t>(block.column.size()), [&](std::int64_t k) {
    csr.column[k] = static_cast<std::int32_t>(block.column[k] - mine.begin);
  });
  return csr;
}

/// The block split into the columns of `mine` and those of the plan's ghosts.
SplitMatrix split_columns(RowBlock block, Range mine, RowPartition partition, HaloPlan plan) {
  if (plan.ghosts.empty()) {
    Csr none{0, 0, Array<std::int64_t>(1, 0), {}, {}};
    return {
        std::move(partition), std::move(plan), take_interior(std::move(block), mine), std::move(none), {}};
  }
  const auto is_interior = [&](std::int64_t column) { return mine.contains(column); };
  const auto is_ghost = [&](std::int64_t column) { return !mine.contains(column); };
  const auto ghost_number = [&](std::int64_t column) {
    return std::ranges::lower_bound(plan.ghosts, column) - plan.ghosts.begin();
  };
  Array<std::int32_t> all_rows(block.rows());
  std::iota(all_rows.begin(), all_rows.end(), 0);
  Array<std::int32_t> halo_rows;
  for (const std::int32_t i : all_rows) {
    const auto row =
        std::span(block.column).subspan(block.row_start[i], block.row_start[i + 1] - block.row_start[i]);
    if (std::ranges::any_of(row, is_ghost)) halo_rows.push_back(i);
  }
  Csr interior =
      extract(block, all_rows, mine.size(), is_interior, [&](std::int64_t c) { return c - mine.begin; });
  Csr halo = extract(block, halo_rows, static_cast<std::int64_t>(plan.ghosts.size()), is_ghost, ghost_number);
  return {std::move(partition), std::move(plan), std::move(interior), std::move(halo), std::move(halo_rows)};
}

}  // namespace

SplitMatrix split(const comm::Comm& comm, RowBlock block) {
  if (block.global_rows != block.global_columns) {
    InputError error(
        fmt::format("the matrix is {} x {}, but a system to solve must be square; "
                    "a least-squares problem may have any shape (--least-squares; in Python lsmr)",
                    block.global_rows, block.global_columns));
    error.set_agreed();  // the sizes are global: every rank throws this
    throw error;
  }
  const Range mine{block.first_row, block.first_row + block.rows()};
  auto ghosts = comm::agree(comm, [&] {
    auto mine_only = ghosts_of(block, mine);
    check_fits(block, mine_only.size());
    return mine_only;
  });
  auto partition = partition_of(comm, block);
  auto plan = make_halo_plan(comm, partition, std::move(ghosts));

  return comm::agree(
      comm, [&] { return split_columns(std::move(block), mine, std::move(partition), std::move(plan)); });
}

}  // namespace ayatori::sparse
