#include "ayatori/tuning/facts/facts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/kernels/simd.hpp"
#include "ayatori/sparse/pattern/diagonal_rows.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"
#include "ayatori/sparse/pattern/row_figures.hpp"
#include "ayatori/tuning/facts/asymmetry.hpp"
#include "ayatori/tuning/facts/dropped_fill.hpp"
#include "ayatori/tuning/facts/symmetry_fingerprint.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

/// A row whose entries sum to less than this share of their absolute values is balanced.
constexpr double balanced = 0.01;

/// Summaries of some rows, side by side, so that loops over them are of vectors and without jumps.
struct RowSummaries {
  static constexpr int most = 64;
  template <class T>
  using Each = std::array<T, most>;

  int rows = 0;
  Each<std::int64_t> length;
  Each<std::int64_t> reach;  ///< largest |i - j|
  Each<std::int64_t> reach_in_block;
  Each<double> sum;
  Each<double> sum_abs;
  Each<double> largest;
  Each<double> diagonal;

  /// Only the first and the last of ascending columns can be farthest.
  static std::int64_t farthest(std::int64_t row, std::int64_t first_column, std::int64_t last_column) {
    return std::max(std::abs(row - first_column), std::abs(row - last_column));
  }
  /// A row begins with what stands in this rank's block.
  [[gnu::always_inline]] void begin(const Csr& interior, std::int64_t i, const sparse::RowFigures& figures) {
    const std::int64_t first = interior.row_start[i];
    const std::int64_t end = interior.row_start[i + 1];
    length[rows] = end - first;
    reach[rows] = first < end ? farthest(i, interior.column[first], interior.column[end - 1]) : 0;
    reach_in_block[rows] = reach[rows];
    sum[rows] = figures.sum;
    sum_abs[rows] = figures.sum_abs;
    largest[rows] = figures.largest;
    diagonal[rows++] = figures.diagonal;
  }
  /// And goes on with what stands outside, in row r of the halo.
  void go_on(int row, const SplitMatrix& parts, std::int64_t first_row, std::int64_t r,
             const sparse::RowFigures& figures) {
    const std::int64_t first = parts.halo.row_start[r];
    const std::int64_t end = parts.halo.row_start[r + 1];
    length[row] += end - first;
    sum[row] += figures.sum;
    sum_abs[row] += figures.sum_abs;
    largest[row] = std::max(largest[row], figures.largest);
    if (first < end)
      reach[row] = std::max(
          reach[row], farthest(first_row + parts.halo_rows[r], parts.plan.ghosts[parts.halo.column[first]],
                               parts.plan.ghosts[parts.halo.column[end - 1]]));
  }
};

/// The figures that simple sums, minima and maxima over rows give.
struct MatrixFigures {
  std::int64_t min_row = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_row = 0;
  std::int64_t squares = 0;  ///< squares of lengths, summed
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
  double sum = 0;  ///< sum of the rows that are no boundary rows
  solvers::RowSums row_sums;

