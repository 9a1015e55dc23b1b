#include "ayatori/tuning/facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/sparse/mirror.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

/// The rows of an unsymmetric matrix that are compared with their columns first: all up to this many entries,
/// and at least one of so many. Looking up a mirror image takes as long as multiplying by tens of entries.
constexpr std::int64_t entries_per_step = 1 << 13;
constexpr std::int64_t longest_step = 256;

/// A row whose entries sum to less than this share of their absolute values is balanced.
constexpr double balanced = 0.01;

/// Entries, sums and maximum of a row.
struct RowSummary {
  std::int64_t length = 0;
  std::int64_t reach = 0;  ///< largest |i - j|
  std::int64_t reach_in_block = 0;
  double sum = 0;
  double sum_abs = 0;
  double largest = 0;
  double diagonal = 0;

  void add(const Csr& csr, std::int64_t row, std::int64_t diagonal_column) {
    const std::int64_t begin = csr.row_start[row];
    const std::int64_t end = csr.row_start[row + 1];
    std::int64_t diagonal_place = -1;
    length += end - begin;
    for (std::int64_t k = begin; k < end; ++k) {
      sum += csr.value[k];
      sum_abs += std::abs(csr.value[k]);
      largest = std::max(largest, std::abs(csr.value[k]));
      diagonal_place = csr.column[k] == diagonal_column ? k : diagonal_place;  // a move, not a jump
    }
    if (diagonal_place >= 0) diagonal = csr.value[diagonal_place];
  }
  /// Of ascending columns only the first and the last can be farthest.
  void add_reach(std::int64_t row, std::int64_t first_column, std::int64_t last_column) {
    reach = std::max({reach, std::abs(row - first_column), std::abs(row - last_column)});
  }
};

/// The figures that simple sums, minima and maxima over rows give.
struct RowFigures {
  std::int64_t min_row = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_row = 0;
  std::int64_t squares = 0;  ///< of lengths, summed
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  std::int64_t zero = 0;
  std::int64_t dominant = 0;
  std::int64_t strongly_dominant = 0;
  std::int64_t diffusive = 0;
  std::int64_t bandwidth = 0;        ///< largest |i - j|
  std::int64_t block_bandwidth = 0;  ///< the same within this rank's block
  double max_abs = 0;
  double norm_infinity = 0;
  double least_dominance = 1;
  double sum = 0;           ///< of all entries
  double diagonal_sum = 0;  ///< of those on the diagonal

  void add_row(const RowSummary& row) {
    const double magnitude = std::abs(row.diagonal);
    const double sum_abs = row.sum_abs * (1 - 1e-14);  // equal up to rounding is as good as equal
    const bool dominates = magnitude > 0 && 2 * magnitude >= sum_abs;
    min_row = std::min(min_row, row.length);
    max_row = std::max(max_row, row.length);
    squares += row.length * row.length;
    positive += row.diagonal > 0 ? 1 : 0;
    negative += row.diagonal < 0 ? 1 : 0;
    zero += row.diagonal == 0 ? 1 : 0;
    dominant += dominates ? 1 : 0;
    strongly_dominant += magnitude > 0 && 1.5 * magnitude >= sum_abs ? 1 : 0;
    diffusive += dominates || (magnitude > 0 && std::abs(row.sum) <= balanced * row.sum_abs) ? 1 : 0;
    bandwidth = std::max(bandwidth, row.reach);
    block_bandwidth = std::max(block_bandwidth, row.reach_in_block);
    max_abs = std::max(max_abs, row.largest);
    norm_infinity = std::max(norm_infinity, row.sum_abs);
    least_dominance = std::min(least_dominance, dominates ? std::max(2 - row.sum_abs / magnitude, 0.0) : 0.0);
    sum += row.sum;
    diagonal_sum += row.diagonal;
  }

