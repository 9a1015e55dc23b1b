#include "ayatori/tuning/facts/structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

/// Limit of a search for pairs, in looks at an entry for every nonzero.
constexpr std::int64_t most_looks = 60;
/// A pattern of more nonzeros is not brought to one rank.
constexpr std::int64_t most_gathered = std::int64_t{1} << 23;

/// The user's numbers of own rows.
Array<std::int64_t> numbers_of(const comm::Comm& comm, const SplitMatrix& parts,
                               std::span<const std::int64_t> row_number) {
  if (!row_number.empty()) return {row_number.begin(), row_number.end()};
  Array<std::int64_t> numbers(parts.interior.rows);
  std::iota(numbers.begin(), numbers.end(), parts.partition.range(comm.rank()).begin);
  return numbers;
}

/// Collective.
FoundLines found_lines(const comm::Comm& comm, const Array<std::int64_t>& nonzeros,
                       const Array<std::int64_t>& number) {
  FoundLines found{0, nowhere};
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (nonzeros[i] != 0) continue;
    ++found.count;
    found.first = std::min(found.first, number[i]);
  }
  found.count = comm.allreduce(found.count, comm::ReduceOp::sum);
  found.first = comm.allreduce(found.first, comm::ReduceOp::min);
  if (found.count == 0) found.first = -1;
  return found;
}

/// Collective.
void find_zero_lines(const comm::Comm& comm, const SplitMatrix& parts, const Array<std::int64_t>& number,
                     Structure& structure) {
  const std::int64_t own = parts.interior.rows;
  Array<std::int64_t> of_rows;
  auto of_columns = comm::agree(comm, [&] {
    of_rows.assign(own, 0);
    Array<std::int64_t> columns(own + parts.plan.ghosts.size(), 0);
    const auto count = [&](const Csr& csr, std::int64_t first_column, auto&& row) {
      for (std::int64_t r = 0; r < csr.rows; ++r) {
        for (std::int64_t k = csr.row_start[r]; k < csr.row_start[r + 1]; ++k) {
          if (csr.value[k] == 0) continue;
          ++of_rows[row(r)];
          ++columns[first_column + csr.column[k]];
        }
      }
    };
    count(parts.interior, 0, [](std::int64_t r) { return r; });
    count(parts.halo, own, [&](std::int64_t r) { return std::int64_t{parts.halo_rows[r]}; });
    return columns;
  });
  sparse::GhostExchange<std::int64_t>(comm, parts.plan, 1, 0, own).add_back(of_columns.data());
  structure.zero_rows = found_lines(comm, of_rows, number);
  structure.zero_columns = found_lines(comm, of_columns, number);
}

/// Collective. Own columns suffice for all own rows on most matrices; else one rank looks at the whole.
sparse::StructuralRank find_structural_rank(const comm::Comm& comm, const SplitMatrix& parts,
                                            const MatrixFacts& facts, const Array<std::int64_t>& number) {
  const auto search = [](const Csr& csr, std::span<const std::int64_t> row_number) {
    return sparse::structural_rank(csr, most_looks * (csr.nonzeros() + csr.rows + 1), row_number);
  };
  auto found = comm::agree(comm, [&] { return search(parts.interior, number); });
  if (comm.size() == 1) return found;
  const std::int64_t paired = comm.allreduce(found.rank, comm::ReduceOp::sum);
  if (paired == facts.rows) return {.rank = paired};
  if (facts.nonzeros > most_gathered) return {.rank = paired, .is_known = false};
  const auto whole = sparse::gather(comm, parts);
  const auto numbers = comm.gatherv(std::span<const std::int64_t>(number), 0);
  found = comm::agree(comm, [&] {
    return comm.rank() == 0 ? search(whole.interior, numbers.values) : sparse::StructuralRank{};
  });
  return comm.broadcast(found, 0);
}

/// Whether no row can be a multiple of another: of two rows that both dominate, only if they have no other
/// entries than these two diagonals and what mirrors them.
bool excludes_duplicates(const MatrixFacts& facts) {
  return facts.zero_diagonals == 0 && facts.dominant_rows >= 1 && facts.min_row_nonzeros > 2;
}

std::string and_more(std::int64_t count) {
  return count > 1 ? fmt::format(" (and {} more)", count - 1) : "";
}

}  // namespace