  [[gnu::always_inline]] void add(const RowSummaries& of) {
    for (int i = 0; i < of.rows; ++i) {
      min_row = std::min(min_row, of.length[i]);
      max_row = std::max(max_row, of.length[i]);
      squares += of.length[i] * of.length[i];
      bandwidth = std::max(bandwidth, of.reach[i]);
      block_bandwidth = std::max(block_bandwidth, of.reach_in_block[i]);
    }
    for (int i = 0; i < of.rows; ++i) {
      positive += of.diagonal[i] > 0 ? 1 : 0;
      negative += of.diagonal[i] < 0 ? 1 : 0;
      zero += of.diagonal[i] == 0 ? 1 : 0;
    }
    for (int i = 0; i < of.rows; ++i) {
      max_abs = std::max(max_abs, of.largest[i]);
      norm_infinity = std::max(norm_infinity, of.sum_abs[i]);
      row_sums.add_row(of.sum[i], of.sum_abs[i]);
    }
    for (int i = 0; i < of.rows; ++i) {
      const double magnitude = std::abs(of.diagonal[i]);
      const double sum_abs = of.sum_abs[i] * (1 - 1e-14);  // equal up to rounding is as good as equal
      const bool has_diagonal = magnitude > 0;
      const bool is_boundary = sparse::is_boundary_row(magnitude, of.sum_abs[i]);
      const bool is_dominant = !is_boundary & has_diagonal & (2 * magnitude >= sum_abs);
      const bool is_balanced = has_diagonal & (std::abs(of.sum[i]) <= balanced * of.sum_abs[i]);
      boundary += is_boundary ? 1 : 0;
      dominant += is_dominant ? 1 : 0;
      strongly_dominant += (!is_boundary & has_diagonal & (1.5 * magnitude >= sum_abs)) ? 1 : 0;
      diffusive += (is_dominant | (!is_boundary & is_balanced)) ? 1 : 0;
      min_diagonal = std::min(min_diagonal, is_boundary ? min_diagonal : magnitude);
      max_diagonal = std::max(max_diagonal, is_boundary ? 0 : magnitude);
      const double dominance = is_dominant ? std::max(2 - of.sum_abs[i] / magnitude, 0.0) : 0;
      least_dominance = std::min(least_dominance, is_boundary ? 1 : dominance);
      diagonal_sum += is_boundary ? 0 : of.diagonal[i];
      sum += is_boundary ? 0 : of.sum[i];
    }
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
    sum += other.sum;
    row_sums.merge(other.row_sums);
  }
};

double least_diameter(std::int64_t rows, std::int64_t bandwidth) {
  return bandwidth > 0 ? static_cast<double>(rows) / static_cast<double>(bandwidth) : 0;
}

/// What is zero where a matrix is the same as its transpose; of a real matrix over the halo alone.
struct Fingerprints {
  SymmetryFingerprint entries;       ///< for a real form: complex numbers, the transpose conjugated
  std::uint64_t not_conjugated = 0;  ///< values of a real form, the transpose not conjugated

  void merge(const Fingerprints& other) {
    entries.merge(other.entries);
    not_conjugated += other.not_conjugated;
  }
};

/// What one pass over a rank's rows tells.
struct Pass {
  MatrixFigures figures;
  Fingerprints prints;
};

/// The figures of this rank's rows, `step` at a time: begin(summaries, prints, i) of the block, and where row
/// i has a halo go_on(summaries, prints, its place, i, r), r being the row of the halo.
template <int step, class Begin, class GoOn>
Pass pass_over_rows(const SplitMatrix& parts, const Begin& begin, const GoOn& go_on) {
  Pass pass;
  std::map<std::int64_t, MatrixFigures> shares;  // shares of threads, merged in the order of their rows
  std::mutex merging;
  const auto simd = sparse::best_simd();
  parallel_ranges(parts.interior.rows / step, [&](Range range) {
    MatrixFigures figures;
    Fingerprints prints;
    std::int64_t r = std::ranges::lower_bound(parts.halo_rows, step * range.begin) - parts.halo_rows.begin();
    const auto add_rows = [&]<int Width>() [[gnu::always_inline]] {
      for (std::int64_t first = step * range.begin; first < step * range.end; first += RowSummaries::most) {
        const std::int64_t last = std::min(first + RowSummaries::most, step * range.end);
        RowSummaries summaries;
        for (std::int64_t i = first; i < last; i += step) begin(summaries, prints, i);
        for (; r < parts.halo.rows && parts.halo_rows[r] < last; r += step)
          go_on(summaries, prints, static_cast<int>(parts.halo_rows[r] - first), parts.halo_rows[r], r);
        figures.add(summaries);
      }
    };
    sparse::with_simd(simd, add_rows);
    const std::scoped_lock lock(merging);
    shares.emplace(range.begin, figures);
    pass.prints.merge(prints);
  });
  for (const auto& [first, share] : shares) pass.figures.merge(share);
  return pass;
}

