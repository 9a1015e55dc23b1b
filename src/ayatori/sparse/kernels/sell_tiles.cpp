#include "ayatori/sparse/kernels/sell_tiles.hpp"

#include <algorithm>

#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/tiles.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "sell-tiles";

/// The elements of `block` at 8 columns, as vectors.
template <int Width, class Real, std::size_t... I>
[[gnu::always_inline]] inline Vector<Width, Real> pick(const Real* block, const FourColumns (&column)[2],
                                                       std::size_t first, std::index_sequence<I...>) {
  return Vector<Width, Real>{block[column[(first + I) / 4][(first + I) % 4]]...};
}

/// SELL-8 within tiles: segments of similar length of the rows of a window side by side. A thread copies the
/// block's elements of x, which so lie in its first or second cache, with a 0 behind them for padding. Loads
/// of single elements, not gathers, which take longer on many processors. Traffic: 10 bytes per place (6 in
/// single precision), 10 per slice; y once per block of columns.
template <class Real>
class SellTiles final : public KernelOf<Real> {
 public:
  SellTiles(const Csr& matrix, double scale, Simd simd)
      : simd_(simd),
        matrix_(matrix, scale, whole_form, name),
        columns_(matrix.columns),
        blocks_(matrix_.size()) {
    for (Array<Real>& block : blocks_) block.resize(matrix_.tile_columns() + 1);
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    matrix_.for_each([&](int group, Range rows) {
      std::fill(y.begin() + rows.begin, y.begin() + rows.end, Real(0));
      with_simd(
          simd_, [&]<int Width>() __attribute__((always_inline)) {
            multiply_tiles<width_of<Real, Width, whole_form.lanes>>(matrix_[group], x.data(),
                                                                    blocks_[group].data(), y.data());
          });
    });
  }

  std::int64_t matrix_bytes() const override { return matrix_.bytes(); }

 private:
  template <int Width>
  [[gnu::always_inline]] void multiply_tiles(const TilesOf<Real>& tiles, const Real* x, Real* block,
                                             Real* y) const {
    constexpr int lanes = whole_form.lanes;
    constexpr int parts = lanes / Width;
    constexpr auto elements = std::make_index_sequence<Width>();
    const std::int64_t width = matrix_.tile_columns();
    block[width] = 0;
    std::int32_t copied = -1;
    const std::uint16_t* steps = tiles.steps.data();
    const std::uint8_t* row = tiles.row.data();
    const std::uint16_t* column = tiles.column.data();
    const Real* value = tiles.value.data();
    for (const Tile& tile : tiles.tile) {
      if (tile.block != copied) {
        copied = tile.block;
        const std::int64_t first = copied * width;
        std::copy_n(x + first, std::min(width, columns_ - first), block);
      }
      Real* const to = y + std::int64_t{tile.window} * tile_rows;
      for (std::int32_t s = 0; s < tile.slices; ++s, row += lanes) {
        Vector<Width, Real> sum[parts] = {};
        for (int step = *steps++; step > 0; --step, column += lanes, value += lanes) {
          prefetch_entries<lanes>(value, column);
          const FourColumns columns[2] = {FourColumns(column), FourColumns(column + 4)};
          for (std::size_t p = 0; p < parts; ++p)
            sum[p] += load<Width>(value + p * Width) * pick<Width, Real>(block, columns, p * Width, elements);
        }
        for (int lane = 0; lane < lanes; ++lane) to[row[lane]] += sum[lane / Width][lane % Width];
      }
    }
  }

  Simd simd_;
  TiledMatrix<Real> matrix_;
  std::int64_t columns_;
  mutable std::vector<Array<Real>> blocks_;  // blocks of x, for each group; one product at a time
};

}  // namespace

std::unique_ptr<Kernel> make_sell_tiles(const Csr& matrix, Simd simd) {
  return std::make_unique<SellTiles<double>>(matrix, 1, simd);
}

std::unique_ptr<FloatKernel> make_float_sell_tiles(const Csr& matrix, double scale, Simd simd) {
  return std::make_unique<SellTiles<float>>(matrix, scale, simd);
}

const KernelType sell_tiles_kernel{
    .name = name,
    .description = "SELL-8 in tiles of 2048 or 16384 columns, whose elements of x stay in a cache",
    .conversion_products = 60,
    .predicted_bytes =
        [](const PatternFacts& facts) {
          return if_not_absurd(bytes_of(facts.whole_tiles, whole_form.lanes), facts);
        },
    .indexed_accesses =
        [](const PatternFacts& facts) {
          return static_cast<double>(facts.whole_tiles.places +
                                     2LL * whole_form.lanes * facts.whole_tiles.slices);
        },
    .make = [](const Csr& matrix) { return make_sell_tiles(matrix, best_simd()); },
    .make_float = [](const Csr& matrix,
                     double scale) { return make_float_sell_tiles(matrix, scale, best_simd()); }};

}  // namespace ayatori::sparse
