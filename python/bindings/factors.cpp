#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/products/transposed_applicable.hpp"
#include "ayatori/sparse/products/transposed_product.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using sparse::LinearOperator;

/// Complete factors of a matrix of this process, with the matrix: a solve corrects its result once by the
/// residual where that is more than rounding, as pivots are chosen for sparsity. As an operator A^-1.
class Factors final : public LinearOperator, public comm::MpiHolder {
 public:
  /// `is_complex`: the arrays are of the real form of a complex matrix, which is symmetric where that is
  /// Hermitian; `is_complex_symmetric`: that is equal to its transpose.
  Factors(const InputIndices& start, const InputIndices& column, const InputVector& value,
          std::int64_t columns, bool is_symmetric, bool is_complex, bool is_complex_symmetric) {
    const CoreCall call;
    const auto comm = communicator(0);
    const auto rows = make_rows(comm, start, column, value, columns);
    if (rows.global_rows != columns)
      throw InputError(
          fmt::format("the matrix is {} x {}, but factors want a square one", rows.global_rows, columns));
    matrix_.emplace(comm, rows);
    largest_entry_ = solvers::local_max_abs(rows.value);
    const solvers::GlobalSum sum(comm);
    auto built = solvers::preconditioner("direct").make(
        *matrix_, sum,
        {.matrix_is_symmetric = is_symmetric,
         .matrix_is_complex = is_complex && !is_symmetric,
         .matrix_is_complex_symmetric = is_complex_symmetric && !is_symmetric});
    zero_pivots_ = built.zero_pivots;
    for (const auto& note : built.notes) note_ += note_.empty() ? note : "; " + note;
    inverse_ = std::move(built.op);
    const auto size = static_cast<std::size_t>(matrix_->local_size());
    residual_ = Array<double>(size);
    correction_ = Array<double>(size);
    size_ = matrix_->local_size();
  }

  /// x = A^-1 b, or A^-T b. Precondition: a call into the core.
  void solve(std::span<const double> b, std::span<double> x, bool transposed) const {
    if (!inverse_) throw EnvironmentError("MPI has ended, and with it the use of these factors");
    if (transposed && !transposed_)
      transposed_ = std::make_unique<sparse::TransposedProduct>(matrix_->comm(), matrix_->shared_parts());
    const LinearOperator& a = transposed ? static_cast<const LinearOperator&>(*transposed_) : *matrix_;
    apply_inverse(b, x, transposed);
    a.apply(x, residual_);
    solvers::subtract(b, residual_, residual_);
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    const double size = largest_entry_ * solvers::local_max_abs(x) + solvers::local_max_abs(b);
    if (solvers::local_max_abs(residual_) <= rounding * size) return;
    apply_inverse(residual_, correction_, transposed);
    solvers::axpy(1, correction_, x);
  }
  void apply(std::span<const double> x, std::span<double> y) const override { solve(x, y, false); }
  std::int32_t local_size() const override { return size_; }

  void release() override {
    transposed_.reset();
    inverse_.reset();
    matrix_.reset();
  }
  std::int64_t zero_pivots() const { return zero_pivots_; }
  const std::string& note() const { return note_; }

 private:
  void apply_inverse(std::span<const double> b, std::span<double> x, bool transposed) const {
    if (!transposed) return inverse_->apply(b, x);
    dynamic_cast<const sparse::TransposedApplicable&>(*inverse_).apply_transposed(b, x);
  }

  std::optional<sparse::DistributedMatrix> matrix_;
  std::unique_ptr<LinearOperator> inverse_;
  mutable std::unique_ptr<sparse::TransposedProduct> transposed_;  ///< where somebody has asked for it
  mutable Array<double> residual_;
  mutable Array<double> correction_;
  double largest_entry_ = 0;
  std::int32_t size_ = 0;
  std::int64_t zero_pivots_ = 0;
  std::string note_;
};

/// y = first (second x).
class ComposedOperator final : public LinearOperator {
 public:
  ComposedOperator(std::shared_ptr<LinearOperator> first, std::shared_ptr<LinearOperator> second)
      : first_(std::move(first)), second_(std::move(second)), between_(second_->local_size()) {
    if (first_->local_size() != second_->local_size()) throw InputError("operators of different sizes");
  }
  void apply(std::span<const double> x, std::span<double> y) const override {
    second_->apply(x, between_);
    first_->apply(between_, y);
  }
  std::int32_t local_size() const override { return first_->local_size(); }

 private:
  std::shared_ptr<LinearOperator> first_;
  std::shared_ptr<LinearOperator> second_;
  mutable Array<double> between_;
};

}  // namespace

void bind_factors(nb::module_& module) {
  nb::class_<Factors, LinearOperator>(module, "Factors")
      .def(nb::init<const InputIndices&, const InputIndices&, const InputVector&, std::int64_t, bool, bool,
                    bool>(),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"),
           nb::arg("is_symmetric"), nb::arg("is_complex"), nb::arg("is_complex_symmetric"))
      .def(
          "solve",
          [](const Factors& factors, const InputVector& b, const InOutVector& x, bool transposed) {
            const auto size = static_cast<std::size_t>(factors.local_size());
            if (b.size() != size || x.size() != size) throw InputError("the vectors have another length");
            const CoreCall call;
            factors.solve(span_of(b), span_of(x), transposed);
          },
          nb::arg("b"), nb::arg("x").noconvert(), nb::arg("transposed"))
      .def_prop_ro("zero_pivots", &Factors::zero_pivots)
      .def_prop_ro("note", &Factors::note);
  module.def(
      "composed_operator",
      [](std::shared_ptr<LinearOperator> first,
         std::shared_ptr<LinearOperator> second) -> std::shared_ptr<LinearOperator> {
        return std::make_shared<ComposedOperator>(std::move(first), std::move(second));
      },
      nb::arg("first"), nb::arg("second"));
}

}  // namespace ayatori::python