/// Traffic: 12 bytes per nonzero and 8 per row.
Pass pass_over_real_rows(const SplitMatrix& parts, std::int64_t first_row) {
  const auto begin = [&](RowSummaries& rows, auto&, std::int64_t i) [[gnu::always_inline]] {
    rows.begin(parts.interior, i, sparse::row_figures(parts.interior, i, i));
  };
  const auto go_on = [&](RowSummaries& rows, Fingerprints& prints, int place, std::int64_t i,
                         std::int64_t r) {
    rows.go_on(place, parts, first_row, r, sparse::row_figures(parts.halo, r, -1));
    for (std::int64_t k = parts.halo.row_start[r]; k < parts.halo.row_start[r + 1]; ++k)
      prints.entries.add(first_row + i, parts.plan.ghosts[parts.halo.column[k]], parts.halo.value[k]);
  };
  return pass_over_rows<1>(parts, begin, go_on);
}

/// A complex number in row i and column j of the real form, both even. Imaginary parts are as entries
/// `beyond` the real ones; where the transpose is conjugated, those below the diagonal have the other sign.
void add_complex(Fingerprints& prints, std::int64_t i, std::int64_t j, std::int64_t beyond,
                 sparse::Complex value) {
  const double real = value.real() + 0.0;  // no negative zero
  const double imaginary = value.imag() + 0.0;
  prints.entries.add(i, j, real);
  prints.entries.add(beyond + i, beyond + j, j < i ? 0.0 - imaginary : imaginary);
  if (i == j) prints.entries.values += std::bit_cast<std::uint64_t>(imaginary);
  SymmetryFingerprint transposed;
  transposed.add(i, j, real);
  transposed.add(beyond + i, beyond + j, imaginary);
  prints.not_conjugated += transposed.values;
}

/// Pass over a real form, in the moduli of complex numbers, told by even rows. Traffic: 6 bytes per nonzero.
Pass pass_over_complex_rows(const SplitMatrix& parts, std::int64_t first_row) {
  const std::int64_t beyond = parts.partition.rows();
  const auto add_to_prints = [&](Fingerprints& prints, const Csr& csr, std::int64_t i, std::int64_t place,
                                 const auto& column_of) {
    for (std::int64_t k = csr.row_start[place]; k < csr.row_start[place + 1]; k += 2)
      add_complex(prints, first_row + i, column_of(csr.column[k]), beyond, {csr.value[k], -csr.value[k + 1]});
  };
  const auto begin = [&](RowSummaries& rows, Fingerprints& prints, std::int64_t i) {
    auto figures = sparse::complex_row_figures(parts.interior, i, i);
    rows.begin(parts.interior, i, figures);
    figures.sum = figures.sum_below;
    rows.begin(parts.interior, i, figures);
    add_to_prints(prints, parts.interior, i, i, [&](std::int64_t column) { return first_row + column; });
  };
  const auto go_on = [&](RowSummaries& rows, Fingerprints& prints, int place, std::int64_t i,
                         std::int64_t r) {
    auto figures = sparse::complex_row_figures(parts.halo, r, -1);
    rows.go_on(place, parts, first_row, r, figures);
    figures.sum = figures.sum_below;
    rows.go_on(place + 1, parts, first_row, r, figures);
    add_to_prints(prints, parts.halo, i, r, [&](std::int64_t column) { return parts.plan.ghosts[column]; });
  };
  return pass_over_rows<2>(parts, begin, go_on);
}

/// No format of blocks this full moves more than compressed sparse rows do. One of blocks multiplies
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
  const std::int64_t others = rows - figures.boundary;
  return others > 0 && static_cast<double>(figures.diffusive) >= nearly_all * static_cast<double>(others);
}

/// What ranks add up, by kinds of numbers: structs of nothing but such.
struct Counts {
  std::int64_t nonzeros;
  std::int64_t positive_diagonals;
  std::int64_t negative_diagonals;
  std::int64_t zero_diagonals;
  std::int64_t dominant_rows;
  std::int64_t diffusive_rows;
  std::int64_t squares;
  std::int64_t strongly_dominant_rows;
  std::int64_t unsymmetric_patterns;  ///< ranks whose own block has one
  std::int64_t unsymmetric_blocks;
  std::int64_t positive_row_sums;
  std::int64_t negative_row_sums;
  std::int64_t vanishing_row_sums;
  std::int64_t threads;
  std::int64_t boundary_rows;
};
struct Hashes {
  std::uint64_t values;
  std::uint64_t pattern;
  std::uint64_t not_conjugated;
};
struct Totals {
  double of_entries;
  double of_magnitudes;
  double of_others;    ///< entries of the rows that are no boundary rows
  double of_diagonal;  ///< diagonal entries of these rows
  double rows_of_dropped_fill;
  double dropped_fill;
};
/// What the largest, and the least, of all ranks is.
struct Maxima {
  double row_nonzeros;
  double abs;
  double norm_infinity;
  double bandwidth;
  double diagonal;
};
struct Minima {
  double row_nonzeros;
  double dominance;
  double diameter_of_block;
  double diagonal;
  BlockFill fill_of_blocks;
};

