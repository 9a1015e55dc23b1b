#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::solvers {

class PiecewiseConstants;

/// What the preconditioners can be told. Values out of range are InputErrors.
struct PreconditionerOptions {
  int blocks = 0;      ///< blocks of ssor, block-ilu0, ic, ilu, ilut per rank; 0: one per thread
  int block_size = 0;  ///< rows of a block of block-jacobi, up to 64; 0: the nodes of the mesh, or 8 rows
  int degree = 4;      ///< degree of polynomials, up to 100; odd ones must be more careful about the spectrum
  int overlap = 0;     ///< layers of rows by which the blocks of ic, ilu and ilut overlap, up to 10
  int fill = -1;       ///< levels of fill of ic (1 by default) and ilu (0); entries that ilut keeps in a row
                       ///< of a triangle beyond as many as the matrix has (10 by default)
  double drop_tolerance = 1e-3;   ///< what ilut drops, relative to the row
  std::string ordering = "auto";  ///< ordering of a block's rows, for ic, ilu, ilut: auto, natural or rcm
  bool matrix_is_symmetric =
      false;                       ///< known to be, up to rounding: direct then needs half of memory and work
  bool matrix_is_complex = false;  ///< known to be the real form of a complex, not Hermitian one
  bool matrix_is_complex_symmetric = false;  ///< and that is equal to its transpose
  bool matrix_is_hermitian = false;          ///< known to be the real form of a Hermitian one
  /// How ic, ilu and ilut use the threads of a rank: "blocks", one for each, or "levels": one block, whose
  /// triangles are solved level by level; "auto": levels for ilut, blocks for the others.
  std::string triangular = "auto";
  /// Precision of the factors of direct: "double", or "single", which takes half of the memory; KLU's are
  /// double in any case. Where single precision finds the matrix singular, the factors are double.
  std::string factor_precision = "double";
  /// For direct by MUMPS: blocks of the factors are compressed to low rank (BLR) where that leaves no more
  /// than this share of the matrix' norm. It is from 0 (not compressed) to 1.
  double low_rank = 0;
  /// How schur and schur-definite stand in for the inverse of the Schur complement: a name of
  /// saddle/complement.hpp; auto: what is measured to take the least time (saddle/choice.hpp).
  std::string complement = "auto";
  /// The same bits in every run. All are, but direct on several ranks, where MUMPS adds up in the order in
  /// which messages arrive: with this it computes on one, as it does for small matrices anyway.
  bool reproducible = false;
  /// A set-up that cannot be stopped does not begin where it is sure to take longer, with an
  /// EnvironmentError. The same on all ranks.
  double seconds_left = std::numeric_limits<double>::infinity();
  /// Asked by direct when its analysis has told that the factorization takes as long as this many products
  /// with the matrix: false gives it up, with an EnvironmentError. The same on all ranks.
  std::function<bool(double products)> may_take = {};
  /// Asked now and then during set-ups that may take long, by several threads at once: true on one rank
  /// abandons the set-up on all, with an EnvironmentError.
  std::function<bool()> gives_up = {};
  /// x, y and z of the node of each of this rank's rows, [3 * row + axis], or nothing, on all ranks: of a
  /// matrix whose unknowns are displacements of nodes along these axes (or the first two); for amg.
  std::span<const double> coordinates = {};
  /// Vectors that the matrix nearly annihilates, [vectors * row + k] of this rank's rows, or nothing, on all
  /// ranks; for amg, which then asks no coordinates.
  std::span<const double> near_null_space = {};
  /// 1 for each of this rank's rows that is a constraint and 0 for another, or nothing, on all ranks. For
  /// schur and schur-definite, which look for the constraints themselves without.
  std::span<const double> fields = {};
  const PiecewiseConstants* null_vectors = nullptr;  ///< null vectors of the matrix, if known; for amg
  /// What the same preconditioner made of other values on the same pattern, or nothing. The set-up may take
  /// parts of it, such as the analysis of direct; it cannot be applied afterwards. The same on all ranks.
  sparse::LinearOperator* earlier = nullptr;
};