Structure find_structure(const comm::Comm& comm, const SplitMatrix& parts, const MatrixFacts& facts,
                         std::span<const std::int64_t> row_number) {
  Structure structure;
  structure.rows = structure.structural.rank = facts.rows;
  if (facts.rows == 0) return structure;
  const bool has_zeros = facts.zero_diagonals > 0;
  const bool may_repeat = !excludes_duplicates(facts);
  if (has_zeros || may_repeat) {
    const auto number = comm::agree(comm, [&] { return numbers_of(comm, parts, row_number); });
    if (has_zeros) {
      find_zero_lines(comm, parts, number, structure);
      structure.structural = find_structural_rank(comm, parts, facts, number);
    }
    if (may_repeat) structure.duplicates = find_duplicate_rows(comm, parts, has_zeros, number);
  }
  return structure;
}

sparse::ComponentCounts find_components(const comm::Comm& comm, const SplitMatrix& parts) {
  const std::int64_t rows = parts.partition.rows();
  if (rows == 0 || sparse::is_connected(comm, parts)) return {1, rows == 1 ? 1 : 0, rows};
  return sparse::count_components(comm, parts);
}

std::vector<std::string> describe(const Structure& s) {
  std::vector<std::string> sentences;
  const auto say = [&](std::string text) { sentences.push_back(std::move(text)); };
  if (s.zero_rows.count > 0)
    say(fmt::format("row {} of the matrix is zero{}", s.zero_rows.first + 1, and_more(s.zero_rows.count)));
  if (s.zero_columns.count > 0)
    say(fmt::format("column {} of the matrix is zero{}", s.zero_columns.first + 1,
                    and_more(s.zero_columns.count)));
  if (s.duplicates.count > 0)
    say(fmt::format("row {} of the matrix is a multiple of row {}{}", s.duplicates.first + 1,
                    s.duplicates.of + 1, and_more(s.duplicates.count)));
  if (!s.structural.is_known) {
    say("whether the pattern of the matrix makes it singular was not looked at: it is too large for that");
  } else if (s.structural.crowded_rows > 0) {
    say(fmt::format(
        "row {} of the matrix and {} more have entries in {} column{} only: whatever its values, "
        "its rank is at most {} of {}",
        s.structural.first_crowded_row + 1, s.structural.crowded_rows - 1, s.structural.crowded_columns,
        s.structural.crowded_columns == 1 ? "" : "s", s.structural.rank, s.rows));
  }
  return sentences;
}

std::string describe(const sparse::ComponentCounts& c) {
  if (c.all <= 1) return {};
  return fmt::format(
      "the system falls into {} that have nothing to do with each other: the largest has {} row{}, {} of "
      "them "
      "{} one",
      c.all, c.rows_of_largest, c.rows_of_largest == 1 ? "" : "s", c.of_one_row,
      c.of_one_row == 1 ? "has" : "have");
}

void require_finite(const comm::Comm& comm, const SplitMatrix& parts,
                    std::span<const std::int64_t> row_number) {
  const std::int64_t own = parts.interior.rows;
  auto number = comm::agree(comm, [&] {
    auto numbers = numbers_of(comm, parts, row_number);
    numbers.resize(own + parts.plan.ghosts.size());
    return numbers;
  });
  sparse::GhostExchange<std::int64_t>(comm, parts.plan, 1, 0, own).fetch(number.data());
  std::int64_t count = 0;
  std::pair first{nowhere, nowhere};  // row and column
  double value = 0;
  const auto look_at = [&](const Csr& csr, std::int64_t first_column, auto&& row) {
    for (std::int64_t r = 0; r < csr.rows; ++r) {
      for (std::int64_t k = csr.row_start[r]; k < csr.row_start[r + 1]; ++k) {
        if (std::isfinite(csr.value[k])) continue;
        ++count;
        const std::pair place{number[row(r)], number[first_column + csr.column[k]]};
        if (place >= first) continue;
        first = place;
        value = csr.value[k];
      }
    }
  };
  look_at(parts.interior, 0, [](std::int64_t r) { return r; });
  look_at(parts.halo, own, [&](std::int64_t r) { return std::int64_t{parts.halo_rows[r]}; });
  const std::int64_t all = comm.allreduce(count, comm::ReduceOp::sum);
  if (all == 0) return;
  const std::int64_t row = comm.allreduce(first.first, comm::ReduceOp::min);
  comm::agree(comm, [&] {
    if (first.first != row) return;
    throw InputError(fmt::format("the entry in row {}, column {} of the matrix is {}{}", row + 1,
                                 first.second + 1, std::isnan(value) ? "a NaN" : "infinite",
                                 all > 1 ? fmt::format(", and {} more are not finite", all - 1) : ""));
  });
}

}  // namespace ayatori::tuning