/// Collective.
template <class Number, class Figures>
Figures reduced(const comm::Comm& comm, const Figures& mine, comm::ReduceOp op) {
  static_assert(sizeof(Figures) % sizeof(Number) == 0);
  auto numbers = std::bit_cast<std::array<Number, sizeof(Figures) / sizeof(Number)>>(mine);
  comm.allreduce(std::span<Number>(numbers), op);
  return std::bit_cast<Figures>(numbers);
}

Counts summed(const comm::Comm& comm, const Counts& mine) {
  return reduced<std::int64_t>(comm, mine, comm::ReduceOp::sum);
}
Hashes summed(const comm::Comm& comm, const Hashes& mine) {
  return reduced<std::uint64_t>(comm, mine, comm::ReduceOp::sum);
}
Totals summed(const comm::Comm& comm, const Totals& mine) {
  return reduced<double>(comm, mine, comm::ReduceOp::sum);
}
Maxima largest(const comm::Comm& comm, const Maxima& mine) {
  return reduced<double>(comm, mine, comm::ReduceOp::max);
}
Minima least(const comm::Comm& comm, const Minima& mine) {
  return reduced<double>(comm, mine, comm::ReduceOp::min);
}

/// Whether a few rows of this rank's own block show that the matrix is not symmetric without its diagonal
/// rows and their columns either: nearly every unsymmetric matrix shows it in one.
bool is_unsymmetric_inside(const Csr& matrix) {
  constexpr std::int32_t looks = 64;
  const auto is_boundary = [](const sparse::RowFigures& row) {
    return sparse::is_boundary_row(std::abs(row.diagonal), row.sum_abs);
  };
  const std::int32_t step = std::max(matrix.rows / looks, 1);
  for (std::int32_t i = 0; i < matrix.rows; i += step) {
    const sparse::RowFigures row = sparse::row_figures(matrix, i, i);
    if (is_boundary(row)) continue;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int32_t j = matrix.column[k];
      const sparse::RowFigures other = sparse::row_figures(matrix, j, j);
      const double mirrored = sparse::value_at(matrix, sparse::find_mirror_image(matrix, i, k));
      const double difference = std::abs(matrix.value[k] - mirrored);
      if (difference > asymmetry_by_rounding * std::max(row.largest, other.largest) && !is_boundary(other))
        return true;
    }
  }
  return false;
}

/// Collective.
bool is_complex(const comm::Comm& comm, const SplitMatrix& parts) {
  return parts.partition.rows() > 0 &&
         !comm.any(!sparse::is_real_form(parts.interior) || !sparse::is_real_form(parts.halo));
}

/// Collective. Of a real form whose complex matrix is not exactly equal to its transpose: whether it is up to
/// rounding, as then the real form with every other row negated is.
bool is_nearly_complex_symmetric(const comm::Comm& comm, const SplitMatrix& parts, const MatrixFacts& facts) {
  if (!facts.pattern_symmetric) return false;
  auto turned = comm::agree(comm, [&] { return parts; });
  for (Csr* csr : {&turned.interior, &turned.halo})
    parallel_for(csr->rows / 2, [&](std::int64_t i) {
      for (std::int64_t k = csr->row_start[2 * i + 1]; k < csr->row_start[2 * i + 2]; ++k)
        csr->value[k] = -csr->value[k];
    });
  return !find_asymmetry(comm, turned, facts.nonzeros, facts.pattern_symmetric).exceeds_rounding;
}

}  // namespace

