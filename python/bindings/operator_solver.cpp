#include "ayatori/session/solve/operator_solver.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "python/bindings/preconditioner.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"
#include "python/bindings/solve_call.hpp"

namespace ayatori::python {

namespace {

/// y = f() by a Python function, which finds x in an array of its own. What it throws is kept for the end of
/// the call that uses it; it is called on, as it may communicate, and its products are zeros from then on.
class FunctionOperator final : public sparse::LinearOperator {
 public:
  FunctionOperator(nb::callable function, InOutVector argument)
      : function_(std::move(function)), argument_(std::move(argument)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    const nb::gil_scoped_acquire acquire;
    try {
      call_product(function_, argument_, x, y);
    } catch (...) {
      interruption_->keep(std::current_exception());
    }
    if (interruption_->has_failed()) solvers::fill(y, 0);
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(argument_.size()); }

  void attend(Interruption* interruption) { interruption_ = interruption; }

 private:
  nb::callable function_;
  InOutVector argument_;
  Interruption* interruption_ = nullptr;  ///< interruption of the call that goes on
};

/// A Preconditioner, with its own threads.
class BuiltOperator final : public sparse::LinearOperator {
 public:
  explicit BuiltOperator(std::shared_ptr<Preconditioner> built) : built_(std::move(built)) {}
  void apply(std::span<const double> x, std::span<double> y) const override { built_->apply_to(x, y); }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(built_->local_rows()); }

 private:
  std::shared_ptr<Preconditioner> built_;
};

/// Solves with an operator, or with a preconditioner of the caller's.
class OperatorSolver final : public comm::MpiHolder {
  struct Arrays {
    InputIndices start;
    InputIndices column;
    InputVector value;
    std::int64_t columns;
  };

  /// A call into the core, whose functions may throw.
  template <class Call>
  auto attended(Call&& call) {
    Interruption interruption;
    std::optional<decltype(call(interruption))> result;
    {
      const CoreCall inside;
      for (const auto& function : {product_, m_function_})
        if (function) function->attend(&interruption);
      try {
        result = call(interruption);
        interruption.agree(*ranks_);
      } catch (...) {
        if (!interruption.has_failed()) throw;
      }
    }
    interruption.rethrow();
    return *std::move(result);
  }

 public:
  /// Collective. `matrix`: none, or (indptr, indices, data, columns) of one near the operator; that is what
  /// is solved with where `product` is none. `m`: none, a FunctionOperator or a Preconditioner. Of complex
  /// ones, which the options know, all are on pairs.
  OperatorSolver(std::uintptr_t comm, std::shared_ptr<FunctionOperator> product,
                 const std::optional<nb::tuple>& matrix, std::shared_ptr<FunctionOperator> m_function,
                 std::shared_ptr<Preconditioner> m_built, const Options& options)
      : product_(std::move(product)), m_function_(std::move(m_function)) {
    std::optional<Arrays> arrays;
    if (matrix) arrays.emplace(arrays_of(*matrix));
    const CoreCall call;
    ranks_.emplace(communicator(comm));
    std::shared_ptr<const sparse::SplitMatrix> parts;
    if (arrays)
      parts = std::make_shared<sparse::SplitMatrix>(sparse::split(
          *ranks_, make_rows(*ranks_, arrays->start, arrays->column, arrays->value, arrays->columns)));
    if (!product_) matrix_.emplace(*ranks_, parts);
    if (m_built) m_built_.emplace(std::move(m_built));
    const sparse::LinearOperator* m = m_function_.get();
    if (m_built_) m = &*m_built_;
    const sparse::LinearOperator& a =
        product_ ? static_cast<const sparse::LinearOperator&>(*product_) : *matrix_;
    rtol_ = options.request.rtol;
    local_rows_ = a.local_size();
    rows_ = ranks_->allreduce(local_rows_, comm::ReduceOp::sum);
    solver_.emplace(*ranks_, a, product_ && m == nullptr ? parts : nullptr, options.request, m,
                    options.known.is_complex);
  }

