#include "ayatori/session/least_squares.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"
#include "python/bindings/solve_call.hpp"

namespace ayatori::python {

namespace {

using sparse::LinearOperator;

/// What a caller has set.
struct LeastSquaresOptions {
  std::string method = "lsmr";
  double damping = 0;
  double target = 0;
  double consistent_atol = 0;
  double atol = 0;
  double max_condition = 0;
  int max_iterations = 0;
};

/// x becomes the solution; (iterations, why it ended, estimates of the norm, Frobenius norm and condition).
nb::tuple iterate(const comm::Comm& comm, const LinearOperator& a, const LinearOperator& transposed,
                  const LinearOperator* preconditioner, const InputVector& b, const InOutVector& x,
                  const std::optional<InOutVector>& variance, const LeastSquaresOptions& asked) {
  Interruption interruption;
  solvers::LeastSquaresResult result;
  {
    const CoreCall call;
    const session::CallThreads threads(comm, 0);
    const solvers::GlobalSum sum(comm, [&] { return interruption.wants_stop(); });
    solvers::LeastSquaresOptions options{.method = asked.method == "lsqr" ? solvers::LeastSquaresMethod::lsqr
                                                                          : solvers::LeastSquaresMethod::lsmr,
                                         .damping = asked.damping,
                                         .target = asked.target,
                                         .consistent_atol = asked.consistent_atol,
                                         .atol = asked.atol,
                                         .max_condition = asked.max_condition,
                                         .max_iterations = asked.max_iterations};
    if (variance) options.variance = span_of(*variance);
    result = solvers::least_squares(
        {.a = a, .transposed = transposed, .b = span_of(b), .sum = sum, .preconditioner = preconditioner},
        span_of(x), options);
    interruption.agree(comm);
  }
  interruption.rethrow();
  return nb::make_tuple(result.iterations, std::string(name_of(result.stop)), result.matrix_norm,
                        result.frobenius_norm, result.condition);
}

/// Least squares with operators in this process.
nb::tuple least_squares(const LinearOperator& a, const LinearOperator& transposed, const InputVector& b,
                        const InOutVector& x, const std::optional<InOutVector>& variance,
                        const LeastSquaresOptions& asked) {
  if (variance && variance->size() != x.size()) throw InputError("the vectors have another length");
  return iterate(communicator(0), a, transposed, nullptr, b, x, variance, asked);
}

/// A matrix that is spread over the ranks of a communicator, and a preconditioner of A^T A. Collective.
class LeastSquaresSystem final : public comm::MpiHolder {
 public:
  LeastSquaresSystem(const InputIndices& start, const InputIndices& column, const InputVector& value,
                     std::int64_t columns, std::uintptr_t comm, const Options& options) {
    const CoreCall call;
    const auto ranks = communicator(comm);
    const session::CallThreads threads(ranks, 0);
    operators_.emplace(ranks, make_rows(ranks, start, column, value, columns), options.request);
  }

  nb::tuple solve(const InputVector& b, const InOutVector& x, const LeastSquaresOptions& asked) const {
    check_length(b.size());
    check_length(x.size());
    return iterate(live().comm(), live().a(), live().transposed(), live().preconditioner(), b, x, {}, asked);
  }
  void apply(const InputVector& x, const InOutVector& y, bool transposed) const {
    check_length(x.size());
    check_length(y.size());
    const CoreCall call;
    (transposed ? live().transposed() : live().a()).apply(span_of(x), span_of(y));
  }
  double norm(const InputVector& x) const {
    const CoreCall call;
    return solvers::norm(solvers::GlobalSum(live().comm()), span_of(x));
  }
  std::int64_t local_size() const { return live().local_size(); }
  std::int64_t local_columns() const { return live().local_columns(); }

  void release() override { operators_.reset(); }

 private:
  const session::LeastSquaresOperators& live() const {
    if (!operators_) throw EnvironmentError("MPI has ended, and with it the use of this system");
    return *operators_;
  }
  void check_length(std::size_t size) const {
    if (std::cmp_not_equal(size, live().local_size())) throw InputError("the vectors have another length");
  }

  std::optional<session::LeastSquaresOperators> operators_;  ///< none when MPI has ended
};

}  // namespace

void bind_least_squares(nb::module_& module) {
  nb::class_<LeastSquaresOptions>(module, "LeastSquaresOptions")
      .def(nb::init<>())
      .def_rw("method", &LeastSquaresOptions::method)
      .def_rw("damping", &LeastSquaresOptions::damping)
      .def_rw("target", &LeastSquaresOptions::target)
      .def_rw("consistent_atol", &LeastSquaresOptions::consistent_atol)
      .def_rw("atol", &LeastSquaresOptions::atol)
      .def_rw("max_condition", &LeastSquaresOptions::max_condition)
      .def_rw("max_iterations", &LeastSquaresOptions::max_iterations);
  module.def("least_squares", &least_squares, nb::arg("a"), nb::arg("transposed"), nb::arg("b"),
             nb::arg("x").noconvert(), nb::arg("variance").none(), nb::arg("options"));
  nb::class_<LeastSquaresSystem>(module, "LeastSquaresSystem")
      .def(nb::init<const InputIndices&, const InputIndices&, const InputVector&, std::int64_t,
                    std::uintptr_t, const Options&>(),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"), nb::arg("comm"),
           nb::arg("options"))
      .def("solve", &LeastSquaresSystem::solve, nb::arg("b"), nb::arg("x").noconvert(), nb::arg("options"))
      .def("apply", &LeastSquaresSystem::apply, nb::arg("x"), nb::arg("y").noconvert(), nb::arg("transposed"))
      .def("norm", &LeastSquaresSystem::norm, nb::arg("x"))
      .def_prop_ro("local_size", &LeastSquaresSystem::local_size)
      .def_prop_ro("local_columns", &LeastSquaresSystem::local_columns);
}

}  // namespace ayatori::python
