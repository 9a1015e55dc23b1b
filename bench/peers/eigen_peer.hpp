#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ayatori/eigen/dense/process_grid.hpp"

namespace ayatori::bench {

/// An eigensolver. It finds all pairs of a symmetric matrix, and gives the eigenvalues.
struct EigenPeer {
  std::string name;
  bool is_parallel;  ///< else rank 0 calls it alone
  /// Spreads the matrix (n x n, column-major, the same on all ranks that call) as the peer wants it, and
  /// gives what is timed.
  std::function<std::function<std::vector<double>()>(const std::vector<double>& a, int n)> prepare;
  double tolerance = 1e-12;  ///< how wrong the eigenvalues may be, of a matrix of norm 1
};

/// dsyevd, dsyevr.
std::vector<EigenPeer> lapack_peers();

/// pdsyevd, pdsyevr on a grid of this shape. Of all ranks.
std::vector<EigenPeer> scalapack_peers(eigen::GridShape shape);

/// ELPA's solvers of one and of two stages. Of all ranks.
std::vector<EigenPeer> elpa_peers(eigen::GridShape shape);

/// One rank's share of a matrix that lies block-cyclic over the grid, as ScaLAPACK and ELPA have it.
struct BlockCyclic {
  static constexpr int block = 32;
  eigen::GridShape shape;
  int row;
  int column;

  BlockCyclic(eigen::GridShape grid, int rank)
      : shape(grid), row(rank / grid.columns), column(rank % grid.columns) {}

  /// Those of n that belong to `mine` of `parts`, ascending.
  static std::vector<int> indices(int n, int mine, int parts) {
    std::vector<int> found;
    for (int i = 0; i < n; ++i) {
      if (i / block % parts == mine) found.push_back(i);
    }
    return found;
  }
  std::vector<int> rows(int n) const { return indices(n, row, shape.rows); }
  std::vector<int> columns(int n) const { return indices(n, column, shape.columns); }

  std::vector<double> share(const std::vector<double>& a, int n) const {
    std::vector<double> mine;
    for (const int j : columns(n)) {
      for (const int i : rows(n)) mine.push_back(a[static_cast<std::size_t>(j) * n + i]);
    }
    return mine;
  }
};

}  // namespace ayatori::bench
