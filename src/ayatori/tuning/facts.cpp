#include "ayatori/tuning/facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "ayatori/base/parallel.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

/// The figures that simple sums, minima and maxima over rows give.
struct RowFigures {
  std::int64_t min_row = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_row = 0;
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  std::int64_t zero = 0;
  std::int64_t dominant = 0;
  double max_abs = 0;
  double norm_infinity = 0;

  void add_row(std::int64_t length, double diagonal, double sum_abs, double largest) {
    min_row = std::min(min_row, length);
    max_row = std::max(max_row, length);
    positive += diagonal > 0 ? 1 : 0;
    negative += diagonal < 0 ? 1 : 0;
    zero += diagonal == 0 ? 1 : 0;
    dominant += diagonal != 0 && 2 * std::abs(diagonal) >= sum_abs * (1 - 1e-14) ? 1 : 0;
    max_abs = std::max(max_abs, largest);
    norm_infinity = std::max(norm_infinity, sum_abs);
  }

  void merge(const RowFigures& other) {
    min_row = std::min(min_row, other.min_row);
    max_row = std::max(max_row, other.max_row);
    positive += other.positive;
    negative += other.negative;
    zero += other.zero;
    dominant += other.dominant;
    max_abs = std::max(max_abs, other.max_abs);
    norm_infinity = std::max(norm_infinity, other.norm_infinity);
  }
};

/// Per row: entries, sum and maximum of absolute values over interior and halo part.
struct RowSummary {
  std::int64_t length = 0;
  double sum_abs = 0;
  double largest = 0;

  void add(const Csr& csr, std::int64_t row) {
    length += csr.row_start[row + 1] - csr.row_start[row];
    for (std::int64_t k = csr.row_start[row]; k < csr.row_start[row + 1]; ++k) {
      sum_abs += std::abs(csr.value[k]);
      largest = std::max(largest, std::abs(csr.value[k]));
    }
  }
};

/// a(i, j) of the matrix, 0 where nothing is stored; `stored` tells which.
double find(const Csr& csr, std::int64_t i, std::int32_t j, bool& stored) {
  const auto begin = csr.column.begin() + csr.row_start[i];
  const auto end = csr.column.begin() + csr.row_start[i + 1];
  const auto place = std::lower_bound(begin, end, j);
  stored = place != end && *place == j;
  return stored ? csr.value[place - csr.column.begin()] : 0;
}

std::vector<RowSummary> summarize_rows(const SplitMatrix& parts) {
  std::vector<RowSummary> rows(parts.interior.rows);
  parallel_for(parts.interior.rows, [&](std::int64_t i) { rows[i].add(parts.interior, i); });
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) rows[parts.halo_rows[r]].add(parts.halo, r);
  return rows;
}

RowFigures row_figures(const SplitMatrix& parts, const std::vector<RowSummary>& rows) {
  RowFigures total;
  std::mutex merging;
  parallel_ranges(parts.interior.rows, [&](Range range) {
    RowFigures mine;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      bool stored = false;
      const double diagonal = find(parts.interior, i, static_cast<std::int32_t>(i), stored);
      mine.add_row(rows[i].length, diagonal, rows[i].sum_abs, rows[i].largest);
    }
    const std::scoped_lock lock(merging);
    total.merge(mine);
  });
  return total;
}

/// a(j, i) for the entry k of row i in column j. In matrices from grids the mirror image stands as far from
/// the end of its row as the entry from the beginning of its own, so that place is looked at before the row
/// is searched.
double find_mirrored(const Csr& csr, std::int64_t i, std::int64_t k, bool& stored) {
  const std::int32_t j = csr.column[k];
  const std::int64_t guess = csr.row_start[j + 1] - 1 - (k - csr.row_start[i]);
  if (guess >= csr.row_start[j] && csr.column[guess] == i) {
    stored = true;
    return csr.value[guess];
  }
  return find(csr, j, static_cast<std::int32_t>(i), stored);
}

/// How far pairs a_ij, a_ji are from being equal.
struct Asymmetry {
  bool values = false;
  bool pattern = false;
  double largest = 0;  ///< max |a_ij - a_ji|

  void compare(double a, double b, bool both_stored, double scale) {
    const double difference = std::abs(a - b);
    values = values || difference > 1e-13 * scale;
    pattern = pattern || !both_stored;
    largest = std::max(largest, difference);
  }
  void merge(const Asymmetry& other) {
    values = values || other.values;
    pattern = pattern || other.pattern;
    largest = std::max(largest, other.largest);
  }
};

