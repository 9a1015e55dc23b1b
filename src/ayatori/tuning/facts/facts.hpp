#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/row_sums.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {
struct PreconditionerOptions;
}

namespace ayatori::tuning {

/// What this many rows have in common is taken for a property of the matrix.
inline constexpr double nearly_all = 0.9;

/// What a choice of method can be based on, found in one pass over the matrix.
struct MatrixFacts {
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  std::int64_t min_row_nonzeros = 0;
  std::int64_t max_row_nonzeros = 0;
  /// Entries in the row of an entry, on average over the entries: more than in a row on average over the rows
  /// where lengths differ.
  double mean_row_of_entries = 0;

  /// Every a_ij equals a_ji up to rounding: they differ by at most 1e-13 of the largest entries of rows i and
  /// j.
  bool symmetric = false;
  bool pattern_symmetric = false;
  /// Symmetric only without the columns of diagonal rows: see ExaminedMatrix.
  bool symmetric_inside = false;

  /// The real form of a complex matrix (sparse/complex_form.hpp); symmetric is Hermitian then.
  bool complex_form = false;
  /// Whether the complex matrix is equal to its transpose, up to rounding; not set for Hermitian ones.
  bool complex_symmetric = false;
  /// Real coefficients are no match for it.
  bool is_complex() const { return complex_form && !symmetric; }

  /// max |a_ij - a_ji| / max |a|. Of an unsymmetric matrix of 2^11 nonzeros and more, where a few rows show
  /// it, over the entries of these rows, and so a lower bound; the same on any number of ranks and threads.
  double asymmetry = 0;

  std::int64_t positive_diagonals = 0;
  std::int64_t negative_diagonals = 0;
  std::int64_t zero_diagonals = 0;  ///< stored zeros and missing ones
  /// Whose diagonal entry is all that has weight, as in identity rows and penalties of Dirichlet conditions:
  /// the others are below rounding beside it.
  std::int64_t boundary_rows = 0;
  // Figures of the rows that are no boundary rows, which may have any scale; of all where they all are.
  double dominant_rows = 0;   ///< share of rows with |a_ii| >= sum of the others' |a_ij|
  double diffusive_rows = 0;  ///< share of rows that are dominant, or whose entries sum to less than 1 %
                              ///< of their absolute values, as a discrete Laplacian's do
  double strongly_dominant_rows = 0;  ///< share of rows with |a_ii| / 2 >= sum of the others' |a_ij|
  double least_dominance = 0;  ///< min of 1 - sum of the others' |a_ij| / |a_ii| over the rows, or 0: no
                               ///< eigenvalue of D^-1 A is nearer to 0 (Gershgorin)
  /// Sum of all entries / sum of the diagonal, the Rayleigh quotient of the constant vector in (A, D): for a
  /// definite matrix the smallest eigenvalue of D^-1 A is no larger, and their mean is 1. 0 if undefined. The
  /// same on any number of ranks and threads up to rounding.
  double constant_quotient = 0;
  double min_abs_diagonal = 0;  ///< 0 where all are boundary rows
  double max_abs_diagonal = 0;  ///< the same
  /// Mean of what incomplete factors without fill leave out of A times the constant vector, in units of the
  /// diagonal, over some rows of every rank's own block (DroppedFill); 0 where its rows are not of diffusion.
  /// Where the fill has one sign, as in M-matrices, the condition number with such factors is about this over
  /// the smallest eigenvalue of D^-1 A (Gustafsson, BIT 18, 1978), where with the diagonal it is 2 over it.
  double dropped_fill = 0;
  solvers::RowSums row_sums;  ///< by which null vectors are looked for
  double max_abs = 0;
  double norm_infinity = 0;  ///< largest row sum of |a_ij|
  /// Steps from neighbour to neighbour that it takes at least to cross the matrix, rows / max |i - j|, or the
  /// block of any rank: so a partition that reorders rows does not hide them. Depends on it all the same.
  double least_diameter = 0;
  std::int64_t bandwidth = std::numeric_limits<std::int64_t>::max();  ///< largest |i - j|
  /// Rows of aligned square blocks that are nearly full where they hold an entry, as far as a few rows of
  /// every rank's own block show it: the unknowns of a node stand together. 1 where there are none, or so few
  /// entries that nobody looked.
  int block_size = 1;
  /// Into which preconditioners of blocks cut the rows: one of every thread of every rank that holds some.
  std::int64_t blocks = 1;

  /// Known from elsewhere: a method has met a direction p with p^T A p < 0 (> 0 with a negative diagonal).
  bool indefinite = false;

  /// Symmetric with a diagonal of one sign, which every definite matrix has: worth trying as definite.
  bool looks_positive_definite() const { return !indefinite && symmetric && positive_diagonals == rows; }
  bool looks_negative_definite() const { return !indefinite && symmetric && negative_diagonals == rows; }
  bool looks_definite() const { return looks_positive_definite() || looks_negative_definite(); }

  /// Diagonal entries that are zero or of the rarer sign: the constraints of a saddle point have such ones.
  std::int64_t odd_diagonals() const { return rows - std::max(positive_diagonals, negative_diagonals); }
  bool may_have_constraints() const { return odd_diagonals() > 0 && 2 * odd_diagonals() <= rows; }
};

/// Collective. Takes about the time of two to four products. Entries are held against their mirror images by
/// sums of hashes, with which one that differs passes for equal with probability 2^-32; what is not exactly
/// symmetric is compared up to rounding.
MatrixFacts examine(const comm::Comm& comm, const sparse::SplitMatrix& parts);

/// What methods and preconditioners work with once the boundary rows are solved.
struct ExaminedMatrix {
  MatrixFacts facts;  ///< facts of `at_work`, but for nonzeros, norms and row sums: those of the whole matrix
  /// The matrix; where that makes it symmetric, without the columns of its diagonal rows.
  std::shared_ptr<const sparse::SplitMatrix> at_work;
};

/// Collective. Boundary conditions often take the place of rows while their columns stay: then a symmetric
/// problem has an unsymmetric matrix. As examine(), and as much again where a few rows do
/// not tell that a matrix with such rows is unsymmetric without them, too.
ExaminedMatrix examine_inside(const comm::Comm& comm, std::shared_ptr<const sparse::SplitMatrix> parts);

/// Collective. The same where the first rank holds all rows.
MatrixFacts on_one_rank(const comm::Comm& comm, MatrixFacts facts);

/// What is said of a real form, in numbers of the complex matrix: its rows and entries.
MatrixFacts in_complex_numbers(MatrixFacts real_form);

/// What preconditioners can be told of the matrix.
void tell(const MatrixFacts& facts, solvers::PreconditionerOptions& options);

/// The iterations that CG with the diagonal takes at most to 1e-8: where it dominates every row clearly, the
/// condition number is at most 2 / least dominance. Infinite where it does not.
double iterations_by_dominance(const MatrixFacts& facts);

}  // namespace ayatori::tuning
