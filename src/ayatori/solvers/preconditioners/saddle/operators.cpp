#include "ayatori/solvers/preconditioners/saddle/operators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/null_space.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers::saddle {

namespace {

/// Two steps of the iteration that a preconditioner makes, where its cycle is the weak one of unsymmetric
/// matrices: x = V b + V (b - A V b).
class Twice final : public sparse::LinearOperator {
 public:
  Twice(const sparse::DistributedMatrix& a, std::unique_ptr<sparse::LinearOperator> v)
      : a_(a),
        v_(std::move(v)),
        residual_(zeros(a.comm(), a.local_size())),
        step_(zeros(a.comm(), a.local_size())) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    v_->apply(x, y);
    a_.apply(y, residual_);
    subtract(x, residual_, residual_);
    v_->apply(residual_, step_);
    axpy(1, step_, y);
  }
  std::int32_t local_size() const override { return a_.local_size(); }

 private:
  const sparse::DistributedMatrix& a_;
  std::unique_ptr<sparse::LinearOperator> v_;
  mutable Array<double> residual_;
  mutable Array<double> step_;
};

/// Collective. What row sums tell of the null vectors of a matrix of one field.
std::shared_ptr<const PiecewiseConstants> null_vectors_of(const sparse::DistributedMatrix& matrix) {
  const sparse::SplitMatrix& parts = matrix.parts();
  Array<double> sum(parts.interior.rows, 0.0);
  Array<double> sum_abs(parts.interior.rows, 0.0);
  const auto add = [&](const sparse::Csr& part, auto&& row) {
    for (std::int32_t r = 0; r < part.rows; ++r) {
      for (std::int64_t k = part.row_start[r]; k < part.row_start[r + 1]; ++k) {
        sum[row(r)] += part.value[k];
        sum_abs[row(r)] += std::abs(part.value[k]);
      }
    }
  };
  add(parts.interior, [](std::int32_t r) { return r; });
  add(parts.halo, [&](std::int32_t r) { return parts.halo_rows[r]; });
  RowSums own;
  for (std::size_t i = 0; i < sum.size(); ++i) own.add_row(sum[i], sum_abs[i]);
  std::array<std::int64_t, 3> counts{own.positive, own.negative, own.vanishing};
  std::array<double, 2> sums{own.total, own.total_abs};
  matrix.comm().allreduce(std::span<std::int64_t>(counts), comm::ReduceOp::sum);
  matrix.comm().allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  return find_null_spaces(matrix.comm(), parts, false,
                          {.positive = counts[0],
                           .negative = counts[1],
                           .vanishing = counts[2],
                           .total = sums[0],
                           .total_abs = sums[1]})
      .right;
}

/// Collective. Whether 1 is nearly a null vector of S: its energy is that of a few unknowns.
void find_level(const Operators& of, PrimalInverse& inverse) {
  constexpr double few = 20;
  constexpr double none = 1e-6;
  const SchurComplement complement(of, *inverse.v.op);
  Array<double> one = zeros(of.comm, of.t->local_size());
  Array<double> of_one = zeros(of.comm, of.t->local_size());
  std::ranges::fill(one, 1.0);
  complement.apply(one, of_one);
  const double energy = total(of.comm, of_one);
  const Array<double> diagonal = invert_diagonal(*of.t, "schur").value;
  std::ranges::transform(diagonal, of_one.begin(), [](double value) { return 1 / value; });
  const auto rows = static_cast<double>(of.t->global_rows());
  const double of_unknown = total(of.comm, of_one) / rows;
  inverse.has_level = std::abs(energy) < few * of_unknown && rows > few;
  if (!inverse.has_level) return;
  inverse.energy = std::abs(energy) > none * of_unknown ? energy : 0;
  inverse.pushed = zeros(of.comm, of.a->local_size());
  Array<double> force = zeros(of.comm, of.a->local_size());
  of.b1.apply(one, force);
  inverse.v.op->apply(force, inverse.pushed);
}

}  // namespace

Array<double> zeros(const comm::Comm& comm, std::int64_t size) {
  return comm::agree(comm, [&] { return Array<double>(size, 0.0); });
}

Array<double> random_numbers(const sparse::DistributedMatrix& matrix) {
  const std::int64_t first = matrix.partition().range(matrix.comm().rank()).begin;
  Array<double> q = zeros(matrix.comm(), matrix.local_size());
  parallel_for(std::ssize(q), [&](std::int64_t i) {
    q[i] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + i)) - 1;
  });
  return q;
}

