#include "ayatori/sparse/kernels/sell_tiles.hpp"

#include <algorithm>

#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/tiles.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "sell-tiles";

/// The elements of `block` at 8 columns, as vectors.
template <int Width, std::size_t... I>
[[gnu::always_inline]] inline Vector<Width> pick(const double* block, const FourColumns (&column)[2],
                                                 std::size_t first, std::index_sequence<I...>) {
  return Vector<Width>{block[column[(first + I) / 4][(first + I) % 4]]...};
}

/// SELL-8 within tiles: segments of similar length of the rows of a window side by side. A thread copies the
/// block's elements of x, which so lie in its first cache, with a 0 behind them for padding. Loads of single
/// elements, not gathers, which take longer on many processors. Traffic: 10 bytes per place, 10 per slice;
/// y once per block of columns.
class SellTiles final : public Kernel {
 public:
  SellTiles(const Csr& matrix, Simd simd)
      : simd_(simd), matrix_(matrix, whole_form, name), columns_(matrix.columns) {}

  void multiply(std::span<const double> x, std::span<double> y) const override {
    matrix_.for_each([&](int group, Range rows) {
      std::fill(y.begin() + rows.begin, y.begin() + rows.end, 0.0);
      with_simd(
          simd_, [&]<int Width>() __attribute__((always_inline)) {
            multiply_tiles<Width>(matrix_[group], x.data(), y.data());
          });
    });
  }

  std::int64_t matrix_bytes() const override { return matrix_.bytes(); }

 private:
  template <int Width>
  [[gnu::always_inline]] void multiply_tiles(const Tiles& tiles, const double* x, double* y) const {
    constexpr int lanes = whole_form.lanes;
    constexpr int parts = lanes / Width;
    constexpr auto elements = std::make_index_sequence<Width>();
    double block[tile_columns + 1];
    block[tile_columns] = 0;
    std::int32_t copied = -1;
    const std::uint16_t* steps = tiles.steps.data();
    const std::uint8_t* row = tiles.row.data();
    const std::uint16_t* column = tiles.column.data();
    const double* value = tiles.value.data();
    for (const Tiles::Tile& tile : tiles.tile) {
      if (tile.block != copied) {
        copied = tile.block;
        const std::int64_t first = std::int64_t{copied} * tile_columns;
        std::copy_n(x + first, std::min<std::int64_t>(tile_columns, columns_ - first), block);
      }
      double* const to = y + std::int64_t{tile.window} * tile_rows;
      for (std::int32_t s = 0; s < tile.slices; ++s, row += lanes) {
        Vector<Width> sum[parts] = {};
        for (int step = *steps++; step > 0; --step, column += lanes, value += lanes) {
          prefetch_entries<lanes>(value, column);
          const FourColumns columns[2] = {FourColumns(column), FourColumns(column + 4)};
          for (std::size_t p = 0; p < parts; ++p)
            sum[p] += load<Width>(value + p * Width) * pick<Width>(block, columns, p * Width, elements);
        }
        for (int lane = 0; lane < lanes; ++lane) to[row[lane]] += sum[lane / Width][lane % Width];
      }
    }
  }

  Simd simd_;
  TiledMatrix matrix_;
  std::int64_t columns_;
};

}  // namespace

std::unique_ptr<Kernel> make_sell_tiles(const Csr& matrix, Simd simd) {
  return std::make_unique<SellTiles>(matrix, simd);
}

const KernelType sell_tiles_kernel{
    name, "SELL-8 in tiles of 2048 columns, whose elements of x stay in the first cache",
    [](const PatternFacts& facts) {
      return if_not_absurd(bytes_of(facts.whole_tiles, whole_form.lanes), facts);
    },
    [](const PatternFacts& facts) {
      return static_cast<double>(facts.whole_tiles.places +
                                 2LL * whole_form.lanes * facts.whole_tiles.slices);
    },
    [](const Csr& matrix) { return make_sell_tiles(matrix, best_simd()); }};

}  // namespace ayatori::sparse
