#include "ayatori/sparse/pattern/pattern.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/kernels/merge_rows.hpp"
#include "ayatori/sparse/kernels/tiles.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::int64_t window_rows = 384;           // whole slices, blocks of every size and tiles
constexpr std::int64_t whole_nonzeros = 1LL << 13;  // a matrix with so few is looked at whole
constexpr std::int64_t most_step = 32;              // at least one window of this many is looked at

/// Sums over the entries that are looked at.
struct Counts {
  std::int64_t nonzeros = 0;
  std::int64_t main_diagonal = 0;
  std::array<std::int64_t, 3> blocks{};
  std::int64_t runs = 0;
  std::int64_t outside_runs = 0;
  TileCounts whole_tiles;
  TileCounts lower_tiles;
  std::int64_t longest_gap = 0;

  void add(const Counts& other) {
    nonzeros += other.nonzeros;
    main_diagonal += other.main_diagonal;
    for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b] += other.blocks[b];
    runs += other.runs;
    outside_runs += other.outside_runs;
    whole_tiles.add(other.whole_tiles);
    lower_tiles.add(other.lower_tiles);
    longest_gap = std::max(longest_gap, other.longest_gap);
  }
};

/// Looks at windows of rows, several threads at once.
class Examination {
 public:
  explicit Examination(const Csr& matrix)
      : matrix_(matrix),
        on_diagonal_(std::int64_t{matrix.rows} + matrix.columns),
        symmetric_(matrix.rows == matrix.columns),
        real_form_(matrix.rows % 2 == 0 && matrix.columns % 2 == 0) {
    parallel_for(on_diagonal_.size(), [&](std::int64_t d) { on_diagonal_[d] = 0; });
  }

  Counts look_at(Range rows) {
    Counts counts;
    counts.nonzeros = matrix_.row_start[rows.end] - matrix_.row_start[rows.begin];
    if (counts.nonzeros == 0) return counts;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) look_at_row(i, counts);
    counts.blocks = {count_blocks<2>(rows), count_blocks<3>(rows), count_blocks<4>(rows)};
    count_runs(rows, counts);
    counts.whole_tiles = count_tiles(matrix_, rows, whole_form);
    if (symmetric_.load(std::memory_order_relaxed) && !has_mirror_images(matrix_, rows)) symmetric_ = false;
    if (symmetric_.load(std::memory_order_relaxed))
      counts.lower_tiles = count_tiles(matrix_, rows, lower_form);
    if (real_form_.load(std::memory_order_relaxed) && !is_real_form(matrix_, {rows.begin / 2, rows.end / 2}))
      real_form_ = false;
    return counts;
  }

  bool symmetric() const { return symmetric_; }
  bool real_form() const { return real_form_; }

  void count_diagonals(PatternFacts& facts) const {
    const std::int64_t rows = matrix_.rows;
    for (std::int64_t d = 1 - rows; d < matrix_.columns; ++d) {
      if (on_diagonal_[d + rows] == 0) continue;
      ++facts.diagonals;
      facts.diagonal_elements += std::min(rows, matrix_.columns - d) - std::max(std::int64_t{0}, -d);
    }
  }

 private:
  void look_at_row(std::int64_t i, Counts& counts) {
    const std::int64_t end = matrix_.row_start[i + 1];
    std::int64_t previous = -1;
    for (std::int64_t k = matrix_.row_start[i]; k < end; ++k) {
      const std::int64_t j = matrix_.column[k];
      if (previous >= 0) counts.longest_gap = std::max(counts.longest_gap, j - previous);
      previous = j;
      if (j == i) ++counts.main_diagonal;
      const std::atomic_ref seen(on_diagonal_[j - i + matrix_.rows]);
      if (seen.load(std::memory_order_relaxed) == 0) seen.store(1, std::memory_order_relaxed);
    }
  }

  template <int Size>
  std::int64_t count_blocks(Range rows) const {
    std::int64_t blocks = 0;
    for (std::int64_t i = rows.begin; i < rows.end; i += Size)
      for_each_block<Size>(matrix_, i, [&](auto&&...) { ++blocks; });
    return blocks;
  }

  void count_runs(Range rows, Counts& counts) const {
    for (std::int64_t i = rows.begin; i < rows.end; i += lanes) {
      for_each_diagonal(matrix_, i, [&](std::int64_t first_column, std::span<const RowEntry> entries) {
        if (is_run(matrix_, first_column, entries)) {
          ++counts.runs;
        } else {
          counts.outside_runs += static_cast<std::int64_t>(entries.size());
        }
      });
    }
  }

  const Csr& matrix_;
  Array<unsigned char> on_diagonal_;  // whether diagonal d has entries, at d + rows
  std::atomic<bool> symmetric_;
  std::atomic<bool> real_form_;
};

std::int64_t length(const Csr& matrix, std::int64_t row) {
  return matrix.row_start[row + 1] - matrix.row_start[row];
}

/// What the lengths of the rows say.
void examine_lengths(const Csr& matrix, PatternFacts& facts) {
  const std::int64_t windows = (matrix.rows + sell_window - 1) / sell_window;
  std::int64_t longest = 0;
  std::int64_t stored = 0;
#pragma omp parallel for schedule(static) reduction(max : longest) reduction(+ : stored) \
    num_threads(threads_for(matrix.rows))
  for (std::int64_t w = 0; w < windows; ++w) {
    std::array<std::int64_t, sell_window> lengths{};
    const std::int64_t first = w * sell_window;
    const std::int64_t count = std::min<std::int64_t>(sell_window, matrix.rows - first);
    for (std::int64_t i = 0; i < count; ++i) lengths[i] = length(matrix, first + i);
    const auto end = lengths.begin() + count;
    if (!std::is_sorted(lengths.begin(), end, std::greater<>()))
      std::sort(lengths.begin(), end, std::greater<>());
    longest = std::max(longest, lengths[0]);
    for (std::int64_t i = 0; i < count; i += lanes) stored += lanes * lengths[i];
  }
  facts.longest_row = longest;
  facts.sell_entries = stored;
}

}  // namespace