  void merge(const RowFigures& other) {
    min_row = std::min(min_row, other.min_row);
    max_row = std::max(max_row, other.max_row);
    squares += other.squares;
    positive += other.positive;
    negative += other.negative;
    zero += other.zero;
    dominant += other.dominant;
    strongly_dominant += other.strongly_dominant;
    diffusive += other.diffusive;
    bandwidth = std::max(bandwidth, other.bandwidth);
    block_bandwidth = std::max(block_bandwidth, other.block_bandwidth);
    least_dominance = std::min(least_dominance, other.least_dominance);
    max_abs = std::max(max_abs, other.max_abs);
    norm_infinity = std::max(norm_infinity, other.norm_infinity);
    sum += other.sum;
    diagonal_sum += other.diagonal_sum;
  }
};

/// What tells entries of several ranks from their transposes without exchanging them: sums over the entries
/// of functions f(i, j, a_ij) that are pseudo-random but for f(i, j, a) = -f(j, i, a), so that an entry and
/// its equal mirror image cancel. Entries that do not match cancel only by chance, one of 2^64. (Sums of
/// hashes as fingerprints of sets: Clarke, Devadas, van Dijk, Gassend & Suh 2003.)
struct Skewness {
  std::uint64_t values = 0;
  std::uint64_t pattern = 0;

  /// A pseudo-random odd number for a row or column.
  static std::uint64_t key(std::int64_t i) {
    return static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c16U + 0xd1b54a32d192ed03U;
  }
  void add(std::int64_t i, std::int64_t j, double value) {
    const std::uint64_t place = key(i) * key(j);
    const std::uint64_t entry = random_bits(0, place ^ std::bit_cast<std::uint64_t>(value));
    const std::uint64_t position = random_bits(1, place);
    values += j > i ? entry : j < i ? -entry : 0;
    pattern += j > i ? position : j < i ? -position : 0;
  }
  void merge(const Skewness& other) {
    values += other.values;
    pattern += other.pattern;
  }
};

/// What one pass over a rank's rows tells.
struct Pass {
  RowFigures figures;
  Skewness of_halo;
  Array<double> largest;  ///< |a_ij| of each row
};

/// Traffic: 12 bytes per nonzero and 16 per row.
Pass pass_over_rows(const SplitMatrix& parts, std::int64_t first_row) {
  const Csr& interior = parts.interior;
  const Csr& halo = parts.halo;
  Pass pass;
  pass.largest.resize(interior.rows);
  std::map<std::int64_t, RowFigures> shares;  // of threads, merged in the order of their rows
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    RowFigures figures;
    Skewness skewness;
    auto r = std::ranges::lower_bound(parts.halo_rows, range.begin) - parts.halo_rows.begin();
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      RowSummary row;
      row.add(interior, i, i);
      if (row.length > 0)
        row.add_reach(i, interior.column[interior.row_start[i]],
                      interior.column[interior.row_start[i + 1] - 1]);
      row.reach_in_block = row.reach;
      if (r < halo.rows && parts.halo_rows[r] == i) {
        row.add(halo, r, -1);
        for (std::int64_t k = halo.row_start[r]; k < halo.row_start[r + 1]; ++k) {
          const std::int64_t j = parts.plan.ghosts[halo.column[k]];
          skewness.add(first_row + i, j, halo.value[k]);
          row.add_reach(first_row + i, j, j);
        }
        ++r;
      }
      figures.add_row(row);
      pass.largest[i] = row.largest;
    }
    const std::scoped_lock lock(merging);
    shares.emplace(range.begin, figures);
    pass.of_halo.merge(skewness);
  });
  for (const auto& [first, share] : shares) pass.figures.merge(share);
  return pass;
}

/// a(i, j) of the matrix, 0 where nothing is stored; `stored` tells which.
double find(const Csr& csr, std::int64_t i, std::int32_t j, bool& stored) {
  const auto begin = csr.column.begin() + csr.row_start[i];
  const auto end = csr.column.begin() + csr.row_start[i + 1];
  const auto place = std::lower_bound(begin, end, j);
  stored = place != end && *place == j;
  return stored ? csr.value[place - csr.column.begin()] : 0;
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
  double largest = 0;  ///< max |a_ij - a_ji|

  void compare(double a, double b, double scale) {
    const double difference = std::abs(a - b);
    values = values || difference > 1e-13 * scale;
    largest = std::max(largest, difference);
  }
  void merge(const Asymmetry& other) {
    values = values || other.values;
    largest = std::max(largest, other.largest);
  }
};

