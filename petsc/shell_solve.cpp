#include "petsc/shell_solve.hpp"

#include <limits>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/solvers/certified_solve.hpp"
#include "petsc/vectors.hpp"

namespace ayatori::petsc {

namespace {

/// A matrix of PETSc's by its products.
class TheirOperator final : public sparse::LinearOperator {
 public:
  ~TheirOperator() override {
    static_cast<void>(VecDestroy(&argument_));
    static_cast<void>(VecDestroy(&value_));
  }
  PetscErrorCode open(Mat matrix, Vec like) {
    matrix_ = matrix;
    PetscInt n = 0;
    PetscCall(VecGetLocalSize(like, &n));
    size_ = static_cast<std::int32_t>(n);
    PetscCall(VecDuplicate(like, &argument_));
    PetscCall(VecDuplicate(like, &value_));
    return success;
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    if (error_ == success) error_ = multiply(x, y);
    // PETSc makes the same of it on all ranks.
    if (error_ != success) throw_error(ErrorKind::environment, "a product with the matrix failed", true);
  }
  std::int32_t local_size() const override { return size_; }
  PetscErrorCode error() const { return error_; }

 private:
  PetscErrorCode multiply(std::span<const double> x, std::span<double> y) const {
    {
      WriteArray to;
      PetscCall(to.open(argument_));
      solvers::copy(x, to.span());
    }
    PetscCall(MatMult(matrix_, argument_, value_));
    ReadArray from;
    PetscCall(from.open(value_));
    solvers::copy(from.span(), y);
    return success;
  }

  Mat matrix_ = nullptr;
  Vec argument_ = nullptr;
  Vec value_ = nullptr;
  std::int32_t size_ = 0;
  mutable PetscErrorCode error_ = success;
};

}  // namespace

PetscErrorCode solve_shell(const comm::Comm& comm, Mat a, const session::LinearPreconditioner& m, Vec b,
                           Vec x, const ShellGoal& goal,
                           const std::function<bool(std::int64_t, double)>& progress, ShellOutcome& outcome) {
  TheirOperator theirs;
  PetscCall(theirs.open(a, x));
  ReadArray of_b;
  WriteArray of_x;
  PetscCall(of_b.open(b));
  PetscCall(of_x.open(x));
  const session::ThreadScope threads(m.threads());
  const solvers::GlobalSum sum(comm);
  const solvers::System system{theirs, m.op(), of_b.span(), sum};
  const auto tolerance = solvers::make_tolerance(sum, system.b, goal.rtol, goal.atol);
  solvers::MethodOptions options{.max_iterations = goal.max_iterations, .restart = goal.restart};
  std::int64_t before = 0;
  std::int64_t last = 0;
  const auto tell = [&](int iteration, double norm) {
    if (iteration <= last - before) before = last;  // another run from the x reached
    last = before + iteration;
    return progress(last, norm * tolerance.unit);
  };
  try {
    const auto result = solvers::solve_certified(solvers::method("fgmres"), system, of_x.span(),
                                                 solvers::residual_by_product(system), tolerance, options,
                                                 solvers::orthogonalization("ircgs").apply, tell);
    outcome.converged = result.is_proved;
    outcome.end = solvers::name_of(result.last.stop);
    if (!result.is_proved && !result.last.reason.empty()) outcome.end += ": " + result.last.reason;
    outcome.iterations = result.iterations;
    outcome.residual_norm = result.residual.value * tolerance.unit;
  } catch (const Error&) {
    if (theirs.error() == success) throw;
  }
  return theirs.error();
}

}  // namespace ayatori::petsc
