#include "bench/kernels/tiled_matmul.hpp"

#include <algorithm>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"
#include "bench/kernels/cache_sizes.hpp"

namespace ayatori::bench {

namespace {

using sparse::Simd;

/// A tile of C: `rows` rows of `vectors` vectors. With a row of B and an element of A it fills the registers.
template <int Width>
struct TileShape {
  static constexpr int rows = Width == 8 ? 8 : 4;
  static constexpr int vectors = 3;
  static constexpr int columns = vectors * Width;
};

struct Tile {
  int rows;
  int columns;
};

Tile tile_of(Simd simd) {
  switch (simd) {
    case Simd::avx512:
      return {TileShape<8>::rows, TileShape<8>::columns};
    case Simd::avx2:
      return {TileShape<4>::rows, TileShape<4>::columns};
    default:
      return {TileShape<2>::rows, TileShape<2>::columns};
  }
}

std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// How the product is cut: C in blocks of m x n, sums in pieces of k.
struct Blocks {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// A strip of A and a strip of B are to be the first cache's, but B's is read once only for every strip of A
/// and may as well come from the second; a block of A takes half of the second, B's strips half of the last.
/// Threads get equally many blocks of A.
Blocks choose_blocks(const LocalProduct& p, Tile tile, int threads) {
  const CacheSizes cache = cache_sizes();
  constexpr std::int64_t bytes = sizeof(double);
  const auto cut = [](std::int64_t n, std::int64_t most, std::int64_t unit, std::int64_t parts_of) {
    const std::int64_t parts = round_up((n + most - 1) / most, parts_of);
    return round_up((n + parts - 1) / parts, unit);
  };
  Blocks blocks{};
  blocks.k = cut(p.k, std::max<std::int64_t>(cache.first / (bytes * 2 * tile.rows), 1), 1, 1);
  blocks.m =
      cut(p.m, std::max<std::int64_t>(cache.second / (2 * bytes * blocks.k), tile.rows), tile.rows, threads);
  blocks.n =
      cut(p.n, std::max<std::int64_t>(cache.last / (2 * bytes * blocks.k), tile.columns), tile.columns, 1);
  return blocks;
}

/// Rows [0, rows) of A as strips of tile rows, each by columns, filled up with zeros.
void pack_a(const double* a, std::int64_t a_row, std::int64_t rows, std::int64_t k, int strip, double* to) {
  for (std::int64_t begin = 0; begin < rows; begin += strip) {
    const std::int64_t some = std::min<std::int64_t>(strip, rows - begin);
    for (std::int64_t i = 0; i < some; ++i) {
      const double* row = a + (begin + i) * a_row;
      for (std::int64_t l = 0; l < k; ++l) to[l * strip + i] = row[l];
    }
    for (std::int64_t i = some; i < strip; ++i) {
      for (std::int64_t l = 0; l < k; ++l) to[l * strip + i] = 0;
    }
    to += k * strip;
  }
}

/// One strip of B: `some` of its columns are there, the others are zero.
void pack_b(const double* b, std::int64_t b_row, std::int64_t some, std::int64_t k, int strip, double* to) {
  for (std::int64_t l = 0; l < k; ++l) {
    std::copy(b + l * b_row, b + l * b_row + some, to);
    std::fill(to + some, to + strip, 0.0);
    to += strip;
  }
}

/// C tile += strip of A times strip of B: 2 rows columns k operations on (rows + columns) k elements read.
template <int Width>
[[gnu::always_inline]] inline void multiply_tile(const double* a, const double* b, std::int64_t k, double* c,
                                                 std::int64_t c_row) {
  using Shape = TileShape<Width>;
  sparse::Vector<Width> sums[Shape::rows][Shape::vectors] = {};
  for (int i = 0; i < Shape::rows; ++i) {  // wanted when the sums are done
    for (int j = 0; j < Shape::columns; j += 8) __builtin_prefetch(c + i * c_row + j, 1);
  }
  for (std::int64_t l = 0; l < k; ++l) {
    sparse::Vector<Width> row[Shape::vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Shape::vectors; ++v) row[v] = sparse::load<Width>(b + std::int64_t{v} * Width);
#pragma GCC unroll 8
    for (int i = 0; i < Shape::rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < Shape::vectors; ++v) sums[i][v] += a[i] * row[v];
    }
    a += Shape::rows;
    b += Shape::columns;
  }
#pragma GCC unroll 8
  for (int i = 0; i < Shape::rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < Shape::vectors; ++v) {
      double* to = c + i * c_row + std::int64_t{v} * Width;
      sparse::store<Width>(to, sparse::load<Width>(to) + sums[i][v]);
    }
  }
}

/// A packed block of A times all packed strips of B. A strip of B meets all strips of A while it is near.
struct BlockProduct {
  std::int64_t m, n, k;
  const double* a;
  const double* b;
  double* c;
  std::int64_t c_row;