/// The entries that are compared with their mirror images.
struct Selection {
  std::int64_t row_step = 1;  ///< of the rows 0, row_step, 2 row_step, ...
  bool lower_only = false;    ///< those below the diagonal only, which are enough on a symmetric pattern

  std::int64_t first_row_from(std::int64_t row) const { return (row + row_step - 1) / row_step * row_step; }
  bool contains(std::int64_t row, std::int64_t column) const {
    return row % row_step == 0 && (column < row || (column > row && !lower_only));
  }
};

/// Of all rows.
Asymmetry whole_asymmetry(const Csr& interior, const Array<double>& largest, bool lower_only) {
  Asymmetry total;
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    Asymmetry mine;
    sparse::MirrorImages images(interior, interior.rows);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k) {
        const std::int32_t j = interior.column[k];
        if (lower_only && j >= i) break;
        const std::int64_t place = images.find(i, j);
        const double mirrored = place == sparse::MirrorImages::nowhere ? 0 : interior.value[place];
        mine.compare(interior.value[k], mirrored, std::min(largest[i], largest[j]));
      }
    }
    const std::scoped_lock lock(merging);
    total.merge(mine);
  });
  return total;
}

Asymmetry interior_asymmetry(const Csr& interior, std::int64_t first_row, const Array<double>& largest,
                             const Selection& selection) {
  if (selection.row_step == 1) return whole_asymmetry(interior, largest, selection.lower_only);
  Asymmetry total;
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    Asymmetry mine;
    for (std::int64_t i = selection.first_row_from(first_row + range.begin) - first_row; i < range.end;
         i += selection.row_step) {
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k) {
        const std::int32_t j = interior.column[k];
        if (!selection.contains(first_row + i, first_row + j)) continue;
        bool stored = false;
        const double mirrored = find_mirrored(interior, i, k, stored);
        mine.compare(interior.value[k], mirrored, std::min(largest[i], largest[j]));
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

Asymmetry halo_asymmetry(const comm::Comm& comm, const SplitMatrix& parts, const Array<double>& largest,
                         const Selection& selection) {
  const Range mine = parts.partition.range(comm.rank());
  std::vector<std::vector<TravellingEntry>> by_owner(comm.size());
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) {
    const std::int32_t i = parts.halo_rows[r];
    for (std::int64_t k = parts.halo.row_start[r]; k < parts.halo.row_start[r + 1]; ++k) {
      const std::int64_t column = parts.plan.ghosts[parts.halo.column[k]];
      if (!selection.contains(mine.begin + i, column)) continue;
      by_owner[parts.partition.owner(column)].push_back(
          {mine.begin + i, column, parts.halo.value[k], largest[i]});
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
    result.compare(entry.value, mirrored, std::min(entry.row_largest, largest[i]));
  }
  return result;
}

/// Collective. The asymmetry of the entries of a selection.
Asymmetry compare(const comm::Comm& comm, const SplitMatrix& parts, const Array<double>& largest,
                  const Selection& selection) {
  const std::int64_t first_row = parts.partition.range(comm.rank()).begin;
  Asymmetry mine = interior_asymmetry(parts.interior, first_row, largest, selection);
  mine.merge(halo_asymmetry(comm, parts, largest, selection));
  std::array<double, 2> maxima{mine.largest, mine.values ? 1.0 : 0.0};
  comm.allreduce(std::span<double>(maxima), comm::ReduceOp::max);
  return {maxima[1] != 0, maxima[0]};
}

/// Collective. The asymmetry of a matrix that is not exactly symmetric. Most such matrices show it in any few
/// rows, and the others have all their rows compared.
Asymmetry find_asymmetry(const comm::Comm& comm, const SplitMatrix& parts, const Array<double>& largest,
                         std::int64_t nonzeros, bool symmetric_pattern) {
  const std::int64_t step = std::clamp<std::int64_t>(nonzeros / entries_per_step, 1, longest_step);
  Asymmetry found = compare(comm, parts, largest, {step, symmetric_pattern});
  if (!found.values && step > 1) found = compare(comm, parts, largest, {1, symmetric_pattern});
  return found;
}

}  // namespace

MatrixFacts examine(const comm::Comm& comm, const SplitMatrix& parts) {
  const Pass pass = pass_over_rows(parts, parts.partition.range(comm.rank()).begin);
  const RowFigures& figures = pass.figures;
  const sparse::Symmetry of_block = sparse::symmetry_of(parts.interior, &sparse::Symmetry::pattern);
  std::array<std::int64_t, 10> sums{parts.interior.nonzeros() + parts.halo.nonzeros(),
                                    figures.positive,
                                    figures.negative,
                                    figures.zero,
                                    figures.dominant,
                                    figures.diffusive,
                                    figures.squares,
                                    figures.strongly_dominant,
                                    of_block.pattern ? 0 : 1,
                                    of_block.values ? 0 : 1};
  comm.allreduce(std::span<std::int64_t>(sums), comm::ReduceOp::sum);
  std::array<std::uint64_t, 2> skewness{pass.of_halo.values, pass.of_halo.pattern};
  comm.allreduce(std::span<std::uint64_t>(skewness), comm::ReduceOp::sum);
  std::array<double, 2> entries{figures.sum, figures.diagonal_sum};
  comm.allreduce(std::span<double>(entries), comm::ReduceOp::sum);
  const auto layers = [](std::int64_t rows, std::int64_t bandwidth) {
    return bandwidth > 0 ? static_cast<double>(rows) / static_cast<double>(bandwidth) : 0;
  };
  const double layers_of_block = parts.interior.rows > 0
                                     ? layers(parts.interior.rows, figures.block_bandwidth)
                                     : std::numeric_limits<double>::infinity();
  std::array<double, 7> maxima{-static_cast<double>(figures.min_row),
                               static_cast<double>(figures.max_row),
                               figures.max_abs,
                               figures.norm_infinity,
                               -figures.least_dominance,
                               static_cast<double>(figures.bandwidth),
                               -layers_of_block};
  comm.allreduce(std::span<double>(maxima), comm::ReduceOp::max);

  MatrixFacts facts;
  facts.rows = parts.partition.rows();
  facts.nonzeros = sums[0];
  facts.positive_diagonals = sums[1];
  facts.negative_diagonals = sums[2];
  facts.zero_diagonals = sums[3];
  const auto rows = static_cast<double>(std::max<std::int64_t>(facts.rows, 1));
  facts.dominant_rows = static_cast<double>(sums[4]) / rows;
  facts.diffusive_rows = static_cast<double>(sums[5]) / rows;
  facts.strongly_dominant_rows = static_cast<double>(sums[7]) / rows;
  const double quotient = entries[0] / entries[1];
  facts.constant_quotient = std::isfinite(quotient) ? quotient : 0;
  facts.min_row_nonzeros = static_cast<std::int64_t>(-maxima[0]);
  facts.max_row_nonzeros = static_cast<std::int64_t>(maxima[1]);
  if (facts.nonzeros > 0)
    facts.mean_row_of_entries = static_cast<double>(sums[6]) / static_cast<double>(facts.nonzeros);
  facts.max_abs = maxima[2];
  facts.norm_infinity = maxima[3];
  facts.least_dominance = facts.rows > 0 ? std::abs(maxima[4]) : 0;
  facts.bandwidth = static_cast<std::int64_t>(maxima[5]);
  facts.layers = facts.rows > 0 ? std::max(layers(facts.rows, facts.bandwidth), -maxima[6]) : 0;
  facts.pattern_symmetric = sums[8] == 0 && skewness[1] == 0;
  facts.symmetric = sums[9] == 0 && skewness[0] == 0;
  if (!facts.symmetric) {
    const Asymmetry asymmetry =
        find_asymmetry(comm, parts, pass.largest, facts.nonzeros, facts.pattern_symmetric);
    facts.symmetric = !asymmetry.values;
    facts.asymmetry = facts.max_abs > 0 ? asymmetry.largest / facts.max_abs : 0;
  }
  return facts;
}

}  // namespace ayatori::tuning