MatrixFacts examine(const comm::Comm& comm, const SplitMatrix& parts) {
  const bool complex_form = is_complex(comm, parts);
  const std::int64_t first_row = parts.partition.range(comm.rank()).begin;
  const Pass pass =
      complex_form ? pass_over_complex_rows(parts, first_row) : pass_over_real_rows(parts, first_row);
  const MatrixFigures& figures = pass.figures;
  const sparse::Symmetry of_block = complex_form ? sparse::Symmetry{} : probable_symmetry(parts.interior);
  const bool has_rows = parts.interior.rows > 0;
  const Counts counts = summed(comm, Counts{.nonzeros = parts.interior.nonzeros() + parts.halo.nonzeros(),
                                            .positive_diagonals = figures.positive,
                                            .negative_diagonals = figures.negative,
                                            .zero_diagonals = figures.zero,
                                            .dominant_rows = figures.dominant,
                                            .diffusive_rows = figures.diffusive,
                                            .squares = figures.squares,
                                            .strongly_dominant_rows = figures.strongly_dominant,
                                            .unsymmetric_patterns = of_block.pattern ? 0 : 1,
                                            .unsymmetric_blocks = of_block.values ? 0 : 1,
                                            .positive_row_sums = figures.row_sums.positive,
                                            .negative_row_sums = figures.row_sums.negative,
                                            .vanishing_row_sums = figures.row_sums.vanishing,
                                            .threads = has_rows ? threads_for(parts.interior.rows) : 0,
                                            .boundary_rows = figures.boundary});
  const Hashes prints = summed(comm, Hashes{.values = pass.prints.entries.values,
                                            .pattern = pass.prints.entries.pattern,
                                            .not_conjugated = pass.prints.not_conjugated});
  const DroppedFill dropped =
      has_diffusive_rows(figures, parts.interior.rows) ? dropped_fill(parts.interior) : DroppedFill{};
  const Totals totals = summed(comm, Totals{.of_entries = figures.row_sums.total,
                                            .of_magnitudes = figures.row_sums.total_abs,
                                            .of_others = figures.sum,
                                            .of_diagonal = figures.diagonal_sum,
                                            .rows_of_dropped_fill = dropped.rows,
                                            .dropped_fill = dropped.sum});
  const double of_block_diameter = has_rows ? least_diameter(parts.interior.rows, figures.block_bandwidth)
                                            : std::numeric_limits<double>::infinity();
  const Maxima maxima = largest(comm, Maxima{.row_nonzeros = static_cast<double>(figures.max_row),
                                             .abs = figures.max_abs,
                                             .norm_infinity = figures.norm_infinity,
                                             .bandwidth = static_cast<double>(figures.bandwidth),
                                             .diagonal = figures.max_diagonal});
  const Minima minima = least(comm, Minima{.row_nonzeros = static_cast<double>(figures.min_row),
                                           .dominance = figures.least_dominance,
                                           .diameter_of_block = of_block_diameter,
                                           .diagonal = figures.min_diagonal,
                                           .fill_of_blocks = fill_of_blocks(parts.interior)});

  MatrixFacts facts;
  facts.rows = parts.partition.rows();
  facts.nonzeros = counts.nonzeros;
  facts.positive_diagonals = counts.positive_diagonals;
  facts.negative_diagonals = counts.negative_diagonals;
  facts.zero_diagonals = counts.zero_diagonals;
  facts.boundary_rows = counts.boundary_rows;
  const std::int64_t others = facts.rows - facts.boundary_rows;
  const auto share = [others](std::int64_t count) {
    return others > 0 ? static_cast<double>(count) / static_cast<double>(others) : 1;
  };
  facts.dominant_rows = share(counts.dominant_rows);
  facts.diffusive_rows = share(counts.diffusive_rows);
  facts.strongly_dominant_rows = share(counts.strongly_dominant_rows);
  facts.row_sums = {counts.positive_row_sums, counts.negative_row_sums, counts.vanishing_row_sums,
                    totals.of_entries, totals.of_magnitudes};
  const double quotient = others > 0 ? totals.of_others / totals.of_diagonal : 1;
  facts.constant_quotient = std::isfinite(quotient) ? quotient : 0;
  facts.dropped_fill =
      totals.rows_of_dropped_fill > 0 ? totals.dropped_fill / totals.rows_of_dropped_fill : 0;
  facts.min_abs_diagonal = others > 0 ? minima.diagonal : 0;
  facts.max_abs_diagonal = maxima.diagonal;
  facts.min_row_nonzeros = static_cast<std::int64_t>(minima.row_nonzeros);
  facts.max_row_nonzeros = static_cast<std::int64_t>(maxima.row_nonzeros);
  if (facts.nonzeros > 0)
    facts.mean_row_of_entries = static_cast<double>(counts.squares) / static_cast<double>(facts.nonzeros);
  facts.max_abs = maxima.abs;
  facts.norm_infinity = maxima.norm_infinity;
  facts.least_dominance = facts.rows > 0 ? minima.dominance : 0;
  facts.bandwidth = static_cast<std::int64_t>(maxima.bandwidth);
  facts.least_diameter =
      facts.rows > 0 ? std::max(least_diameter(facts.rows, facts.bandwidth), minima.diameter_of_block) : 0;
  facts.blocks = counts.threads;
  facts.block_size = size_of_full_blocks(minima.fill_of_blocks);
  facts.pattern_symmetric = counts.unsymmetric_patterns == 0 && prints.pattern == 0;
  facts.symmetric = counts.unsymmetric_blocks == 0 && prints.values == 0;
  if (!facts.symmetric) {
    const Asymmetry asymmetry = find_asymmetry(comm, parts, facts.nonzeros, facts.pattern_symmetric);
    facts.symmetric = !asymmetry.exceeds_rounding;
    facts.asymmetry = facts.max_abs > 0 ? asymmetry.largest / facts.max_abs : 0;
  }
  facts.complex_form = complex_form;
  facts.complex_symmetric =
      facts.is_complex() && (prints.not_conjugated == 0 || is_nearly_complex_symmetric(comm, parts, facts));
  return facts;
}

