#pragma once

#include <cmath>
#include <cstdint>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/generators/grid.hpp"

// A coefficient that jumps between blocks of a square or cube.

namespace ayatori::io {

inline constexpr GeneratorParameter block_ratio{
    "ratio", 1e4, 1e-9, 1e9, false, "of the coefficients of the two kinds of block"};
inline constexpr GeneratorParameter blocks_per_edge{"blocks", 8, 1, 1e5, true, "blocks per edge"};
inline constexpr GeneratorParameter block_seed{"seed",     0,    0,
                                               4294967295, true, "0: a checkerboard, else random blocks"};

/// Coefficient on n cells per edge, cut into `blocks` blocks. seed=0: a checkerboard of 1 and `ratio`. Any
/// other seed: every block has ratio^u with u uniform in [0, 1).
class BlockCoefficient {
 public:
  explicit BlockCoefficient(const GeneratorParameters& parameters)
      : n_(parameters.integer("n")),
        blocks_(parameters.integer("blocks")),
        seed_(static_cast<std::uint64_t>(parameters.integer("seed"))),
        ratio_(parameters.real("ratio")) {}

  std::int64_t n() const { return n_; }

  double of_cell(Point3 cell) const {
    const Point3 block{cell.x * blocks_ / n_, cell.y * blocks_ / n_, cell.z * blocks_ / n_};
    if (seed_ == 0) return (block.x + block.y + block.z) % 2 == 0 ? 1.0 : ratio_;
    return std::pow(ratio_, random_uniform(seed_, (block.z * blocks_ + block.y) * blocks_ + block.x));
  }

 private:
  std::int64_t n_;
  std::int64_t blocks_;
  std::uint64_t seed_;
  double ratio_;
};

}  // namespace ayatori::io
