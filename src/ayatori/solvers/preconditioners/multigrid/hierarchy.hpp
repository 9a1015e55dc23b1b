#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"
#include "ayatori/solvers/preconditioners/polynomials/chebyshev.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers::amg {

/// A level of a hierarchy, for whoever makes its cycles elsewhere.
struct LevelParts {
  sparse::Csr matrix;       ///< scaled, diagonal 1
  sparse::Csr prolongator;  ///< from the next grid; none on the last
  sparse::Csr restrictor;   ///< to it
  ChebyshevTerms smoother;
};
struct HierarchyParts {
  std::vector<LevelParts> levels;
  std::vector<double> coarsest_inverse;  ///< inverse on the grid behind the last level, by rows; empty where
                                         ///< the last level is only smoothed
  Array<double> scale;                   ///< S, of rows: the cycle is one for S A S
};

struct HierarchyOptions {
  bool symmetric = true;         ///< smooth by Chebyshev polynomials, else by damped Jacobi
  double threshold = 0.3;        ///< couplings below this share of the largest are weak
  double decay = 0.5;            ///< factor of the threshold, from grid to grid
  int degree = 2;                ///< degree of the smoother: products before, and after, the coarser grids
  double interval = 6;           ///< the smoother acts on eigenvalues from the largest down to it over this
  std::int64_t coarsest = 200;   ///< unknowns of a grid that is solved by its inverse
  std::int64_t gathered = 2000;  ///< unknowns of a grid that every rank holds whole
  int most_levels = 20;
  bool halves = true;     ///< store the finest grid's matrix in 16 bits, where that does
  bool singular = false;  ///< the matrix maps the near null space to 0 on some connected components
  std::function<bool()> gives_up = {};  ///< as in PreconditionerOptions
  HierarchyParts* parts = nullptr;      ///< gets what the hierarchy is made of; on one rank
};

/// What a hierarchy is like, for people.
struct HierarchyFacts {
  int levels = 1;
  double operator_complexity = 1;  ///< entries of all matrices over those of the finest
  std::int64_t coarsest = 0;       ///< unknowns of the coarsest grid
  bool in_halves = false;          ///< the finest one's matrix is stored in 16 bits
  int gathered_level = -1;         ///< from which grid on every rank holds all
  bool coarsest_is_singular = false;
  bool coarsest_is_smoothed = false;  ///< too large for an inverse
};

/// A V-cycle of grids: approximately the inverse of the user's matrix.
class Cycle {
 public:
  virtual ~Cycle() = default;
  /// Collective. x = S V S b on this rank's rows: V is the cycle for S A S, from a zero start.
  virtual void apply(std::span<const double> b, std::span<double> x) = 0;
  virtual const HierarchyFacts& facts() const = 0;
};

/// Collective. Throws EnvironmentError (agreed) once gives_up() is true on a rank. Matrices and vectors of
/// the cycle are stored as T; the set-up works in double, so that coarse matrices of ill-conditioned problems
/// stay definite.
template <int B, class T>
std::unique_ptr<Cycle> make_hierarchy(FineGrid<B> finest, const HierarchyOptions& options);

}  // namespace ayatori::solvers::amg