double total(const comm::Comm& comm, std::span<const double> x) {
  const double own = parallel_sum(std::ssize(x), [&](Range range) {
    return std::accumulate(x.begin() + range.begin, x.begin() + range.end, 0.0);
  });
  return comm.allreduce(own, comm::ReduceOp::sum);
}

BuiltPreconditioner make_cycle(const sparse::DistributedMatrix& matrix,
                               const PreconditionerOptions& options) {
  const GlobalSum sum(matrix.comm());
  auto null_vectors = null_vectors_of(matrix);
  PreconditionerOptions own;
  own.gives_up = options.gives_up;
  own.null_vectors = null_vectors.get();
  return without_null_vectors(amg_preconditioner.make(matrix, sum, own), std::move(null_vectors));
}

SchurComplement::SchurComplement(const Operators& of, const sparse::LinearOperator& v)
    : of_(of),
      v_(v),
      first_(zeros(of.comm, of.a->local_size())),
      second_(zeros(of.comm, of.a->local_size())),
      sums_(zeros(of.comm, of.t->local_size())) {}

void SchurComplement::apply(std::span<const double> x, std::span<double> y) const {
  of_.b1.apply(x, first_);
  v_.apply(first_, second_);
  of_.b2.apply(second_, y);
  if (of_.e) of_.e->apply(x, sums_);
  parallel_for(std::ssize(y), [&](std::int64_t i) { y[i] = of_.sign * (sums_[i] - y[i]); });
}

void Diagonal::apply(std::span<const double> x, std::span<double> y) const {
  parallel_for(std::ssize(x), [&](std::int64_t i) { y[i] = weight_[i] * x[i]; });
}

std::unique_ptr<Operators> make_operators(const comm::Comm& comm, Blocks& blocks, std::string_view who) {
  auto a = std::make_unique<const sparse::DistributedMatrix>(comm, std::exchange(blocks.a, {}));
  Array<double> inverse_diagonal = invert_diagonal(*a, who).value;
  const bool has_e = comm.any(blocks.e.nonzeros() > 0);
  std::unique_ptr<Operators> of(new Operators{comm,
                                              std::move(a),
                                              std::move(inverse_diagonal),
                                              Rectangular(comm, blocks.b1, blocks.constraint),
                                              Rectangular(comm, blocks.b2, blocks.primal),
                                              {},
                                              1,
                                              {}});
  if (has_e) of->e.emplace(comm, blocks.e, blocks.constraint);
  // E - B2 D^-1 B1, and the sign that most of its diagonal has.
  const Array<double> middle = comm::agree(comm, [&] {
    Array<double> values = of->inverse_diagonal;
    for (double& value : values) value = -value;
    return values;
  });
  sparse::RowBlock t = of->b2.multiply(middle, blocks.b1, blocks.e);
  std::int64_t balance = 0;
  for (std::int64_t i = 0; i < t.rows(); ++i)
    for (std::int64_t k = t.row_start[i]; k < t.row_start[i + 1]; ++k)
      if (t.column[k] == t.first_row + i) balance += t.value[k] > 0 ? 1 : -1;
  of->sign = comm.allreduce(balance, comm::ReduceOp::sum) >= 0 ? 1 : -1;
  for (double& value : t.value) value *= of->sign;
  of->t = std::make_unique<const sparse::DistributedMatrix>(comm, t);
  for (sparse::RowBlock* block : {&blocks.b1, &blocks.b2, &blocks.e}) *block = {};
  return of;
}

std::shared_ptr<const PrimalInverse> invert_by_diagonal(const Operators& of) {
  auto inverse = comm::agree(of.comm, [&] {
    auto made = std::make_shared<PrimalInverse>();
    made->v.op = std::make_unique<Diagonal>(of.inverse_diagonal);
    made->cycles = 0;
    return made;
  });
  find_level(of, *inverse);
  return inverse;
}

std::shared_ptr<const PrimalInverse> invert_by_cycles(const Operators& of,
                                                      const PreconditionerOptions& options) {
  BuiltPreconditioner v = make_cycle(*of.a, options);
  const bool is_unsymmetric = of.comm.any(!looks_symmetric(of.a->interior()));
  if (is_unsymmetric)
    v.op = comm::agree(of.comm, [&] { return std::make_unique<Twice>(*of.a, std::move(v.op)); });
  auto inverse = comm::agree(of.comm, [&] {
    auto made = std::make_shared<PrimalInverse>();
    made->v = std::move(v);
    made->cycles = is_unsymmetric ? 2 : 1;
    return made;
  });
  find_level(of, *inverse);
  return inverse;
}

}  // namespace ayatori::solvers::saddle