  /// Collective. As Solver::solve().
  session::OperatorRun solve(const InputVector& b, const InOutVector& x, std::optional<Progress> progress,
                             bool shows_line) {
    return attended([&](Interruption& interruption) {
      const auto told = progress ? *progress : Progress();
      auto line = progress_line(shows_line && ranks_->rank() == 0, rtol_);
      return live().solve(span_of(b), span_of(x), make_hooks(told, shows_line, line, interruption));
    });
  }

  /// Collective.
  session::Verified verify(const InputVector& b, const InputVector& x) {
    return attended([&](Interruption&) { return live().verify(span_of(b), span_of(x)); });
  }

  /// Collective. Throws on all ranks what one has to say.
  void agree(const std::string& complaint) {
    const CoreCall call;
    live();
    agree_on(*ranks_, complaint);
  }

  void release() override {
    solver_.reset();
    matrix_.reset();
    ranks_.reset();
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t local_rows() const { return local_rows_; }
  int ranks() { return live(), ranks_->size(); }

 private:
  static Arrays arrays_of(const nb::tuple& arrays) {
    return {nb::cast<InputIndices>(arrays[0]), nb::cast<InputIndices>(arrays[1]),
            nb::cast<InputVector>(arrays[2]), nb::cast<std::int64_t>(arrays[3])};
  }

  session::OperatorSolver& live() {
    if (!solver_) throw EnvironmentError("MPI has ended, and with it the use of this solver");
    return *solver_;
  }

  std::shared_ptr<FunctionOperator> product_;
  std::shared_ptr<FunctionOperator> m_function_;
  std::optional<comm::Comm> ranks_;  ///< none when MPI has ended
  std::optional<sparse::DistributedMatrix> matrix_;
  std::optional<BuiltOperator> m_built_;
  std::optional<session::OperatorSolver> solver_;
  std::int64_t rows_ = 0;
  std::int64_t local_rows_ = 0;
  double rtol_ = 0;
};

}  // namespace

void bind_operators(nb::module_& module) {
  nb::class_<session::OperatorRun>(module, "OperatorRun")
      .def_prop_ro("status", [](const session::OperatorRun& run) { return std::string(name_of(run.status)); })
      .def_prop_ro("report", [](const session::OperatorRun& run) { return to_json(run).dump(); })
      .def_prop_ro("summary", [](const session::OperatorRun& run) { return summary(run); })
      .def_prop_ro("explanation", [](const session::OperatorRun&) { return std::string(); });
  nb::class_<FunctionOperator>(module, "FunctionOperator")
      .def(nb::init<nb::callable, InOutVector>(), nb::arg("function"), nb::arg("argument").noconvert());
  nb::class_<OperatorSolver>(module, "OperatorSolver")
      .def(nb::init<std::uintptr_t, std::shared_ptr<FunctionOperator>, const std::optional<nb::tuple>&,
                    std::shared_ptr<FunctionOperator>, std::shared_ptr<Preconditioner>, const Options&>(),
           nb::arg("comm"), nb::arg("product").none(), nb::arg("matrix").none(), nb::arg("m_function").none(),
           nb::arg("m_built").none(), nb::arg("options"))
      .def("solve", &OperatorSolver::solve, nb::arg("b"), nb::arg("x").noconvert(),
           nb::arg("progress").none(), nb::arg("shows_line"))
      .def("verify", &OperatorSolver::verify, nb::arg("b"), nb::arg("x"))
      .def("agree", &OperatorSolver::agree, nb::arg("complaint"))
      .def_prop_ro("rows", &OperatorSolver::rows)
      .def_prop_ro("local_rows", &OperatorSolver::local_rows)
      .def_prop_ro("ranks", &OperatorSolver::ranks);
}

}  // namespace ayatori::python
