#include "ayatori/sparse/pattern/diagonal_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/pattern/row_figures.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

namespace ayatori::sparse {

namespace {

/// Whether row `row` holds something outside of column `diagonal`.
bool has_others(const Csr& csr, std::int64_t row, std::int64_t diagonal) {
  for (std::int64_t k = csr.row_start[row]; k < csr.row_start[row + 1]; ++k)
    if (csr.column[k] != diagonal && csr.value[k] != 0) return true;
  return false;
}

/// 1 for every diagonal row of this rank, with room for the ghosts.
Array<std::uint8_t> find_diagonal_rows(const SplitMatrix& parts) {
  const Csr& interior = parts.interior;
  Array<std::uint8_t> is_diagonal(interior.rows + parts.plan.ghosts.size(), 0);
  for (std::int32_t i = 0; i < interior.rows; ++i)
    is_diagonal[i] = row_figures(interior, i, i).diagonal != 0 && !has_others(interior, i, i) ? 1 : 0;
  for (std::int32_t r = 0; r < parts.halo.rows; ++r)
    if (has_others(parts.halo, r, -1)) is_diagonal[parts.halo_rows[r]] = 0;
  return is_diagonal;
}

/// A copy with those entries that `keeps(row, column)`; rows stay, empty or not.
template <class Keeps>
Csr filtered(const Csr& csr, Keeps&& keeps) {
  Csr kept;
  kept.rows = csr.rows;
  kept.columns = csr.columns;
  kept.row_start.reserve(csr.row_start.size());
  kept.column.reserve(csr.column.size());
  kept.value.reserve(csr.value.size());
  kept.row_start.push_back(0);
  for (std::int32_t i = 0; i < csr.rows; ++i) {
    for (std::int64_t k = csr.row_start[i]; k < csr.row_start[i + 1]; ++k) {
      if (!keeps(i, csr.column[k])) continue;
      kept.column.push_back(csr.column[k]);
      kept.value.push_back(csr.value[k]);
    }
    kept.row_start.push_back(static_cast<std::int64_t>(kept.column.size()));
  }
  return kept;
}

/// Takes away rows without an entry, and their names.
void drop_empty_rows(Csr& csr, Array<std::int32_t>& names) {
  std::int32_t rows = 0;
  for (std::int32_t r = 0; r < csr.rows; ++r) {
    if (csr.row_start[r] == csr.row_start[r + 1]) continue;
    names[rows] = names[r];
    csr.row_start[++rows] = csr.row_start[r + 1];
  }
  csr.rows = rows;
  csr.row_start.resize(rows + 1);
  names.resize(rows);
}

}  // namespace

SplitMatrix without_columns_of_diagonal_rows(const comm::Comm& comm, const SplitMatrix& parts) {
  auto is_diagonal = comm::agree(comm, [&] { return find_diagonal_rows(parts); });
  const std::int32_t own = parts.interior.rows;
  GhostExchange<std::uint8_t>(comm, parts.plan, 1, 0, own).fetch(is_diagonal.data());
  return comm::agree(comm, [&] {
    SplitMatrix rest{parts.partition, parts.plan, {}, {}, parts.halo_rows};
    const auto keeps = [&](std::int32_t row, std::int32_t column) {
      return row == column || (is_diagonal[row] == 0 && is_diagonal[column] == 0);
    };
    rest.interior = filtered(parts.interior, keeps);
    rest.halo = filtered(parts.halo, [&](std::int32_t row, std::int32_t ghost) {
      return keeps(parts.halo_rows[row], own + ghost);
    });
    drop_empty_rows(rest.halo, rest.halo_rows);
    return rest;
  });
}

}  // namespace ayatori::sparse
