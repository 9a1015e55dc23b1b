#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/memory.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

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

/// This rank's entries.
GatheredMatrix entries_of(const sparse::DistributedMatrix& matrix) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  const sparse::SplitMatrix& parts = matrix.parts();
  if (matrix.global_rows() >= std::numeric_limits<int>::max())
    throw EnvironmentError("direct: no library of complete factors counts so many rows");
  GatheredMatrix entries;
  const auto add = [&](const sparse::Csr& part, auto&& local_row, auto&& global_column) {
    for (std::int32_t r = 0; r < part.rows; ++r) {
      const std::int64_t row = first_row + local_row(r);
      for (std::int64_t k = part.row_start[r]; k < part.row_start[r + 1]; ++k) {
        if (!std::isfinite(part.value[k]))
          throw InputError(fmt::format("direct: row {}: an entry is not finite", row));
        entries.row.push_back(static_cast<int>(row + 1));
        entries.column.push_back(static_cast<int>(global_column(part.column[k]) + 1));
        entries.value.push_back(part.value[k]);
      }
    }
  };
  add(
      parts.interior, [](std::int32_t r) { return r; },
      [&](std::int32_t c) -> std::int64_t { return first_row + c; });
  add(
      parts.halo, [&](std::int32_t r) { return parts.halo_rows[r]; },
      [&](std::int32_t c) { return parts.plan.ghosts[c]; });
  return entries;
}

/// Collective.
GatheredMatrix gather(const sparse::DistributedMatrix& matrix, bool symmetric) {
  const comm::Comm& comm = matrix.comm();
  auto all = comm::agree(comm, [&] { return entries_of(matrix); });
  const auto mine = static_cast<std::int64_t>(all.value.size());
  if (comm.size() > 1) {
    all.row = std::move(comm.gatherv(std::span<const int>(all.row), 0).values);
    all.column = std::move(comm.gatherv(std::span<const int>(all.column), 0).values);
    all.value = std::move(comm.gatherv(std::span<const double>(all.value), 0).values);
  }
  all.rows = matrix.global_rows();
  all.nonzeros = comm.allreduce(mine, comm::ReduceOp::sum);
  all.symmetric = symmetric;
  return all;
}

/// y = A^-1 x up to rounding; right-hand side and solution pass through rank 0.
class Direct final : public sparse::LinearOperator {
 public:
  Direct(const comm::Comm& comm, std::unique_ptr<CompleteFactors> factors,
         const sparse::RowPartition& partition)
      : comm_(comm),
        factors_(std::move(factors)),
        starts_(partition.starts()),
        size_(static_cast<std::int32_t>(partition.range(comm.rank()).size())) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    if (comm_.size() == 1) {
      std::ranges::copy(x, y.begin());
      return factors_->solve(y);
    }
    auto all = comm_.gatherv(x, 0);
    factors_->solve(all.values);
    const std::vector<std::int64_t> nothing(starts_.size(), 0);
    const auto mine =
        comm_.alltoallv(std::span<const double>(all.values), comm_.rank() == 0 ? starts_ : nothing);
    std::ranges::copy(mine.values, y.begin());
  }
  std::int32_t local_size() const override { return size_; }

 private:
  comm::Comm comm_;
  std::unique_ptr<CompleteFactors> factors_;
  std::vector<std::int64_t> starts_;
  std::int32_t size_;
};

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  const comm::Comm& comm = matrix.comm();
  auto gathered = gather(matrix, options.matrix_is_symmetric);
  for (const auto& library : factor_libraries()) {
    const bool is_last = &library == &factor_libraries().back();
    auto made = library.make(comm, gathered, is_last, options);
    if (!made) continue;
    BuiltPreconditioner built;
    built.op = std::make_unique<Direct>(comm, std::move(made->factors), matrix.partition());
    built.notes = std::move(made->notes);
    built.reproducible = made->reproducible;
    built.zero_pivots = made->zero_pivots;
    return built;
  }
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
  constexpr double slowest_rate = 1e8;  // of any processor
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
                                           .make = make};

}  // namespace ayatori::solvers
