#include "ayatori/sparse/kernels/symmetric_tiles.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/padding.hpp"
#include "ayatori/sparse/kernels/tiles.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "symmetric-tiles";
constexpr int lanes = lower_form.lanes;

/// Throws unless the matrix is symmetric and finite: what is not finite would reach x.
void require_symmetric(const Csr& matrix) {
  if (!is_symmetric(matrix)) cannot_hold(name, "it is not symmetric");
  std::atomic<bool> finite = true;
  parallel_ranges(matrix.rows, [&](Range rows) {
    for (auto k = matrix.row_start[rows.begin]; k < matrix.row_start[rows.end]; ++k) {
      if (!std::isfinite(matrix.value[k])) finite = false;
    }
  });
  if (!finite) cannot_hold(name, "not all of its values are finite");
}

/// Pairs (x_j, y_j) of the blocks of columns that a thread's rows reach, with a pair of zeros behind every
/// block for padding.
template <class Real>
class Pairs {
 public:
  /// Makes room for the columns of some blocks.
  void resize(std::int32_t width, Range blocks) {
    width_ = width;
    log2_width_ = std::countr_zero(static_cast<std::uint32_t>(width));
    first_block_ = blocks.begin;
    data_.resize(2 * blocks.size() * (width + 1));
  }

  /// The pair of a column. Widths are powers of two, for this is done for every lane of a slice.
  Real* pair(std::int64_t j) {
    const std::int64_t b = j >> log2_width_;
    return block(b) + 2 * (j - (b << log2_width_));
  }
  Real* block(std::int64_t b) { return data_.data() + 2 * (b - first_block_) * (width_ + 1); }

  /// Calls f(columns, their pairs) for the columns of [begin, end) that these blocks have, block by block.
  template <class F>
  void for_each_block(Range columns, F&& f) {
    for (std::int64_t begin = std::max(columns.begin, first_block_ * width_); begin < columns.end;) {
      const std::int64_t b = begin / width_;
      const std::int64_t end = std::min((b + 1) * width_, columns.end);
      f(Range{begin, end}, block(b) + 2 * (begin - b * width_));
      begin = end;
    }
  }
  std::int64_t width() const { return width_; }
  std::int64_t first_column() const { return first_block_ * width_; }

 private:
  std::int64_t width_ = 0;
  int log2_width_ = 0;
  std::int64_t first_block_ = 0;
  Array<Real> data_;
};

/// The lower half of a symmetric matrix by tiles, and its diagonal. An entry a_ij serves y_i and y_j by one
/// load and one store of the pair (x_j, y_j): sum += a_ij (x_j, y_j), of which only the first counts, and
/// (x_j, y_j) += a_ij (0, x_i). Every thread has pairs of its own; sums for rows of others are added by their
/// owners once all are done, in the order of the threads. Traffic: 10 bytes per stored place (half of the
/// nonzeros), 6 per slice, 8 per row (in single precision 6, 6, 4); the pairs, 32 (16) per row that a thread
/// reaches, and (x_i, y_i) once per block of columns.
template <class Real>
class SymmetricTiles final : public KernelOf<Real> {
 public:
  SymmetricTiles(const Csr& matrix, double scale, Simd simd)
      : simd_(simd),
        matrix_(matrix, scale, lower_form, name),
        diagonal_(matrix.rows),
        pairs_(matrix_.size()) {
    matrix_.for_each([&](int, Range rows) {
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        diagonal_[i] = static_cast<Real>(scale * diagonal_entry(matrix, i));
    });
    const std::int64_t width = matrix_.tile_columns();
    for (int group = 0; group < matrix_.size(); ++group) {
      const Range rows = matrix_.rows(group);
      const auto& tile = matrix_[group].tile;
      const std::int64_t own = rows.begin / width;
      const std::int64_t first = tile.empty() ? own : std::min<std::int64_t>(own, tile.front().block);
      pairs_[group].resize(matrix_.tile_columns(), {first, std::max((rows.end + width - 1) / width, first)});
    }
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    matrix_.for_each([&](int group, Range rows) {
      Pairs<Real>& pairs = pairs_[group];
      start(pairs, rows, x.data());
      with_simd(
          simd_, [&]<int Width>()
                     __attribute__((always_inline)) { multiply_tiles(matrix_[group], pairs, x.data()); });
      pairs.for_each_block(rows, [&](Range part, const Real* pair) {
        for (std::int64_t i = part.begin; i < part.end; ++i, pair += 2) y[i] = pair[1];
      });
    });
    if (matrix_.size() == 1) return;
    matrix_.for_each([&](int group, Range rows) {
      for (int other = group + 1; other < matrix_.size(); ++other) {
        pairs_[other].for_each_block(rows, [&](Range part, const Real* pair) {
          for (std::int64_t i = part.begin; i < part.end; ++i, pair += 2) y[i] += pair[1];
        });
      }
    });
  }