/// A preconditioner M = ((D + L) D^-1 (D + U))^-1 of A = L + D_A + U, with the strict triangles of A itself
/// (those of diagonal blocks, the rest of A counting as D_A), taken apart: with K = I + L D^-1, methods solve
/// K^-1 A x = K^-1 b with the preconditioner (D + U)^-1. CG and MINRES take the steps of A x = b with M, but
/// products cost next to nothing beside the two triangular solves (Eisenstat, SIAM J. Sci. Stat. Comput. 2,
/// 1981). Where A is symmetric, z^T r of the system itself is u^T r with u = D^-1 (D + U) z and r as seen
/// here.
class SplitForm {
 public:
  virtual ~SplitForm() = default;

  /// Collective. z = (D + U)^-1 x and w = K^-1 A z; u = D^-1 x unless u is empty. No two overlap.
  virtual void apply(std::span<const double> x, std::span<double> z, std::span<double> w,
                     std::span<double> u) const = 0;
  /// r becomes K^-1 r: a residual as methods see it.
  virtual void to_split(std::span<double> r) const = 0;
  /// r = K seen: what such a residual is. No overlap.
  virtual void from_split(std::span<const double> seen, std::span<double> r) const = 0;
};

/// A preconditioner ready for use, with what its set-up has to report ("shifted 12 pivots by 1e-8", ...).
struct BuiltPreconditioner {
  std::unique_ptr<sparse::LinearOperator> op;
  std::vector<std::string> notes;
  bool blocks_are_singular =
      false;  ///< some block's factors do not exist: where rows couple it with other blocks only
  bool reproducible = true;  ///< to the bit
  /// Complete factors that hold fewer digits than they could: others may solve what these do not.
  bool reduced_accuracy = false;
  std::int64_t zero_pivots = 0;  ///< complete factors' pivots, to working precision: what the rank lacks
  /// `op` taken apart, where that is possible on all ranks; else nothing. Holds for the matrix that it was
  /// made from.
  const SplitForm* split = nullptr;
};

/// Whether this is what PreconditionerOptions::triangular can be.
inline bool is_triangular(std::string_view name) {
  return name == "auto" || name == "blocks" || name == "levels";
}

/// Whether this is what PreconditionerOptions::factor_precision can be.
inline bool is_factor_precision(std::string_view name) {
  return name == "double" || name == "single";
}

/// Which of the PreconditionerOptions that a user can set a preconditioner obeys.
struct Obeys {
  bool overlap_and_ordering = false;
  bool fill = false;
  bool drop_tolerance = false;
  bool degree = false;
  bool complete_factors = false;  ///< factor_precision and low_rank
  bool complement = false;        ///< and fields
};

/// An entry in the list of preconditioners. `make` is collective; it keeps a reference to the matrix. It
/// throws Error (agreed, of kind bad_input) when the matrix does not admit the preconditioner, saying why.
struct Preconditioner {
  std::string_view name;
  std::string_view description;
  bool symmetric;  ///< symmetric positive definite whenever A is
  BuiltPreconditioner (*make)(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                              const PreconditionerOptions& options);
  Obeys obeys = {};
  bool for_saddle_points = false;  ///< useless where no rows look like constraints
};

/// none, jacobi, ssor, block-jacobi, block-ilu0, ic, ilu, ilut, fsai, neumann, direct (where KLU or MUMPS
/// is), boomeramg (where hypre is), chebyshev, gmres-polynomial, amg, schur, schur-definite. Adding one is a
/// file in preconditioners/ and a line in its list.cpp.
std::span<const Preconditioner> preconditioners();

/// The one of this name. Throws InputError that lists the names.
const Preconditioner& preconditioner(std::string_view name);

}  // namespace ayatori::solvers
