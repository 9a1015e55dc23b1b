#pragma once

#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/comm/comm.hpp"
#include "bench/kernels/local_matmul.hpp"
#include "bench/papers/panel_channel.hpp"
#include "bench/papers/rank_grid.hpp"

namespace ayatori::bench {

/// This rank's rows and columns of an n x n matrix, by rows.
struct MatrixBlock {
  Range rows;
  Range columns;
  Array<double> values;

  const double* row(std::int64_t i) const { return values.data() + (i - rows.begin) * columns.size(); }
};

/// The block of the matrix whose elements are random in [-1, 1).
MatrixBlock random_block(std::int64_t n, const RankGrid& grid, int rank, std::uint64_t seed);

struct SummaSeconds {
  double total = 0;
  double product = 0;
  double exchange = 0;
};

/// C = A B over a grid of ranks; keeps communicators and buffers from one product to the next.
class Summa {
 public:
  /// Collective. See MatmulOptions.
  Summa(const comm::Comm& comm, const RankGrid& grid, std::int64_t n, std::int64_t panel,
        const MatmulForm& form);

  /// Collective. `c` is overwritten.
  SummaSeconds multiply(const MatrixBlock& a, const MatrixBlock& b, MatrixBlock& c,
                        const LocalProductType& local);

 private:
  /// Columns of A and rows of B that one column and one row of the grid hold.
  struct Panel {
    Range k;
    int column;
    int row;
  };

  void start(std::int64_t turn, const MatrixBlock& a, const MatrixBlock& b);
  LocalProduct product_of(std::int64_t turn, const MatrixBlock& a, const MatrixBlock& b, MatrixBlock& c);

  bool overlap_;
  PanelChannel along_row_;     ///< parts of A
  PanelChannel along_column_;  ///< parts of B
  std::vector<Panel> panels_;
};

}  // namespace ayatori::bench
