#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/session/solve.hpp"
#include "ayatori/session/solve/verify.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::session {

/// A finished solve with an operator.
struct OperatorRun {
  tuning::Status status = tuning::Status::not_converged;
  std::string method;
  std::string preconditioner;
  std::string reason;              ///< why it did not converge, in words; empty if it did
  std::vector<std::string> notes;  ///< notes of the preconditioner's set-up
  std::int64_t iterations = 0;
  double rtol = 0;
  double relative_residual = 1;  ///< ||b - A x|| / ||b|| of the x handed back, by a product of the operator
  double residual_error_bound = 0;  ///< error of summing that; what the operator itself rounds is unknown
  int ranks = 1;
  int threads = 1;
  double setup_seconds = 0;  ///< 0 where the preconditioner was there
  double total_seconds = 0;

  bool converged() const { return status == tuning::Status::converged; }
};

std::string summary(const OperatorRun& run);

/// Schema "ayatori.operator-solve/1": the fields above.
nlohmann::ordered_json to_json(const OperatorRun& run);

/// Solves with an operator of which only products are known. Nothing is tuned: a method runs with a
/// preconditioner that is made of a matrix near the operator, if there is one, or is the application's.
/// "auto" stands for GMRES, or FGMRES with a preconditioner of the application's, and for ilu of that matrix,
/// or ic with methods that want a symmetric preconditioner. Where the operator is a DistributedMatrix, what
/// is said of residuals is proved of its entries.
class OperatorSolver {
 public:
  /// Collective. `near` may be nullptr, and is spread as the operator is; so may `preconditioner`, which is
  /// near the inverse of the operator. `a` and `preconditioner` outlive this. `is_complex`: all are on pairs,
  /// and linear in complex numbers. Throws InputError, agreed, for options that are wrong or have no meaning
  /// here.
  OperatorSolver(comm::Comm comm, const sparse::LinearOperator& a,
                 std::shared_ptr<const sparse::SplitMatrix> near, const SolveRequest& request,
                 const sparse::LinearOperator* preconditioner = nullptr, bool is_complex = false);

  /// Collective. x is the starting guess, and becomes the best x found. It is called converged where its
  /// residual, by a product of the operator, meets the tolerance. Of the hooks, progress and wants_stop are
  /// used. Throws InputError, agreed.
  OperatorRun solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks = {});

  /// Collective. Whether this x, which may be anyone's, meets the tolerance.
  Verified verify(solvers::ConstVector b, solvers::ConstVector x) const;

 private:
  void prepare(const solvers::GlobalSum& sum, int threads);
  solvers::ResidualFunction residual_of(const solvers::System& system) const;

  comm::Comm comm_;
  const sparse::LinearOperator& a_;
  const sparse::LinearOperator* given_;  ///< the application's preconditioner, or nullptr
  SolveRequest request_;
  bool is_complex_;  ///< and so is the preconditioner
  std::optional<sparse::DistributedMatrix> near_;
  std::optional<solvers::BuiltPreconditioner> preconditioner_;  ///< made by the first solve
  int threads_ = 0;                                             ///< that it was made for
};

}  // namespace ayatori::session