  template <int Width>
  [[gnu::always_inline]] inline void operator()() const {
    using Shape = TileShape<Width>;
    double edge[Shape::rows * Shape::columns];
    for (std::int64_t j = 0; j < n; j += Shape::columns) {
      const double* b_strip = b + j * k;
      for (std::int64_t i = 0; i < m; i += Shape::rows) {
        const double* a_strip = a + i * k;
        double* tile = c + i * c_row + j;
        if (i + Shape::rows <= m && j + Shape::columns <= n) {
          multiply_tile<Width>(a_strip, b_strip, k, tile, c_row);
          continue;
        }
        for (double& value : edge) value = 0;
        multiply_tile<Width>(a_strip, b_strip, k, edge, Shape::columns);
        const std::int64_t rows = m - i < Shape::rows ? m - i : Shape::rows;
        const std::int64_t columns = n - j < Shape::columns ? n - j : Shape::columns;
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t s = 0; s < columns; ++s) tile[r * c_row + s] += edge[r * Shape::columns + s];
        }
      }
    }
  }
};

/// A piece of the sums: B's rows `k` and C's columns `n`.
struct Piece {
  Range k;
  Range n;
};

/// Run by every thread of a team.
void multiply_piece(const LocalProduct& p, const Piece& piece, const Blocks& blocks, Simd simd,
                    double* a_block, double* b_strips) {
  const Tile tile = tile_of(simd);
  const std::int64_t k = piece.k.size();
#pragma omp for schedule(static)
  for (std::int64_t j = piece.n.begin; j < piece.n.end; j += tile.columns) {
    pack_b(p.b + piece.k.begin * p.b_row + j, p.b_row, std::min<std::int64_t>(tile.columns, piece.n.end - j),
           k, tile.columns, b_strips + (j - piece.n.begin) * k);
  }
#pragma omp for schedule(dynamic)
  for (std::int64_t i = 0; i < p.m; i += blocks.m) {
    const std::int64_t rows = std::min(blocks.m, p.m - i);
    pack_a(p.a + i * p.a_row + piece.k.begin, p.a_row, rows, k, tile.rows, a_block);
    sparse::with_simd(simd, BlockProduct{rows, piece.n.size(), k, a_block, b_strips,
                                         p.c + i * p.c_row + piece.n.begin, p.c_row});
    if (p.progress && omp_get_thread_num() == 0) p.progress();
  }
}

}  // namespace

void tiled_product(const LocalProduct& product, Simd simd) {
  const LocalProduct& p = product;
  if (p.m == 0 || p.n == 0 || p.k == 0) return;
  const Tile tile = tile_of(simd);
  const int threads =
      static_cast<int>(std::min<std::int64_t>(max_threads(), (p.m + tile.rows - 1) / tile.rows));
  const Blocks blocks = choose_blocks(p, tile, threads);
  const std::int64_t a_size = blocks.m * blocks.k;
  Array<double> a_blocks(a_size * threads);
  Array<double> b_strips(blocks.n * blocks.k);
#pragma omp parallel num_threads(threads)
  {
    double* a_block = a_blocks.data() + a_size * omp_get_thread_num();
    for (std::int64_t j = 0; j < p.n; j += blocks.n) {
      for (std::int64_t l = 0; l < p.k; l += blocks.k) {
        const Piece piece{{l, std::min(l + blocks.k, p.k)}, {j, std::min(j + blocks.n, p.n)}};
        multiply_piece(p, piece, blocks, simd, a_block, b_strips.data());
      }
    }
  }
}

void tiled_product(const LocalProduct& product) {
  tiled_product(product, sparse::best_simd());
}

}  // namespace ayatori::bench
