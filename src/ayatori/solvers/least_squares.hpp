#pragma once

#include <functional>
#include <string_view>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::solvers {

/// min ||b - A x|| of an A that may be singular, unsymmetric, or rectangular: then both operators take
/// vectors of the one length to vectors of the other.
struct LeastSquaresProblem {
  const sparse::LinearOperator& a;
  const sparse::LinearOperator& transposed;  ///< A^T
  ConstVector b;
  const GlobalSum& sum;
  /// Diagonal of a D: then min ||b - A D y|| is iterated on, and x = D y. Empty: the identity. No element is
  /// 0.
  ConstVector column_scale = {};
  /// M, near (A^T A)^-1 and symmetric positive definite, or none; not with a column scale: iterates are those
  /// on A M^(1/2) (generalized Golub-Kahan, Arioli & Orban 2013), in as many more vectors and products as M
  /// takes.
  const sparse::LinearOperator* preconditioner = nullptr;
};

/// Which iterates: both begin the same Krylov space. The residual of LSQR falls monotonically, that of the
/// normal equations of LSMR does.
enum class LeastSquaresMethod { lsmr, lsqr };

struct LeastSquaresOptions {
  LeastSquaresMethod method = LeastSquaresMethod::lsmr;
  /// min ||b - A x||^2 + damping^2 ||x||^2; all residuals are then of [A; damping I]. With a column scale,
  /// ||y|| in the place of ||x||.
  double damping = 0;
  double target = 0;            ///< absolute norm of b - A x at which to stop ...
  double consistent_atol = 0;   ///< ... or at this many times ||A|| ||x|| more
  double atol = 1e-14;          ///< stop where ||A^T r|| <= atol ||A|| ||r|| ...
  double max_condition = 1e15;  ///< ... where the estimate of the condition number is beyond this ...
  int max_iterations = 10000;   ///< ... or after this many products with A and with A^T
  /// A lower bound of ||A||, if one is known: the largest |entry| will do. It tells an A^T b that is rounding
  /// only from one that is not.
  double matrix_norm = 0;
  /// This rank's part of a vector to which squares are added, or none; of LSQR without damping: in the end it
  /// is an estimate from below of the diagonal of (A^T A)^-1.
  Vector variance = {};
  /// Collective, if it is one: called after every iteration that goes on, with what forms the x reached.
  std::function<void(const std::function<void(Vector)>& form)> look = nullptr;
};

/// How it ended.
enum class LeastSquaresStop {
  solved,         ///< the residual meets the target
  rounding,       ///< it is what rounding leaves of a residual that vanishes
  least_squares,  ///< no x nearby leaves less
  condition,      ///< singular to working precision: x would grow from here on for nothing
  max_iterations,
  not_finite,   ///< a product is not finite
  interrupted,  ///< a rank asked to stop
  yielded,      ///< progress asked it to
};
std::string_view name_of(LeastSquaresStop stop);

/// Norms are in the 2-norm, of the x returned, as the recurrence has them: the caller verifies. With a column
/// scale, those of A and A^T r are of A D and D A^T r; with a preconditioner, of A M^(1/2) and M^(1/2) A^T r.
struct LeastSquaresResult {
  LeastSquaresStop stop = LeastSquaresStop::max_iterations;
  int iterations = 0;          ///< one is a product with A and one with A^T
  double residual_norm = 0;    ///< ||b - A x||
  double normal_residual = 0;  ///< ||A^T (b - A x)||
  double matrix_norm = 0;      ///< a lower bound of ||A||, seldom less than half of it
  double frobenius_norm = 0;   ///< a lower bound of that of A, by what b excites of it
  double condition = 0;        ///< lower bound of A's condition number, as far as b excites it
  double solution_norm = 0;    ///< ||x||
};

/// Told after every iteration: how many so far, and the two norms. False asks to yield; all ranks must answer
/// the same.
using LeastSquaresProgress = std::function<bool(int iteration, double residual_norm, double normal_residual)>;

/// What it is called among methods, and the doubles per row that an iteration moves beside A and A^T.
inline constexpr std::string_view least_squares_name = "lsmr";
inline constexpr double least_squares_traffic = 20;

/// Collective. LSMR (Fong & Saunders, SIAM J. Sci. Comput. 33, 2011) or LSQR (Paige & Saunders, ACM Trans.
/// Math. Softw. 8, 1982) from x = 0, whatever x holds: it tends
/// to the least-squares solution of least ||x|| (of least ||D^-1 x|| with a column scale, of least x^T M^-1 x
/// with a preconditioner). x is finite at the end if it can be represented. Vectors and matrices of any
/// magnitude do: b is scaled by its norm and A by a power of two. Two reductions in an iteration. Throws
/// EnvironmentError (agreed) when memory is missing.
LeastSquaresResult least_squares(const LeastSquaresProblem& problem, Vector x,
                                 const LeastSquaresOptions& options,
                                 const LeastSquaresProgress& progress = {});

}  // namespace ayatori::solvers
