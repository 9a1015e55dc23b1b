#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/certified_solve.hpp"
#include "ayatori/solvers/identity.hpp"
#include "ayatori/solvers/method.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using sparse::LinearOperator;

/// A matrix whose entries are at hand, so that its residuals can be bounded.
class Entries : public LinearOperator {
 public:
  virtual sparse::ResidualSums residual(std::span<const double> x, std::span<const double> b,
                                        std::span<double> r, sparse::Summation summation,
                                        double unit) const = 0;
};

/// Compressed sparse rows where the caller has them: nothing is copied. Rows may be in any order and have
/// repeated columns. A rectangular matrix takes vectors of its columns to vectors of its rows.
template <class Index>
class BorrowedCsr final : public Entries {
 public:
  BorrowedCsr(InputIndices start, InputIndices column, InputVector value, std::int64_t columns)
      : start_(std::move(start)), column_(std::move(column)), value_(std::move(value)) {
    const Index* const starts = row_start();
    const auto rows = static_cast<std::int64_t>(start_.size()) - 1;
    const auto entries = static_cast<std::int64_t>(value_.size());
    bool is_good = starts[0] == 0 && starts[rows] == entries;
    for (std::int64_t i = 0; i < rows; ++i) is_good = is_good && starts[i] <= starts[i + 1];
    const auto* const column_of = static_cast<const Index*>(column_.data());
    for (std::int64_t k = 0; is_good && k < entries; ++k)
      is_good = column_of[k] >= 0 && column_of[k] < columns;
    if (!is_good)
      throw InputError(
          fmt::format("these are not the arrays of compressed sparse rows with {} columns", columns));
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    const Index* const starts = row_start();
    const auto* const columns = static_cast<const Index*>(column_.data());
    const double* const values = value_.data();
    const double* const from = x.data();
    double* const to = y.data();
    parallel_for(local_size(), [=](std::int64_t i) {
      double sum = 0;
      for (Index k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * from[columns[k]];
      to[i] = sum;
    });
  }
  sparse::ResidualSums residual(std::span<const double> x, std::span<const double> b, std::span<double> r,
                                sparse::Summation summation, double unit) const override {
    return sparse::residual(local_size(), row_start(), static_cast<const Index*>(column_.data()),
                            value_.data(), x, b, r, summation, unit);
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
    call_product(function_, argument_, x, y);
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(argument_.size()); }

 private:
  nb::callable function_;
  InOutVector argument_;
};

std::shared_ptr<LinearOperator> borrow_csr(const InputIndices& start, const InputIndices& column,
                                           const InputVector& value, std::optional<std::int64_t> columns) {
  if (start.size() == 0 || start.dtype() != column.dtype() || column.size() != value.size())
    throw InputError("these are not the arrays of compressed sparse rows");
  if (start.size() - 1 > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw EnvironmentError("a process holds no more than 2^31 - 1 rows: spread the matrix over ranks");
  const std::int64_t width = columns.value_or(static_cast<std::int64_t>(start.size()) - 1);
  if (start.dtype() == nb::dtype<std::int64_t>())
    return std::make_shared<BorrowedCsr<std::int64_t>>(start, column, value, width);
  if (start.dtype() == nb::dtype<std::int32_t>())
    return std::make_shared<BorrowedCsr<std::int32_t>>(start, column, value, width);
  throw InputError("indices are int32 or int64");
}

/// What proves that x is a solution: the entries of the matrix where they are known, else its products.
solvers::ResidualFunction residual_of(const solvers::System& system) {
  const auto* const entries = dynamic_cast<const Entries*>(&system.a);
  if (entries == nullptr) return residual_by_product(system);
  return [entries, b = system.b, r = Array<double>(system.b.size())](
             solvers::ConstVector x, sparse::Summation summation, double unit) mutable {
    return entries->residual(x, b, r, summation, unit);
  };
}

struct Iterated {
  std::string end;  ///< "converged" only where that is proved
  std::int64_t iterations = 0;
  double residual_norm = 0;  ///< ||b - A x||
  double limit = 0;          ///< bound on it
  std::string reason;
};

/// Runs a method from x until ||b - A x|| <= max(rtol ||b||, atol) is proved. `is_complex`: operators and
/// vectors are on pairs, and the operators are linear in complex numbers.
Iterated iterate(const std::string& name, const LinearOperator& a, const LinearOperator* preconditioner,
                 const InputVector& b, const InOutVector& x_array, double rtol, double atol,
                 int max_iterations, int restart, const std::optional<nb::callable>& norm_callback,
                 const std::optional<nb::callable>& x_callback, bool is_complex) {
  Interruption interruption;
  Iterated outcome;
  const auto n = static_cast<std::size_t>(a.local_size());
  if (b.size() != n || x_array.size() != n ||
      (preconditioner != nullptr && preconditioner->local_size() != a.local_size()))
    throw InputError("the shapes of matrix, preconditioner and vectors differ");
  {
    const CoreCall call;
    const auto& method = solvers::method(name);
    const solvers::Identity identity(a.local_size());
    const solvers::GlobalSum sum(communicator(0), [&] { return interruption.wants_stop(); });
    const auto x = span_of(x_array);
    const solvers::System system{a, preconditioner != nullptr ? *preconditioner : identity, span_of(b), sum,
                                 is_complex};
    const auto tolerance = solvers::make_tolerance(sum, system.b, rtol, atol);
    const auto& orthogonalization = solvers::orthogonalization("ircgs");

    const auto show_x = [&] { return !x_callback || interruption.guard([&] { (*x_callback)(); }); };
    // A method tells of an iteration before it moves x: x is that of the iteration before.
    bool is_first = true;
    const auto progress = [&](int, double norm) {
      const double relative = norm / tolerance.unit / tolerance.b_norm;
      bool goes_on = !norm_callback || interruption.guard([&] { (*norm_callback)(relative); });
      if (!method.restarts && !std::exchange(is_first, false)) goes_on = show_x() && goes_on;
      return goes_on;
    };
    solvers::MethodOptions options{.max_iterations = max_iterations, .restart = restart};
    options.stagnation_window = std::numeric_limits<int>::max();
    if (method.restarts) options.next_cycle = [&](solvers::Cycle&) { show_x(); };
    auto result = solvers::solve_certified(method, system, x, residual_of(system), tolerance, options,
                                           orthogonalization.apply, progress);
    if (result.iterations > 0) show_x();
    const bool is_refuted = !result.is_proved && result.last.stop == solvers::Stop::converged;
    outcome = {is_refuted         ? "false-convergence"
               : result.is_proved ? "converged"
                                  : std::string(solvers::name_of(result.last.stop)),
               result.iterations, result.residual.value * tolerance.unit, tolerance.limit * tolerance.unit,
               std::move(result.last.reason)};
  }
  interruption.rethrow();
  return outcome;
}

}  // namespace

void bind_iterate(nb::module_& module) {
  nb::class_<LinearOperator>(module, "LinearOperator")
      .def(
          "apply",
          [](const LinearOperator& a, const InputVector& x, const InOutVector& y) {  // which fit
            const CoreCall call;
            a.apply(span_of(x), span_of(y));
          },
          nb::arg("x"), nb::arg("y").noconvert());
  module.def("borrow_csr", &borrow_csr, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("columns").none() = nb::none());
  module.def(
      "python_operator",
      [](nb::callable function, InOutVector argument) -> std::shared_ptr<LinearOperator> {
        return std::make_shared<PythonOperator>(std::move(function), std::move(argument));
      },
      nb::arg("function"), nb::arg("argument").noconvert());
  nb::class_<Iterated>(module, "Iterated")
      .def_ro("end", &Iterated::end)
      .def_ro("iterations", &Iterated::iterations)
      .def_ro("residual_norm", &Iterated::residual_norm)
      .def_ro("limit", &Iterated::limit)
      .def_ro("reason", &Iterated::reason);
  module.def("iterate", &iterate, nb::arg("method"), nb::arg("a"), nb::arg("m").none(), nb::arg("b"),
             nb::arg("x").noconvert(), nb::arg("rtol"), nb::arg("atol"), nb::arg("max_iterations"),
             nb::arg("restart"), nb::arg("norm_callback").none(), nb::arg("x_callback").none(),
             nb::arg("is_complex"));
}

}  // namespace ayatori::python