  std::int64_t matrix_bytes() const override {
    return matrix_.bytes() + static_cast<std::int64_t>(sizeof(Real) * diagonal_.size());
  }

 private:
  static double diagonal_entry(const Csr& matrix, std::int64_t i) {
    const auto begin = matrix.column.begin() + matrix.row_start[i];
    const auto end = matrix.column.begin() + matrix.row_start[i + 1];
    const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
    return found != end && *found == i ? matrix.value[found - matrix.column.begin()] : 0;
  }

  /// (x_j, 0) of rows before a thread's own, (x_i, a_ii x_i) of these.
  void start(Pairs<Real>& pairs, Range rows, const Real* x) const {
    pairs.for_each_block({pairs.first_column(), rows.end}, [&](Range part, Real* pair) {
      const std::int64_t own = std::clamp(rows.begin, part.begin, part.end);
      for (std::int64_t j = part.begin; j < own; ++j, pair += 2) pair[0] = x[j], pair[1] = 0;
      for (std::int64_t i = own; i < part.end; ++i, pair += 2)
        pair[0] = x[i], pair[1] = product_unless_zero(diagonal_[i], x[i]);
      Real* const padding = pairs.block(part.begin / pairs.width()) + 2 * pairs.width();
      padding[0] = padding[1] = 0;
    });
  }

  [[gnu::always_inline]] static void multiply_tiles(const TilesOf<Real>& tiles, Pairs<Real>& pairs,
                                                    const Real* x) {
    const std::uint16_t* steps = tiles.steps.data();
    const std::uint8_t* row = tiles.row.data();
    const std::uint16_t* column = tiles.column.data();
    const Real* value = tiles.value.data();
    for (const Tile& tile : tiles.tile) {
      Real* const block = pairs.block(tile.block);
      const std::int64_t first_row = std::int64_t{tile.window} * tile_rows;
      for (std::int32_t s = 0; s < tile.slices; ++s, row += lanes) {
        Vector<2, Real> x_row[lanes];
        Vector<2, Real> sum[lanes] = {};
        for (int lane = 0; lane < lanes; ++lane) x_row[lane] = Vector<2, Real>{0, x[first_row + row[lane]]};
        for (int step = *steps++; step > 0; --step, column += lanes, value += lanes) {
          prefetch_entries<lanes>(value, column);
          const FourColumns columns(column);
#pragma GCC unroll 4
          for (int lane = 0; lane < lanes; ++lane) {
            Real* const pair = block + 2 * columns[lane];
            const Vector<2, Real> entry{value[lane], value[lane]};
            const Vector<2, Real> before = load<2>(pair);
            sum[lane] += entry * before;
            store<2>(pair, before + entry * x_row[lane]);
          }
        }
        for (int lane = 0; lane < lanes; ++lane) pairs.pair(first_row + row[lane])[1] += sum[lane][0];
      }
    }
  }

  Simd simd_;
  TiledMatrix<Real> matrix_;
  Array<Real> diagonal_;
  mutable std::vector<Pairs<Real>> pairs_;  // one product at a time
};

}  // namespace

std::unique_ptr<Kernel> make_symmetric_tiles(const Csr& matrix, Simd simd) {
  require_symmetric(matrix);
  return std::make_unique<SymmetricTiles<double>>(matrix, 1, simd);
}

std::unique_ptr<FloatKernel> make_float_symmetric_tiles(const Csr& matrix, double scale, Simd simd) {
  require_symmetric(matrix);
  return std::make_unique<SymmetricTiles<float>>(matrix, scale, simd);
}

const KernelType symmetric_tiles_kernel{
    .name = name,
    .description =
        "lower half of a symmetric matrix in tiles of 2048 or 16384 columns, x and y side by side in a cache",
    .conversion_products = 60,
    .predicted_bytes = [](const PatternFacts& facts) -> std::optional<std::int64_t> {
      if (!facts.symmetric) return std::nullopt;
      return if_not_absurd(bytes_of(facts.lower_tiles, lanes) + 8LL * facts.rows, facts);
    },
    .indexed_accesses =
        [](const PatternFacts& facts) {
          return static_cast<double>(2 * facts.lower_tiles.places + 3LL * lanes * facts.lower_tiles.slices +
                                     4LL * facts.rows);
        },
    .make = [](const Csr& matrix) { return make_symmetric_tiles(matrix, best_simd()); },
    .beside = "sell-tiles",
    .make_float = [](const Csr& matrix,
                     double scale) { return make_float_symmetric_tiles(matrix, scale, best_simd()); }};

}  // namespace ayatori::sparse
