#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/memory.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/sparse/products/transposed_applicable.hpp"

namespace ayatori::solvers {

std::span<const FactorLibrary> factor_libraries() {
  static const std::vector<FactorLibrary> list{
#ifdef AYATORI_HAS_KLU
      klu_factors,
#endif
#ifdef AYATORI_HAS_MUMPS
      mumps_factors,
#endif
  };
  return list;
}

namespace {

/// y = A^-1 x up to the accuracy of the factors.
class Direct final : public sparse::LinearOperator, public sparse::TransposedApplicable {
 public:
  Direct(std::unique_ptr<CompleteFactors> factors, const FactorLibrary& library, std::int32_t size)
      : factors_(std::move(factors)), library_(&library), size_(size) {}

  void apply(std::span<const double> x, std::span<double> y) const override { factors_->solve(x, y); }
  void apply_transposed(std::span<const double> x, std::span<double> y) const override {
    factors_->solve_transposed(x, y);
  }
  std::int32_t local_size() const override { return size_; }
  const FactorLibrary& library() const { return *library_; }
  /// Leaves nothing to apply.
  std::unique_ptr<CompleteFactors> release() { return std::move(factors_); }

 private:
  std::unique_ptr<CompleteFactors> factors_;
  const FactorLibrary* library_;
  std::int32_t size_;
};

void check(const PreconditionerOptions& options) {
  if (!is_factor_precision(options.factor_precision))
    throw InputError(
        fmt::format("direct: factor precision {}: want double or single", options.factor_precision));
  if (!(options.low_rank >= 0 && options.low_rank < 1))
    throw InputError(fmt::format("direct: low rank to {}: want 0 to 1", options.low_rank));
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  check(options);
  MatrixToFactor to_factor(matrix, options.matrix_is_symmetric);
  const auto build = [&](const FactorLibrary& library, std::unique_ptr<CompleteFactors> earlier) {
    const bool is_last = &library == &factor_libraries().back();
    BuiltPreconditioner built;
    auto made = library.make(to_factor, is_last, options, std::move(earlier));
    if (!made) return built;
    built.op = std::make_unique<Direct>(std::move(made->factors), library, matrix.local_size());
    built.notes = std::move(made->notes);
    built.reproducible = made->reproducible;
    built.reduced_accuracy = made->reduced_accuracy;
    built.zero_pivots = made->zero_pivots;
    return built;
  };
  if (auto* earlier = dynamic_cast<Direct*>(options.earlier)) {
    const FactorLibrary& library = earlier->library();
    if (auto built = build(library, earlier->release()); built.op) return built;
  }
  for (const auto& library : factor_libraries())
    if (auto built = build(library, nullptr); built.op) return built;
  throw EnvironmentError("direct: no library could factor the matrix");
}

}  // namespace

double operations_of_dense_blocks(double operations) {
  return std::clamp(8 * std::cbrt(operations / 3e10), 2.0, 16.0);
}

std::string singular_words(std::int64_t zero_pivots) {
  return fmt::format("{} pivots are zero: the matrix is singular to working precision", zero_pivots);
}

void check_memory(const comm::Comm& comm, std::int64_t bytes_of_rank) {
  constexpr auto mega = std::int64_t{1} << 20;
  const std::int64_t needed = comm.split_by_node().allreduce(bytes_of_rank, comm::ReduceOp::sum);
  const std::int64_t available = available_memory();
  comm::agree(comm, [&] {
    if (needed > available)
      throw EnvironmentError(
          fmt::format("direct: the factors would take about {} MB on a node that has {} MB left",
                      needed / mega, available / mega));
  });
}

void check_time(const comm::Comm& comm, double operations, const std::function<double()>& rate,
                double seconds_left) {
  constexpr double slowest_rate = 1e8;  // least rate of any processor
  if (operations < slowest_rate * seconds_left) return;
  const double seconds = operations / rate();
  comm::agree(comm, [&] {
    if (seconds > seconds_left)
      throw EnvironmentError(
          fmt::format("direct: {:.3g} operations take {:.3g} s at least; {:.3g} s are left", operations,
                      seconds, std::max(seconds_left, 0.0)));
  });
}

void ask_price(const comm::Comm& comm, double products, const PreconditionerOptions& options) {
  comm::agree(comm, [&] {
    const bool is_too_dear = options.may_take && !options.may_take(products);
    if (is_too_dear || (options.gives_up && options.gives_up()))
      throw EnvironmentError("direct: the set-up took longer than it was worth, and was given up");
  });
}

const Preconditioner direct_preconditioner{.name = "direct",
                                           .description = "complete factors by KLU or MUMPS: a direct solve",
                                           .symmetric = false,
                                           .make = make,
                                           .obeys = {.complete_factors = true}};

}  // namespace ayatori::solvers
