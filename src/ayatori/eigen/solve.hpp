#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ayatori/eigen/dense/distributed_dense.hpp"
#include "ayatori/eigen/timed_collectives.hpp"
#include "ayatori/eigen/verify.hpp"

namespace ayatori::eigen {

/// Which eigenpairs are wanted.
struct Selection {
  enum class Kind { all, smallest, largest, range };
  Kind kind = Kind::all;
  std::int64_t count = 0;  ///< number of the smallest or largest
  double lower = 0;        ///< bound of the range, lower <= eigenvalue <= upper
  double upper = 0;
};

/// What is computed with: doubles; floats; or floats first, whose pairs are then refined to doubles
/// (refine()).
enum class Precision { float64, float32, mixed };

/// "double", "float", "mixed". Throws InputError that says so.
Precision parse_precision(std::string_view name);
std::string_view name_of(Precision precision);

struct EigenOptions {
  Selection selection;
  bool vectors = true;
  std::int64_t block = 32;  ///< columns of a panel, or of the band of two stages
  Precision precision = Precision::float64;
  std::string reduction = "auto";  ///< one of reductions(), or the fastest of them: see choose_reduction()
};

/// Ratios above this make a result false. Those of backward stable algorithms stay below a few, whatever the
/// matrix; one vector that is wrong in its fifth digit has a ratio of 1e-5 / (n eps), 4e6 for n = 10,000.
inline constexpr double largest_good_ratio = 30;

/// How good the pairs are: see verify.hpp; eps is that of the numbers that were asked for. A ratio that was
/// not computed is 0.
struct EigenCheck {
  double residual = 0;       ///< with vectors
  double orthogonality = 0;  ///< with vectors
  double moments = 0;        ///< check of all eigenvalues, always
  double reduction = 0;      ///< check of a generalized problem, always
  bool passed() const {
    return residual <= largest_good_ratio && orthogonality <= largest_good_ratio &&
           moments <= largest_good_ratio && reduction <= largest_good_ratio;
  }
};

/// Seconds, and where they went; of the slowest rank each.
struct EigenTimes {
  double total = 0;      ///< without verification
  double reduction = 0;  ///< from a generalized problem to a standard one
  double tridiagonalization = 0;
  double tridiagonal_solve = 0;
  double redistribution = 0;
  double back_transformation = 0;
  double back_substitution = 0;  ///< only for a generalized problem
  double refinement = 0;         ///< only for mixed precision
  double verification = 0;
  std::map<std::string, OperationCost> collectives;  ///< without verification
};

struct EigenResult {
  std::string reduction;                     ///< by which it came
  Precision precision = Precision::float64;  ///< float64 also where mixed precision did not converge
  int refinement_steps = 0;                  ///< steps of mixed precision
  std::vector<double> values;                ///< those selected, ascending; on every rank
  ColumnSpread vectors;                      ///< empty without vectors
  EigenCheck check;
  EigenTimes times;
};

/// A x = lambda x, or A x = lambda B x.
enum class ProblemKind { standard, generalized };

/// Bytes that a rank needs to solve a problem of order n on this many ranks, all in all, the matrix included.
double memory_needed(std::int64_t n, int ranks, const EigenOptions& options,
                     ProblemKind kind = ProblemKind::standard);

/// Collective. Throws EnvironmentError (agreed) if a node of this communicator has less memory than its ranks
/// would need.
void check_memory(const comm::Comm& comm, std::int64_t n, const EigenOptions& options,
                  ProblemKind kind = ProblemKind::standard);

/// Collective. Whether each node has the memory that its ranks would need.
bool fits_memory(const comm::Comm& comm, std::int64_t n, const EigenOptions& options, ProblemKind kind);

/// Throws InputError for options that make no sense for a matrix of order n on this many ranks.
void check(const EigenOptions& options, std::int64_t n, int ranks);

/// Collective. Eigenvalues, and eigenvectors, of the symmetric matrix `a`, and how good they are.
/// Householder's reduction to tridiagonal form, divide and conquer (or, without vectors, QR iteration),
/// back-transformation. In single precision all of these are the same in floats; vectors are handed over as
/// doubles. In mixed precision, of which all pairs have to be wanted with vectors, refine() follows, and,
/// should it not converge, the solver in doubles. The matrix may have any scale, and is symmetric to rounding
/// (check_symmetric). Throws InputError (agreed) for options that make no sense, for elements that are not
/// finite, and for eigenvalues beyond the range of doubles.
EigenResult solve_symmetric(DistributedDense a, const EigenOptions& options);

/// Collective. The same for A x = lambda B x, B positive definite, on the same grid: reduction to standard
/// form by Cholesky's factorization of B, whose vectors are then substituted back; X^T B X = I. Both matrices
/// may have any scale. The reduction and the substitution are in doubles whatever the precision. Throws
/// InputError (agreed) also for orders that differ, and for a B that is not
/// positive definite, naming the leading minor.
EigenResult solve_generalized(DistributedDense a, DistributedDense b, const EigenOptions& options);

}  // namespace ayatori::eigen
