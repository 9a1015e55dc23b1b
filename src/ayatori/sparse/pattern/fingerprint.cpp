#include "ayatori/sparse/pattern/fingerprint.hpp"

#include <array>
#include <atomic>
#include <bit>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::uint64_t places = 2;
constexpr std::uint64_t entries = 0x8ebc6af09c88c6e3;  // so that values are hashed otherwise than columns

std::uint64_t hash(std::uint64_t place, double value) {
  return fold_product(place ^ entries, std::bit_cast<std::uint64_t>(value));
}

/// Sums over entries, of places and of places with values.
using Sums = std::array<std::uint64_t, 2>;

/// Sums over compressed sparse rows: row i has the number `row(i)` in the whole matrix, the entry k the
/// column `column(k)`.
template <class Rows, class Row, class Column>
Sums sums_of(std::int64_t count, const Rows& rows, Row&& row, Column&& column) {
  std::atomic<std::uint64_t> pattern = 0;
  std::atomic<std::uint64_t> values = 0;
  parallel_ranges(count, [&](Range range) {
    std::uint64_t of_pattern = 0;
    std::uint64_t of_values = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::uint64_t of_row = random_bits(places, static_cast<std::uint64_t>(row(i)));
      for (std::int64_t k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k) {
        const std::uint64_t place = fold_product(of_row, static_cast<std::uint64_t>(column(k)));
        of_pattern += place;
        of_values += hash(place, rows.value[k]);
      }
    }
    pattern += of_pattern;
    values += of_values;
  });
  return {pattern, values};
}

/// Collective.
Fingerprint of_sums(const comm::Comm& comm, Sums sums, std::int64_t global_rows) {
  comm.allreduce(std::span<std::uint64_t>(sums), comm::ReduceOp::sum);
  const auto size = static_cast<std::uint64_t>(global_rows);
  return {random_bits(size, sums[0]), random_bits(size, sums[1])};
}

}  // namespace

Fingerprint fingerprint(const comm::Comm& comm, const RowBlock& block) {
  const auto sums = sums_of(
      block.rows(), block, [&](std::int64_t i) { return block.first_row + i; },
      [&](std::int64_t k) { return block.column[k]; });
  return of_sums(comm, sums, block.global_rows);
}

Fingerprint fingerprint(const comm::Comm& comm, const SplitMatrix& parts) {
  const std::int64_t first = parts.partition.range(comm.rank()).begin;
  auto sums = sums_of(
      parts.interior.rows, parts.interior, [&](std::int64_t i) { return first + i; },
      [&](std::int64_t k) { return first + parts.interior.column[k]; });
  const auto beyond = sums_of(
      parts.halo.rows, parts.halo, [&](std::int64_t i) { return first + parts.halo_rows[i]; },
      [&](std::int64_t k) { return parts.plan.ghosts[parts.halo.column[k]]; });
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += beyond[i];
  return of_sums(comm, sums, parts.partition.rows());
}

std::uint64_t fingerprint(const comm::Comm& comm, std::span<const double> local, std::int64_t first) {
  std::atomic<std::uint64_t> all = 0;
  parallel_ranges(static_cast<std::int64_t>(local.size()), [&](Range range) {
    std::uint64_t sum = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i)
      sum += hash(random_bits(places, static_cast<std::uint64_t>(first + i)), local[i]);
    all += sum;
  });
  return comm.allreduce(all.load(), comm::ReduceOp::sum);
}

}  // namespace ayatori::sparse
