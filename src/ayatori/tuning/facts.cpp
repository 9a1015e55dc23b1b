#include "ayatori/tuning/facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/row_figures.hpp"
#include "ayatori/tuning/asymmetry.hpp"
#include "ayatori/tuning/dropped_fill.hpp"
#include "ayatori/tuning/symmetry_fingerprint.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

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
    const sparse::RowFigures figures = sparse::row_figures(csr, row, diagonal_column);
    length += csr.row_start[row + 1] - csr.row_start[row];
    sum += figures.sum;
    sum_abs += figures.sum_abs;
    largest = std::max(largest, figures.largest);
    diagonal += figures.diagonal;
  }
  /// Of ascending columns only the first and the last can be farthest.
  void add_reach(std::int64_t row, std::int64_t first_column, std::int64_t last_column) {
    reach = std::max({reach, std::abs(row - first_column), std::abs(row - last_column)});
  }
};

/// The figures that simple sums, minima and maxima over rows give.
struct MatrixFigures {
  std::int64_t min_row = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_row = 0;
  std::int64_t squares = 0;  ///< of lengths, summed
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  std::int64_t zero = 0;
  std::int64_t boundary = 0;
  std::int64_t dominant = 0;
  std::int64_t strongly_dominant = 0;
  std::int64_t diffusive = 0;
  std::int64_t bandwidth = 0;                                     ///< largest |i - j|
  std::int64_t block_bandwidth = 0;                               ///< the same within this rank's block
  double min_diagonal = std::numeric_limits<double>::infinity();  ///< magnitudes
  double max_diagonal = 0;
  double max_abs = 0;
  double norm_infinity = 0;
  double least_dominance = 1;
  double diagonal_sum = 0;
  solvers::RowSums row_sums;

  void add_row(const RowSummary& row) {
    const double magnitude = std::abs(row.diagonal);
    const double sum_abs = row.sum_abs * (1 - 1e-14);  // equal up to rounding is as good as equal
    const bool is_dominant = magnitude > 0 && 2 * magnitude >= sum_abs;
    min_row = std::min(min_row, row.length);
    max_row = std::max(max_row, row.length);
    squares += row.length * row.length;
    positive += row.diagonal > 0 ? 1 : 0;
    negative += row.diagonal < 0 ? 1 : 0;
    zero += row.diagonal == 0 ? 1 : 0;
    boundary += sparse::is_boundary_row(magnitude, row.sum_abs) ? 1 : 0;
    dominant += is_dominant ? 1 : 0;
    strongly_dominant += magnitude > 0 && 1.5 * magnitude >= sum_abs ? 1 : 0;
    diffusive += is_dominant || (magnitude > 0 && std::abs(row.sum) <= balanced * row.sum_abs) ? 1 : 0;
    bandwidth = std::max(bandwidth, row.reach);
    block_bandwidth = std::max(block_bandwidth, row.reach_in_block);
    min_diagonal = std::min(min_diagonal, magnitude);
    max_diagonal = std::max(max_diagonal, magnitude);
    max_abs = std::max(max_abs, row.largest);
    norm_infinity = std::max(norm_infinity, row.sum_abs);
    least_dominance =
        std::min(least_dominance, is_dominant ? std::max(2 - row.sum_abs / magnitude, 0.0) : 0.0);
    diagonal_sum += row.diagonal;
    row_sums.add_row(row.sum, row.sum_abs);
  }

  void merge(const MatrixFigures& other) {
    min_row = std::min(min_row, other.min_row);
    max_row = std::max(max_row, other.max_row);
    squares += other.squares;
    positive += other.positive;
    negative += other.negative;
    zero += other.zero;
    boundary += other.boundary;
    dominant += other.dominant;
    strongly_dominant += other.strongly_dominant;
    diffusive += other.diffusive;
    bandwidth = std::max(bandwidth, other.bandwidth);
    block_bandwidth = std::max(block_bandwidth, other.block_bandwidth);
    least_dominance = std::min(least_dominance, other.least_dominance);
    min_diagonal = std::min(min_diagonal, other.min_diagonal);
    max_diagonal = std::max(max_diagonal, other.max_diagonal);
    max_abs = std::max(max_abs, other.max_abs);
    norm_infinity = std::max(norm_infinity, other.norm_infinity);
    diagonal_sum += other.diagonal_sum;
    row_sums.merge(other.row_sums);
  }
};

