#include "ayatori/solvers/least_squares.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "python/bindings/runtime.hpp"

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
nb::tuple least_squares(const LinearOperator& a, const LinearOperator& transposed, const InputVector& b,
                        const InOutVector& x, const std::optional<InOutVector>& variance,
                        const LeastSquaresOptions& asked) {
  if (variance && variance->size() != x.size()) throw InputError("the vectors have another length");
  Interruption interruption;
  solvers::LeastSquaresResult result;
  {
    const CoreCall call;
    const solvers::GlobalSum sum(communicator(0), [&] { return interruption.wants_stop(); });
    solvers::LeastSquaresOptions options{.method = asked.method == "lsqr" ? solvers::LeastSquaresMethod::lsqr
                                                                          : solvers::LeastSquaresMethod::lsmr,
                                         .damping = asked.damping,
                                         .target = asked.target,
                                         .consistent_atol = asked.consistent_atol,
                                         .atol = asked.atol,
                                         .max_condition = asked.max_condition,
                                         .max_iterations = asked.max_iterations};
    if (variance) options.variance = span_of(*variance);
    result = solvers::least_squares({a, transposed, span_of(b), sum}, span_of(x), options);
  }
  interruption.rethrow();
  return nb::make_tuple(result.iterations, std::string(name_of(result.stop)), result.matrix_norm,
                        result.frobenius_norm, result.condition);
}

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
}

}  // namespace ayatori::python
