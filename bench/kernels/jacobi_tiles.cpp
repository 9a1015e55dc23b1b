#include "bench/kernels/jacobi_tiles.hpp"

#include <algorithm>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/kernels/simd.hpp"
#include "bench/kernels/cache_sizes.hpp"

namespace ayatori::bench {

namespace {

/// The values of a range of columns of a row before a sweep, with those above and below.
struct RowSweep {
  const double* above;
  const double* row;
  const double* below;
  double* to;
  std::int64_t columns;
};

template <int Width>
[[gnu::always_inline]] inline void sweep_row(const RowSweep& s) {
  using sparse::load;
  std::int64_t j = 0;
  for (; j + Width <= s.columns; j += Width) {
    const auto vertical = load<Width>(s.above + j) + load<Width>(s.below + j);
    const auto horizontal = load<Width>(s.row + j - 1) + load<Width>(s.row + j + 1);
    sparse::store<Width>(s.to + j, (vertical + horizontal) * 0.25);
  }
  for (; j < s.columns; ++j) s.to[j] = ((s.above[j] + s.below[j]) + (s.row[j - 1] + s.row[j + 1])) * 0.25;
}

/// Three rows of the values after each sweep but the last, and a row of zeros: what a tile keeps in the
/// cache.
class RowRing {
 public:
  RowRing(std::int64_t columns, std::int64_t sweeps)
      : stride_((columns + 7) / 8 * 8 + 8), values_(stride_ * (3 * sweeps + 1), 0.0) {}

  double* zeros() { return values_.data(); }
  double* row(int level, std::int64_t row) {
    return values_.data() + stride_ * (std::int64_t{3} * level + row % 3 + 1);
  }
  void clear() { std::fill(values_.begin(), values_.end(), 0.0); }

 private:
  std::int64_t stride_;  // not a multiple of a page: rows above each other shall not share lines of the cache
  Array<double> values_;
};

/// All sweeps of a tile, rows in a wavefront: when the row t comes in, the row t - s is swept the s-th time.
struct TileSweep {
  const GridBlock* from;
  GridBlock* to;
  Rect tile;
  int sweeps;
  RowRing* ring;

  /// Values of a row after `level` sweeps, from column `first` on.
  [[gnu::always_inline]] inline const double* values(int level, std::int64_t row, std::int64_t first,
                                                     std::int64_t ring_first) const {
    if (row < 0 || row >= from->n()) return ring->zeros() + (first - ring_first);
    if (level == 0) return from->at(row, first);
    return ring->row(level - 1, row) + (first - ring_first);
  }

  template <int Width>
  [[gnu::always_inline]] inline void operator()() const {
    const std::int64_t n = from->n();
    const std::int64_t ring_first = tile.columns.begin - sweeps - 1;  // a column more, for the zeros around
    for (std::int64_t t = tile.rows.begin - sweeps + 1; t < tile.rows.end + sweeps; ++t) {
      for (int s = 1; s <= sweeps; ++s) {
        const std::int64_t row = t - s;
        const std::int64_t by = sweeps - s;
        const std::int64_t row_begin = tile.rows.begin - by > 0 ? tile.rows.begin - by : 0;
        const std::int64_t row_end = tile.rows.end + by < n ? tile.rows.end + by : n;
        if (row < row_begin || row >= row_end) continue;
        const std::int64_t begin = tile.columns.begin - by > 0 ? tile.columns.begin - by : 0;
        const std::int64_t end = tile.columns.end + by < n ? tile.columns.end + by : n;
        double* result = s == sweeps ? to->at(row, begin) : ring->row(s - 1, row) + (begin - ring_first);
        sweep_row<Width>({values(s - 1, row - 1, begin, ring_first), values(s - 1, row, begin, ring_first),
                          values(s - 1, row + 1, begin, ring_first), result, end - begin});
      }
    }
  }
};

/// How a part is cut into tiles.
struct TileSize {
  std::int64_t rows;
  std::int64_t columns;
};

/// As wide as half of a core's second cache allows, so that little is computed twice at the sides; as many
/// more pieces of rows as it takes to give every thread a share of several.
TileSize choose_tile(const Rect& part, std::int64_t sweeps, std::int64_t threads) {
  constexpr std::int64_t tiles_of_thread = 2;
  const auto cut = [](std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; };
  const std::int64_t bytes_of_column = 3 * std::int64_t{sizeof(double)} * sweeps;
  const std::int64_t widest =
      std::max<std::int64_t>(cache_sizes().second / 2 / bytes_of_column - 2 * sweeps, 2 * sweeps);
  const std::int64_t across = cut(part.columns.size(), widest);
  const std::int64_t wanted = threads == 1 ? 1 : cut(tiles_of_thread * threads, across);
  const std::int64_t down = std::clamp<std::int64_t>(part.rows.size() / (4 * sweeps), 1, wanted);
  return {cut(part.rows.size(), down), cut(part.columns.size(), across)};
}

std::vector<Rect> cut_into_tiles(const Rect& part, const TileSize& size) {
  std::vector<Rect> tiles;
  for (std::int64_t i = part.rows.begin; i < part.rows.end; i += size.rows) {
    for (std::int64_t j = part.columns.begin; j < part.columns.end; j += size.columns)
      tiles.push_back(
          {{i, std::min(i + size.rows, part.rows.end)}, {j, std::min(j + size.columns, part.columns.end)}});
  }
  return tiles;
}

}  // namespace

GridBlock::GridBlock(Rect own, std::int64_t n, std::int64_t depth)
    : own_(own),
      n_(n),
      first_row_(own.rows.begin - depth),
      first_column_(own.columns.begin - depth),
      stride_(own.columns.size() + 2 * depth),
      values_(stride_ * (own.rows.size() + 2 * depth)) {
  parallel_for(static_cast<std::int64_t>(values_.size()), [&](std::int64_t i) { values_[i] = 0; });
}

void sweep(const GridBlock& from, GridBlock& to, const Rect& part, int sweeps,
           const std::function<void()>& progress) {
  if (part.empty()) return;
  const int threads = threads_for(part.rows.size() * part.columns.size());
  const TileSize size = choose_tile(part, sweeps, threads);
  const auto tiles = cut_into_tiles(part, size);
  const auto simd = sparse::best_simd();
  FirstException exception;
#pragma omp parallel num_threads(threads)
  exception.guard([&] {
    RowRing ring(size.columns + 2 * (std::int64_t{sweeps} + 1), sweeps);
    for (auto t = static_cast<std::size_t>(omp_get_thread_num()); t < tiles.size();
         t += omp_get_num_threads()) {
      // Levels are zero beside the grid: where a tile before this one kept values, there may be others now.
      if (t != static_cast<std::size_t>(omp_get_thread_num())) ring.clear();
      sparse::with_simd(simd, TileSweep{&from, &to, tiles[t], sweeps, &ring});
      if (progress && omp_get_thread_num() == 0) progress();
    }
  });
  exception.rethrow();
}

std::vector<double> plain_sweep(const std::vector<double>& values, std::int64_t n) {
  std::vector<double> swept(values.size());
  const auto value = [&](std::int64_t i, std::int64_t j) {
    return i < 0 || j < 0 || i >= n || j >= n ? 0 : values[i * n + j];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      swept[i * n + j] = ((value(i - 1, j) + value(i + 1, j)) + (value(i, j - 1) + value(i, j + 1))) * 0.25;
  }
  return swept;
}

}  // namespace ayatori::bench