Asymmetry interior_asymmetry(const Csr& interior, const std::vector<RowSummary>& rows) {
  Asymmetry total;
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    Asymmetry mine;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k) {
        const std::int32_t j = interior.column[k];
        if (j == i) continue;
        bool stored = false;
        const double mirrored = find_mirrored(interior, i, k, stored);
        mine.compare(interior.value[k], mirrored, stored, std::min(rows[i].largest, rows[j].largest));
      }
    }
    const std::scoped_lock lock(merging);
    total.merge(mine);
  });
  return total;
}

/// An entry of a halo part on its way to the rank that owns its column, and so its mirror image.
struct TravellingEntry {
  std::int64_t row;
  std::int64_t column;
  double value;
  double row_largest;
};

Asymmetry halo_asymmetry(const comm::Comm& comm, const SplitMatrix& parts,
                         const std::vector<RowSummary>& rows) {
  const Range mine = parts.partition.range(comm.rank());
  std::vector<std::vector<TravellingEntry>> by_owner(comm.size());
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) {
    const std::int32_t i = parts.halo_rows[r];
    for (std::int64_t k = parts.halo.row_start[r]; k < parts.halo.row_start[r + 1]; ++k) {
      const std::int64_t column = parts.plan.ghosts[parts.halo.column[k]];
      by_owner[parts.partition.owner(column)].push_back(
          {mine.begin + i, column, parts.halo.value[k], rows[i].largest});
    }
  }
  std::vector<TravellingEntry> sent;
  std::vector<std::int64_t> offsets{0};
  for (const auto& entries : by_owner) {
    sent.insert(sent.end(), entries.begin(), entries.end());
    offsets.push_back(static_cast<std::int64_t>(sent.size()));
  }
  const auto received = comm.alltoallv(std::span<const TravellingEntry>(sent), offsets);

  std::vector<std::int32_t> halo_row_of(parts.interior.rows, -1);
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) halo_row_of[parts.halo_rows[r]] = r;
  Asymmetry result;
  for (const TravellingEntry& entry : received.values) {
    const auto i = static_cast<std::int32_t>(entry.column - mine.begin);
    const auto ghost = std::ranges::lower_bound(parts.plan.ghosts, entry.row);
    const bool known = halo_row_of[i] >= 0 && ghost != parts.plan.ghosts.end() && *ghost == entry.row;
    bool stored = false;
    const double mirrored = known ? find(parts.halo, halo_row_of[i],
                                         static_cast<std::int32_t>(ghost - parts.plan.ghosts.begin()), stored)
                                  : 0;
    result.compare(entry.value, mirrored, stored, std::min(entry.row_largest, rows[i].largest));
  }
  return result;
}

}  // namespace

MatrixFacts examine(const comm::Comm& comm, const SplitMatrix& parts) {
  const auto rows = summarize_rows(parts);
  const RowFigures figures = row_figures(parts, rows);
  Asymmetry asymmetry = interior_asymmetry(parts.interior, rows);
  asymmetry.merge(halo_asymmetry(comm, parts, rows));

  std::array<std::int64_t, 5> sums{parts.interior.nonzeros() + parts.halo.nonzeros(), figures.positive,
                                   figures.negative, figures.zero, figures.dominant};
  comm.allreduce(std::span<std::int64_t>(sums), comm::ReduceOp::sum);
  std::array<double, 7> maxima{-static_cast<double>(figures.min_row),
                               static_cast<double>(figures.max_row),
                               figures.max_abs,
                               figures.norm_infinity,
                               asymmetry.largest,
                               asymmetry.values ? 1.0 : 0.0,
                               asymmetry.pattern ? 1.0 : 0.0};
  comm.allreduce(std::span<double>(maxima), comm::ReduceOp::max);

  MatrixFacts facts;
  facts.rows = parts.partition.rows();
  facts.nonzeros = sums[0];
  facts.positive_diagonals = sums[1];
  facts.negative_diagonals = sums[2];
  facts.zero_diagonals = sums[3];
  facts.dominant_rows =
      static_cast<double>(sums[4]) / static_cast<double>(std::max<std::int64_t>(facts.rows, 1));
  facts.min_row_nonzeros = static_cast<std::int64_t>(-maxima[0]);
  facts.max_row_nonzeros = static_cast<std::int64_t>(maxima[1]);
  facts.max_abs = maxima[2];
  facts.norm_infinity = maxima[3];
  facts.asymmetry = facts.max_abs > 0 ? maxima[4] / facts.max_abs : 0;
  facts.symmetric = maxima[5] == 0;
  facts.pattern_symmetric = maxima[6] == 0;
  return facts;
}

}  // namespace ayatori::tuning
