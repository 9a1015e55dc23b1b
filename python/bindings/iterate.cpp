#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/method.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using sparse::LinearOperator;

/// z = r.
class Identity final : public LinearOperator {
 public:
  explicit Identity(std::int32_t n) : n_(n) {}
  void apply(std::span<const double> x, std::span<double> y) const override { solvers::copy(x, y); }
  std::int32_t local_size() const override { return n_; }

 private:
  std::int32_t n_;
};

/// Compressed sparse rows where the caller has them: nothing is copied. Rows may be in any order and have
/// repeated columns.
template <class Index>
class BorrowedCsr final : public LinearOperator {
 public:
  BorrowedCsr(InputIndices start, InputIndices column, InputVector value)
      : start_(std::move(start)), column_(std::move(column)), value_(std::move(value)) {
    const Index* const starts = row_start();
    const auto rows = static_cast<std::int64_t>(start_.size()) - 1;
    const auto entries = static_cast<std::int64_t>(value_.size());
    bool is_good = starts[0] == 0 && starts[rows] == entries;
    for (std::int64_t i = 0; i < rows; ++i) is_good = is_good && starts[i] <= starts[i + 1];
    const Index* const columns = static_cast<const Index*>(column_.data());
    for (std::int64_t k = 0; is_good && k < entries; ++k) is_good = columns[k] >= 0 && columns[k] < rows;
    if (!is_good) throw InputError("these are not the arrays of a square matrix of compressed sparse rows");
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    const Index* const starts = row_start();
    const Index* const columns = static_cast<const Index*>(column_.data());
    const double* const values = value_.data();
    const double* const from = x.data();
    double* const to = y.data();
    parallel_for(local_size(), [=](std::int64_t i) {
      double sum = 0;
      for (Index k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * from[columns[k]];
      to[i] = sum;
    });
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(start_.size() - 1); }

 private:
  const Index* row_start() const { return static_cast<const Index*>(start_.data()); }

  InputIndices start_;
  InputIndices column_;
  InputVector value_;
};

/// y = f() by a Python function, which finds x in an array of its own. It is not asked what A 0 is: its
/// products may be dear, and every solve without a guess begins with that one.
class PythonOperator final : public LinearOperator {
 public:
  PythonOperator(nb::callable function, InOutVector argument)
      : function_(std::move(function)), argument_(std::move(argument)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    if (std::ranges::all_of(x, [](double element) { return element == 0; })) return solvers::fill(y, 0);
    const nb::gil_scoped_acquire acquire;
    solvers::copy(x, span_of(argument_));
    const auto result = nb::cast<InputVector>(function_());
    if (result.size() != y.size())
      throw InputError(fmt::format("the operator gives {} elements for {}", result.size(), argument_.size()));
    solvers::copy(span_of(result), y);
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(argument_.size()); }

 private:
  nb::callable function_;
  InOutVector argument_;
};

std::shared_ptr<LinearOperator> borrow_csr(const InputIndices& start, const InputIndices& column,
                                           const InputVector& value) {
  if (start.size() == 0 || start.dtype() != column.dtype() || column.size() != value.size())
    throw InputError("these are not the arrays of compressed sparse rows");
  if (start.size() - 1 > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw EnvironmentError("a process holds no more than 2^31 - 1 rows: spread the matrix over ranks");
  if (start.dtype() == nb::dtype<std::int64_t>())
    return std::make_shared<BorrowedCsr<std::int64_t>>(start, column, value);
  if (start.dtype() == nb::dtype<std::int32_t>())
    return std::make_shared<BorrowedCsr<std::int32_t>>(start, column, value);
  throw InputError("indices are int32 or int64");
}

double residual_norm(const solvers::System& system, solvers::ConstVector x) {
  Array<double> r(x.size());
  system.a.apply(x, r);
  solvers::subtract(system.b, r, r);
  return solvers::norm(system.sum, r);
}

/// Runs a method from x until `target` is met by the true residual. A method that only believes to have met
/// it starts anew from its x, as long as that gets nearer. Gives (how it ended, iterations, ||b - A x||,
/// why).
std::tuple<std::string, std::int64_t, double, std::string> iterate(
    const std::string& name, const LinearOperator& a, const LinearOperator* preconditioner,
    const InputVector& b, const InOutVector& x_array, double target, int max_iterations, int restart,
    const std::optional<nb::callable>& norm_callback, const std::optional<nb::callable>& x_callback) {
  Interruption interruption;
  std::tuple<std::string, std::int64_t, double, std::string> outcome;
  const auto n = static_cast<std::size_t>(a.local_size());
  if (b.size() != n || x_array.size() != n ||
      (preconditioner != nullptr && preconditioner->local_size() != a.local_size()))
    throw InputError("the shapes of matrix, preconditioner and vectors differ");
  {
    const CoreCall call;
    const auto& method = solvers::method(name);
    const Identity identity(a.local_size());
    const solvers::GlobalSum sum(communicator(0), [&] { return interruption.wants_stop(); });
    const auto x = span_of(x_array);
    const solvers::System system{a, preconditioner != nullptr ? *preconditioner : identity, span_of(b), sum};
    const auto& orthogonalization = solvers::orthogonalization("ircgs");

    const auto show_x = [&] { return !x_callback || interruption.guard([&] { (*x_callback)(); }); };
    // A method tells of an iteration before it moves x: x is that of the iteration before.
    bool is_first = true;
    const auto progress = [&](int, double norm) {
      bool goes_on = !norm_callback || interruption.guard([&] { (*norm_callback)(norm); });
      if (!method.restarts && !std::exchange(is_first, false)) goes_on = show_x() && goes_on;
      return goes_on;
    };
    solvers::MethodOptions options{.target = target, .max_iterations = max_iterations, .restart = restart};
    options.stagnation_window = std::numeric_limits<int>::max();
    if (method.restarts) options.next_cycle = [&](solvers::Cycle&) { show_x(); };

    double residual = residual_norm(system, x);
    std::int64_t iterations = 0;
    solvers::MethodResult result{.stop = solvers::Stop::converged};
    while (residual > target && iterations < max_iterations) {
      options.max_iterations = max_iterations - static_cast<int>(iterations);
      result = method.solve(system, x, options, orthogonalization.apply, progress);
      iterations += result.iterations;
      const double before = std::exchange(residual, residual_norm(system, x));
      if (result.stop != solvers::Stop::converged || !(residual < before)) break;
    }
    if (iterations > 0) show_x();
    const bool met = residual <= target;
    std::string end(met ? "converged" : solvers::name_of(result.stop));
    if (!met && result.stop == solvers::Stop::converged) end = "false-convergence";
    outcome = {std::move(end), iterations, residual, result.reason};
  }
  interruption.rethrow();
  return outcome;
}

}  // namespace

void bind_iterate(nb::module_& module) {
  nb::class_<LinearOperator>(module, "LinearOperator");
  module.def("borrow_csr", &borrow_csr, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert());
  module.def(
      "python_operator",
      [](nb::callable function, InOutVector argument) -> std::shared_ptr<LinearOperator> {
        return std::make_shared<PythonOperator>(std::move(function), std::move(argument));
      },
      nb::arg("function"), nb::arg("argument").noconvert());
  module.def("iterate", &iterate, nb::arg("method"), nb::arg("a"), nb::arg("m").none(), nb::arg("b"),
             nb::arg("x").noconvert(), nb::arg("target"), nb::arg("max_iterations"), nb::arg("restart"),
             nb::arg("norm_callback").none(), nb::arg("x_callback").none());
}

}  // namespace ayatori::python