double least_diameter(std::int64_t rows, std::int64_t bandwidth) {
  return bandwidth > 0 ? static_cast<double>(rows) / static_cast<double>(bandwidth) : 0;
}

/// What one pass over a rank's rows tells.
struct Pass {
  MatrixFigures figures;
  SymmetryFingerprint of_halo;
};

/// Traffic: 12 bytes per nonzero and 8 per row.
Pass pass_over_rows(const SplitMatrix& parts, std::int64_t first_row) {
  const Csr& interior = parts.interior;
  const Csr& halo = parts.halo;
  Pass pass;
  std::map<std::int64_t, MatrixFigures> shares;  // of threads, merged in the order of their rows
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    MatrixFigures figures;
    SymmetryFingerprint fingerprint;
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
          fingerprint.add(first_row + i, j, halo.value[k]);
          row.add_reach(first_row + i, j, j);
        }
        ++r;
      }
      figures.add_row(row);
    }
    const std::scoped_lock lock(merging);
    shares.emplace(range.begin, figures);
    pass.of_halo.merge(fingerprint);
  });
  for (const auto& [first, share] : shares) pass.figures.merge(share);
  return pass;
}

/// Of blocks this full no format moves more than compressed sparse rows do, and one of blocks multiplies
/// several times as fast where neither waits for memory.
constexpr double full_blocks = 0.75;
/// Nonzeros of a rank below which a few products are hardly longer than a glance at the blocks.
constexpr std::int64_t worth_a_glance = 20000;

using BlockFill = std::array<double, sparse::block_sizes.size()>;

BlockFill fill_of_blocks(const Csr& matrix) {
  if (matrix.rows == 0) return {1, 1, 1};
  return matrix.nonzeros() < worth_a_glance ? BlockFill{} : sparse::glance_at_blocks(matrix);
}

/// The size whose blocks hold the matrix in the fewest bytes, of those that are full.
int size_of_full_blocks(const BlockFill& fill) {
  int best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < fill.size(); ++s) {
    const double size = sparse::block_sizes[s];
    const double bytes_of_entry = (8 + 4 / (size * size)) / fill[s];
    if (fill[s] < full_blocks || bytes_of_entry >= least) continue;
    least = bytes_of_entry;
    best = sparse::block_sizes[s];
  }
  return best;
}

/// Whether what factors leave out may decide: elsewhere a look would be for nothing.
bool has_diffusive_rows(const MatrixFigures& figures, std::int64_t rows) {
  return static_cast<double>(figures.diffusive) >= nearly_all * static_cast<double>(rows);
}

}  // namespace

