#include "petsc/shell_solve.hpp"

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "petsc/options.hpp"
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

session::SolveRequest products_request(const session::SolveRequest& request) {
  session::SolveRequest of_products = first_request();
  of_products.method = request.method;
  of_products.restart = request.restart;
  of_products.orthogonalization = request.orthogonalization;
  of_products.threads = request.threads;
  of_products.time_limit = request.time_limit;
  return of_products;
}

PetscErrorCode solve_shell(const comm::Comm& comm, Mat a, const session::LinearPreconditioner* m,
                           const session::SolveRequest& request, Vec b, Vec x,
                           const session::SolveHooks& hooks, session::OperatorRun& run) {
  TheirOperator theirs;
  PetscCall(theirs.open(a, x));
  ReadArray of_b;
  WriteArray of_x;
  PetscCall(of_b.open(b));
  PetscCall(of_x.open(x));
  try {
    session::OperatorSolver solver(comm, theirs, nullptr, request, m != nullptr ? &m->op() : nullptr);
    run = solver.solve(of_b.span(), of_x.span(), hooks);
  } catch (const Error&) {
    if (theirs.error() == success) throw;
  }
  return theirs.error();
}

}  // namespace ayatori::petsc
