#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "bench/collectives/block_exchange.hpp"
#include "bench/kernels/jacobi_tiles.hpp"
#include "bench/papers/phases.hpp"
#include "bench/papers/rank_grid.hpp"

namespace ayatori::bench {

/// How what is around blocks is exchanged.
struct LaplaceForm {
  std::string_view name;
  std::string_view description;
  bool one_sided;
  bool overlap;  ///< the inside of a block is swept while values travel
};

std::span<const LaplaceForm> laplace_forms();

struct LaplaceOptions {
  std::int64_t n = 640;  ///< the grid has n x n points inside (Tanaka: 640)
  int sweeps = 256;      ///< in a repetition
  int depth =
      0;  ///< sweeps from exchange to exchange, and in a pass through memory; 0: the fastest of 1, 2, 4, ...
  std::string form = "two-sided";
  std::int64_t stream_elements = 0;  ///< doubles per vector and rank of a STREAM in turns; 0: none
  int repetitions = 20;
};

struct LaplaceResult {
  RankGrid grid;
  int depth = 1;
  std::vector<Phase> phases;      ///< total, compute, exchange
  std::vector<Phase> unblocked;   ///< the same with depth 1, in turns
  double updates_per_second = 0;  ///< by the median
  double unblocked_updates_per_second = 0;
  double stream_updates_per_second =
      0;             ///< copy's bandwidth over 16 bytes: most that a sweep per pass can have
  double error = 0;  ///< largest deviation from the decayed eigenmode, whose values are <= 1
};

/// Jacobi sweeps of the 5-point Laplace operator on an n x n grid with zeros around it, over a grid of ranks.
class Laplace {
 public:
  /// Collective. `depth`: at most the rows and columns of the smallest block.
  Laplace(const comm::Comm& comm, const RankGrid& grid, std::int64_t n, int depth, const LaplaceForm& form);

  /// The current values.
  GridBlock& values() { return blocks_[current_]; }

  /// Collective. The seconds of computing and exchanging are added to.
  void run(int sweeps, double& compute, double& exchange);

 private:
  void pass(int sweeps, double& compute, double& exchange);

  comm::Comm comm_;
  int depth_;
  bool overlap_;
  Rect inside_;               ///< what needs nothing from neighbours, for `depth` sweeps
  std::vector<Rect> around_;  ///< the rest
  std::array<GridBlock, 2> blocks_;
  int current_ = 0;
  std::unique_ptr<BlockExchange> exchange_;  ///< none for a rank alone
};

/// Collective. Times the sweeps (Tanaka et al.: explicit Laplace) from the eigenmode sin sin, whose decay
/// verifies them; before, a small grid of random values is swept and compared with plain sweeps, bit by bit.
/// Throws InputError, agreed, for options that cannot be, InternalError, agreed, for wrong values.
LaplaceResult time_laplace(const comm::Comm& comm, const LaplaceOptions& options);

}  // namespace ayatori::bench