MatrixFacts examine(const comm::Comm& comm, const SplitMatrix& parts) {
  const Pass pass = pass_over_rows(parts, parts.partition.range(comm.rank()).begin);
  const MatrixFigures& figures = pass.figures;
  const sparse::Symmetry of_block = probable_symmetry(parts.interior);
  std::array<std::int64_t, 15> sums{parts.interior.nonzeros() + parts.halo.nonzeros(),
                                    figures.positive,
                                    figures.negative,
                                    figures.zero,
                                    figures.dominant,
                                    figures.diffusive,
                                    figures.squares,
                                    figures.strongly_dominant,
                                    of_block.pattern ? 0 : 1,
                                    of_block.values ? 0 : 1,
                                    figures.row_sums.positive,
                                    figures.row_sums.negative,
                                    figures.row_sums.vanishing,
                                    parts.interior.rows > 0 ? threads_for(parts.interior.rows) : 0,
                                    figures.boundary};
  comm.allreduce(std::span<std::int64_t>(sums), comm::ReduceOp::sum);
  std::array<std::uint64_t, 2> fingerprint{pass.of_halo.values, pass.of_halo.pattern};
  comm.allreduce(std::span<std::uint64_t>(fingerprint), comm::ReduceOp::sum);
  const DroppedFill dropped =
      has_diffusive_rows(figures, parts.interior.rows) ? dropped_fill(parts.interior) : DroppedFill{};
  std::array<double, 5> totals{figures.row_sums.total, figures.row_sums.total_abs, figures.diagonal_sum,
                               dropped.rows, dropped.sum};
  comm.allreduce(std::span<double>(totals), comm::ReduceOp::sum);
  const double least_diameter_of_block = parts.interior.rows > 0
                                             ? least_diameter(parts.interior.rows, figures.block_bandwidth)
                                             : std::numeric_limits<double>::infinity();
  const BlockFill fill = fill_of_blocks(parts.interior);
  std::array<double, 12> maxima{-static_cast<double>(figures.min_row),
                                static_cast<double>(figures.max_row),
                                figures.max_abs,
                                figures.norm_infinity,
                                -figures.least_dominance,
                                static_cast<double>(figures.bandwidth),
                                -least_diameter_of_block,
                                -figures.min_diagonal,
                                figures.max_diagonal,
                                -fill[0],
                                -fill[1],
                                -fill[2]};
  comm.allreduce(std::span<double>(maxima), comm::ReduceOp::max);

  MatrixFacts facts;
  facts.rows = parts.partition.rows();
  facts.nonzeros = sums[0];
  facts.positive_diagonals = sums[1];
  facts.negative_diagonals = sums[2];
  facts.zero_diagonals = sums[3];
  facts.boundary_rows = sums[14];
  const auto rows = static_cast<double>(std::max<std::int64_t>(facts.rows, 1));
  facts.dominant_rows = static_cast<double>(sums[4]) / rows;
  facts.diffusive_rows = static_cast<double>(sums[5]) / rows;
  facts.strongly_dominant_rows = static_cast<double>(sums[7]) / rows;
  facts.row_sums = {sums[10], sums[11], sums[12], totals[0], totals[1]};
  const double quotient = totals[0] / totals[2];
  facts.constant_quotient = std::isfinite(quotient) ? quotient : 0;
  facts.dropped_fill = totals[3] > 0 ? totals[4] / totals[3] : 0;
  facts.min_abs_diagonal = facts.rows > 0 ? std::abs(maxima[7]) : 0;
  facts.max_abs_diagonal = maxima[8];
  facts.min_row_nonzeros = static_cast<std::int64_t>(-maxima[0]);
  facts.max_row_nonzeros = static_cast<std::int64_t>(maxima[1]);
  if (facts.nonzeros > 0)
    facts.mean_row_of_entries = static_cast<double>(sums[6]) / static_cast<double>(facts.nonzeros);
  facts.max_abs = maxima[2];
  facts.norm_infinity = maxima[3];
  facts.least_dominance = facts.rows > 0 ? std::abs(maxima[4]) : 0;
  facts.bandwidth = static_cast<std::int64_t>(maxima[5]);
  facts.least_diameter =
      facts.rows > 0 ? std::max(least_diameter(facts.rows, facts.bandwidth), -maxima[6]) : 0;
  facts.blocks = sums[13];
  facts.block_size = size_of_full_blocks({-maxima[9], -maxima[10], -maxima[11]});
  facts.pattern_symmetric = sums[8] == 0 && fingerprint[1] == 0;
  facts.symmetric = sums[9] == 0 && fingerprint[0] == 0;
  if (!facts.symmetric) {
    const Asymmetry asymmetry = find_asymmetry(comm, parts, facts.nonzeros, facts.pattern_symmetric);
    facts.symmetric = !asymmetry.exceeds_rounding;
    facts.asymmetry = facts.max_abs > 0 ? asymmetry.largest / facts.max_abs : 0;
  }
  return facts;
}

MatrixFacts on_one_rank(const comm::Comm& comm, MatrixFacts facts) {
  facts.least_diameter = least_diameter(facts.rows, facts.bandwidth);
  facts.blocks = comm.broadcast<std::int64_t>(threads_for(facts.rows), 0);
  return facts;
}

}  // namespace ayatori::tuning