ExaminedMatrix examine_inside(const comm::Comm& comm, std::shared_ptr<const SplitMatrix> parts) {
  ExaminedMatrix whole{examine(comm, *parts), parts};
  const bool may_hide_symmetry = !whole.facts.symmetric && whole.facts.boundary_rows > 0 &&
                                 std::isfinite(whole.facts.row_sums.total_abs);
  if (!may_hide_symmetry || comm.any(is_unsymmetric_inside(parts->interior))) return whole;
  auto rest = sparse::without_columns_of_diagonal_rows(comm, *parts);
  ExaminedMatrix inside{examine(comm, rest), {}};
  if (!inside.facts.symmetric) return whole;
  inside.facts.symmetric_inside = true;
  inside.facts.row_sums = whole.facts.row_sums;
  inside.facts.nonzeros = whole.facts.nonzeros;
  inside.facts.max_abs = whole.facts.max_abs;
  inside.facts.norm_infinity = whole.facts.norm_infinity;
  inside.at_work = comm::agree(comm, [&] { return std::make_shared<const SplitMatrix>(std::move(rest)); });
  return inside;
}

MatrixFacts on_one_rank(const comm::Comm& comm, MatrixFacts facts) {
  facts.least_diameter = least_diameter(facts.rows, facts.bandwidth);
  facts.blocks = comm.broadcast<std::int64_t>(threads_for(facts.rows), 0);
  return facts;
}

void tell(const MatrixFacts& facts, solvers::PreconditionerOptions& options) {
  options.matrix_is_symmetric = facts.symmetric;
  options.matrix_is_complex = facts.is_complex();
  options.matrix_is_complex_symmetric = facts.complex_symmetric;
}

MatrixFacts in_complex_numbers(MatrixFacts real_form) {
  for (std::int64_t* count : {&real_form.rows, &real_form.min_row_nonzeros, &real_form.max_row_nonzeros,
                              &real_form.positive_diagonals, &real_form.negative_diagonals,
                              &real_form.zero_diagonals, &real_form.boundary_rows, &real_form.bandwidth})
    *count /= 2;
  real_form.nonzeros /= 4;
  real_form.mean_row_of_entries /= 2;
  return real_form;
}

double iterations_by_dominance(const MatrixFacts& facts) {
  const double powers = std::log(2 / 1e-8);
  return powers / 2 * std::sqrt(2 / facts.least_dominance);
}

}  // namespace ayatori::tuning
