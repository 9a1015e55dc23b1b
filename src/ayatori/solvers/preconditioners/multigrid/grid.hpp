#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/preconditioners/multigrid/block_csr.hpp"
#include "ayatori/solvers/preconditioners/multigrid/layout.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// The grids of the hierarchy while it is set up: smoothed aggregation (Vanek, Mandel & Brezina 1996).

namespace ayatori::solvers::amg {

/// A matrix with B unknowns per node, scaled from both sides by |diagonal|^(-1/2), so that its diagonal is 1
/// (0 or -1 where that of the user's matrix was), and vectors that it nearly annihilates: one for each
/// unknown of a node, with values there alone; or modes, such as those of a rigid body, with values
/// everywhere.
template <int B>
struct Grid {
  Layout layout;
  BlockCsr<B> matrix;       ///< rows: own nodes; columns: all nodes of the layout, ascending
  Array<double> near_null;  ///< without modes: value c of own node i is [i * B + c]; 0: an unknown that does
                            ///< not exist
  Array<double> modes;      ///< modes of own nodes; see mode()
  int pieces = 1;           ///< nodes that an aggregate becomes; there are B * pieces modes if that is not 1
  int group = 1;            ///< this many consecutive nodes are an aggregate of the finer grid

  double& mode(std::int64_t node, int unknown, int k) { return modes[(node * B + unknown) * B * pieces + k]; }
  /// Whether an unknown exists.
  bool has_modes(std::int64_t node, int unknown) {
    for (int k = 0; k < B * pieces; ++k)
      if (mode(node, unknown, k) != 0) return true;
    return false;
  }
};

/// The user's matrix as a grid. Nodes are B rows, counted from global row 0; a node cut by the border of two
/// ranks is two nodes, filled up with unknowns that do not exist.
template <int B>
struct FineGrid {
  Grid<B> grid;
  Array<double> scale;  ///< scale of each of this rank's rows
  int skipped = 0;      ///< unknowns of the first node that do not exist
};

/// Collective. How many vectors a near null space has, of which this rank has [vectors * row + k] for this
/// many rows. Throws InputError, agreed.
std::int64_t near_null_vectors(const comm::Comm& comm, std::int64_t rows,
                               std::span<const double> near_null_space);

/// Collective. `inverse_diagonal` of invert_diagonal(). `coordinates`: x, y and z of the node of each of this
/// rank's rows, [3 * row + axis], if the unknowns of a node are its displacements along the axes; the near
/// null space then holds the rotations too. `near_null_space`: that itself, [vectors * row + k], where it is
/// known: one vector where B is 1, or at least two for each unknown of a node.
template <int B>
FineGrid<B> make_fine_grid(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
                           std::span<const double> coordinates = {},
                           std::span<const double> near_null_space = {});

/// A grid and the ways from and to it. Those are stored as T from the start: what the cycle uses is what the
/// Galerkin product is made of.
template <int B, class T>
struct Coarsening {
  BlockCsr<B, T> prolongator;  ///< rows: own nodes of the finer grid; columns: nodes of the coarse layout
  BlockCsr<B, T> restrictor;   ///< its transpose, rows as in `restrictor_node`; the others would be empty
  Array<std::int32_t> restrictor_node;  ///< node of the coarse layout for each row of `restrictor`
  Grid<B> coarse;
};

struct CoarsenOptions {
  double threshold;    ///< couplings below it, against the diagonal, are weak
  double largest;      ///< estimate of the largest eigenvalue of the scaled matrix
  bool finest = true;  ///< the grid is that of the user's matrix
  /// A grid with more than this share of the finer one's nodes is of no use.
  double most_nodes = 0.8;
};

/// Collective. The next grid, by aggregation, a prolongator smoothed by one step of Jacobi, and the Galerkin
/// product; nothing if there is none worth having.
template <int B, class T>
std::optional<Coarsening<B, T>> coarsen(const Grid<B>& grid, const CoarsenOptions& options);

/// Collective. The whole grid on every rank, spread over that rank alone.
template <int B>
Grid<B> gather(const Grid<B>& grid);

}  // namespace ayatori::solvers::amg
