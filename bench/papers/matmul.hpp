#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "bench/papers/panel_channel.hpp"
#include "bench/papers/phases.hpp"
#include "bench/papers/rank_grid.hpp"

namespace ayatori::bench {

struct MatmulOptions {
  std::int64_t n = 1800;                           ///< matrices are n x n (Tanaka: 1800)
  std::vector<std::string> locals{"own", "blas"};  ///< names from local_products(), timed in turns
  std::string form = "overlap";                    ///< a name from matmul_forms()
  std::int64_t panel = 0;  ///< columns of A and rows of B that are sent at once; 0: a quarter of a rank's
  int repetitions = 20;
};

struct MatmulTiming {
  std::string local;
  std::vector<Phase> phases;    ///< total, product, exchange (what of it is not behind products)
  double flops_per_second = 0;  ///< 2 n^3 over the median
  double error = 0;             ///< largest |C v - A (B v)| over n epsilon |A| |B| |v|, v random
};

struct MatmulResult {
  RankGrid grid;
  std::int64_t panel = 0;
  std::vector<MatmulTiming> timings;
};

/// Collective. C = A B with random A and B, n x n, over all ranks by SUMMA (van de Geijn and Watts, 1997):
/// ranks form a grid, each holds a block of every matrix; for each panel of A's columns and B's rows, those
/// who hold it send it along their row or column of the grid, and all add its product to C. Throws
/// InputError, agreed, for options that cannot be, InternalError, agreed, where C v and A (B v) differ.
MatmulResult time_matmul(const comm::Comm& comm, const MatmulOptions& options);

}  // namespace ayatori::bench