namespace {

/// Number of windows among which one is looked at.
std::int64_t window_step(std::int64_t nonzeros) {
  return std::clamp<std::int64_t>(nonzeros / whole_nonzeros, 1, most_step);
}

/// The sum of look(rows) over the windows that are looked at.
template <class Sum, class Look>
Sum sum_over_windows(const Csr& matrix, Look&& look) {
  const std::int64_t step = window_step(matrix.nonzeros());
  const std::int64_t windows = (matrix.rows + window_rows - 1) / window_rows;
  Sum sum;
  FirstException exception;
#pragma omp parallel num_threads(threads_for(matrix.nonzeros() / step))
  {
    Sum own;
#pragma omp for schedule(dynamic) nowait
    for (std::int64_t w = 0; w < windows; w += step) {
      const auto place = static_cast<std::int64_t>(random_bits(0, static_cast<std::uint64_t>(w)) %
                                                   static_cast<std::uint64_t>(std::min(step, windows - w)));
      const std::int64_t first = (w + place) * window_rows;
      exception.guard([&] {
        own.add(look(Range{first, std::min<std::int64_t>(first + window_rows, matrix.rows)}));
      });
    }
#pragma omp critical(ayatori_pattern_facts)
    sum.add(own);
  }
  exception.rethrow();
  return sum;
}

/// Once it is known what narrow tiles would store, what those of the width in use do.
TileCounts recount_if_wide(const Csr& matrix, const TileForm& narrow, const TileCounts& counts) {
  const TileForm form = widened_if_short(narrow, counts, matrix.columns);
  if (form.columns == narrow.columns) return counts;
  return sum_over_windows<TileCounts>(matrix, [&](Range rows) { return count_tiles(matrix, rows, form); });
}

}  // namespace

double products_of_pattern_facts(std::int64_t nonzeros) {
  constexpr double whole = 50;                    // an entry takes some 30 ns
  constexpr double nonzeros_of_one_window = 4e5;  // a product with this many takes as long as the least look
  return whole / static_cast<double>(window_step(nonzeros)) +
         nonzeros_of_one_window / static_cast<double>(std::max<std::int64_t>(nonzeros, 1));
}

PatternFacts pattern_facts(const Csr& matrix) {
  PatternFacts facts{matrix.rows, matrix.columns, matrix.nonzeros()};
  examine_lengths(matrix, facts);

  Examination examination(matrix);
  const auto counts = sum_over_windows<Counts>(matrix, [&](Range rows) { return examination.look_at(rows); });
  const double scale =
      counts.nonzeros == 0 ? 0 : static_cast<double>(facts.nonzeros) / static_cast<double>(counts.nonzeros);
  const auto scaled = [&](std::int64_t count) {
    return static_cast<std::int64_t>(std::llround(scale * static_cast<double>(count)));
  };
  facts.sampled = window_step(facts.nonzeros) > 1;
  examination.count_diagonals(facts);
  facts.main_diagonal_entries = scaled(counts.main_diagonal);
  for (std::size_t b = 0; b < counts.blocks.size(); ++b) facts.blocks[b] = scaled(counts.blocks[b]);
  facts.runs = scaled(counts.runs);
  facts.outside_runs = scaled(counts.outside_runs);
  const auto scaled_tiles = [&](const TileCounts& tiles) {
    return TileCounts{scaled(tiles.tiles), scaled(tiles.slices), scaled(tiles.places)};
  };
  facts.whole_tiles = scaled_tiles(recount_if_wide(matrix, whole_form, counts.whole_tiles));
  if (examination.symmetric())
    facts.lower_tiles = scaled_tiles(recount_if_wide(matrix, lower_form, counts.lower_tiles));
  facts.gaps_fit_16_bits = counts.longest_gap < (1 << 16);
  facts.symmetric = examination.symmetric();
  facts.real_form = examination.real_form();
  return facts;
}

namespace {

template <int Size>
double fill_of_some_blocks(const Csr& matrix) {
  constexpr std::int64_t looked_at = 8;
  const std::int64_t rows_of_blocks = matrix.rows / Size;
  const std::int64_t step = std::max<std::int64_t>(rows_of_blocks / looked_at, 1);
  std::int64_t blocks = 0;
  std::int64_t entries = 0;
  for (std::int64_t first = 0; first + step <= rows_of_blocks; first += step) {
    const auto place = random_bits(0, static_cast<std::uint64_t>(first)) % static_cast<std::uint64_t>(step);
    const std::int64_t i = first + static_cast<std::int64_t>(place);
    for_each_block<Size>(matrix, i * Size, [&](auto&&...) { ++blocks; });
    entries += matrix.row_start[(i + 1) * Size] - matrix.row_start[i * Size];
  }
  return blocks == 0 ? 0 : static_cast<double>(entries) / static_cast<double>(blocks * Size * Size);
}

}  // namespace

std::array<double, block_sizes.size()> glance_at_blocks(const Csr& matrix) {
  return {fill_of_some_blocks<2>(matrix), fill_of_some_blocks<3>(matrix), fill_of_some_blocks<4>(matrix)};
}

std::int64_t csr_bytes(std::int64_t rows, std::int64_t nonzeros) {
  return 12 * nonzeros + 8 * (rows + 1);
}

std::int64_t most_bytes(std::int64_t rows, std::int64_t nonzeros) {
  return 2 * csr_bytes(rows, nonzeros) + 4096;
}

}  // namespace ayatori::sparse
