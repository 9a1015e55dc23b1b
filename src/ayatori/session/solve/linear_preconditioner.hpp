#pragma once

#include <span>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/session/problem/row_facts.hpp"
#include "ayatori/session/solve/solve_request.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::session {

/// A preconditioner by its name, the same linear map in every application. For "auto" it is that of the arm
/// which the tuner expects to solve with the matrix soonest, before anything is tried; of a symmetric matrix,
/// a symmetric one, so that CG may use it. Where coordinates or a near null space are known, amg comes first,
/// as it alone takes them. What cannot be built makes way for the next. Of a matrix that is known to be
/// complex it is linear in complex numbers.
class LinearPreconditioner {
 public:
  /// Collective. `known` as for MatrixSolver. Throws InputError, agreed.
  LinearPreconditioner(const comm::Comm& comm, const sparse::RowBlock& rows, const SolveRequest& request,
                       RowFacts known = {});
  LinearPreconditioner(const LinearPreconditioner&) = delete;
  LinearPreconditioner& operator=(const LinearPreconditioner&) = delete;

  /// Collective. z = M r.
  void apply(std::span<const double> r, std::span<double> z) const;

  const sparse::LinearOperator& op() const { return *built_.op; }
  int threads() const { return threads_; }
  bool is_symmetric() const { return is_symmetric_; }
  const std::string& name() const { return name_; }
  /// Why it is that one, and what its set-up has to say.
  const std::string& why() const { return why_; }

 private:
  bool build(const std::string& name);

  comm::Comm comm_;
  RowFacts known_;
  int threads_ = 1;
  sparse::DistributedMatrix matrix_;
  solvers::GlobalSum sum_;
  solvers::PreconditionerOptions options_;
  solvers::BuiltPreconditioner built_;
  bool is_symmetric_ = false;
  std::string name_;
  std::string why_;
  std::string failures_;
};

}  // namespace ayatori::session
