#include "ayatori/solvers/preconditioners/saddle/complement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/null_space.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers::saddle {

namespace {

Array<double> zeros(const comm::Comm& comm, std::int64_t size) {
  return comm::agree(comm, [&] { return Array<double>(size, 0.0); });
}

/// Collective. The sum of all elements.
double total(const comm::Comm& comm, std::span<const double> x) {
  const double own = parallel_sum(std::ssize(x), [&](Range range) {
    return std::accumulate(x.begin() + range.begin, x.begin() + range.end, 0.0);
  });
  return comm.allreduce(own, comm::ReduceOp::sum);
}

/// sign (E - B2 V B1)
class Complement final : public sparse::LinearOperator {
 public:
  explicit Complement(const Operators& of)
      : of_(of),
        first_(zeros(of.comm, of.a->local_size())),
        second_(zeros(of.comm, of.a->local_size())),
        sums_(zeros(of.comm, of.t->local_size())) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    of_.b1.apply(x, first_);
    of_.v.op->apply(first_, second_);
    of_.b2.apply(second_, y);
    if (of_.e) of_.e->apply(x, sums_);
    parallel_for(std::ssize(y), [&](std::int64_t i) { y[i] = of_.sign * (sums_[i] - y[i]); });
  }
  std::int32_t local_size() const override { return of_.t->local_size(); }

 private:
  const Operators& of_;
  mutable Array<double> first_;
  mutable Array<double> second_;
  mutable Array<double> sums_;  ///< E x
};

/// y = weight x
class Diagonal final : public sparse::LinearOperator {
 public:
  explicit Diagonal(Array<double> weight) : weight_(std::move(weight)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    parallel_for(std::ssize(x), [&](std::int64_t i) { y[i] = weight_[i] * x[i]; });
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(weight_.size()); }

 private:
  Array<double> weight_;
};

/// T^-1 (B2 D^-1 A D^-1 B1) T^-1, positive where S is negative with the sign of K's symmetric form.
class Commutator final : public sparse::LinearOperator {
 public:
  Commutator(const Operators& of, std::shared_ptr<const sparse::LinearOperator> inverse)
      : of_(of),
        inverse_(std::move(inverse)),
        first_(zeros(of.comm, of.a->local_size())),
        second_(zeros(of.comm, of.a->local_size())),
        third_(zeros(of.comm, of.t->local_size())) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    inverse_->apply(x, y);
    of_.b1.apply(y, first_);
    divide(first_);
    of_.a->apply(first_, second_);
    divide(second_);
    of_.b2.apply(second_, third_);
    parallel_for(std::ssize(third_), [&](std::int64_t i) { third_[i] *= -of_.sign; });
    inverse_->apply(third_, y);
  }
  std::int32_t local_size() const override { return of_.t->local_size(); }

 private:
  void divide(Array<double>& x) const {
    parallel_for(std::ssize(x), [&](std::int64_t i) { x[i] *= of_.inverse_diagonal[i]; });
  }

  const Operators& of_;
  std::shared_ptr<const sparse::LinearOperator> inverse_;
  mutable Array<double> first_;
  mutable Array<double> second_;
  mutable Array<double> third_;
};

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

/// A V-cycle for a block, as the option table has it for a matrix.
BuiltPreconditioner make_cycle(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options,
                               std::shared_ptr<const PiecewiseConstants> null_vectors) {
  const GlobalSum sum(matrix.comm());
  PreconditionerOptions own;
  own.gives_up = options.gives_up;
  own.null_vectors = null_vectors.get();
  return without_null_vectors(amg_preconditioner.make(matrix, sum, own), std::move(null_vectors));
}

/// Collective. Whether 1 is nearly a null vector of S: its energy is that of a few unknowns.
void find_level(Operators& of) {
  constexpr double few = 20;
  constexpr double none = 1e-6;
  const Complement complement(of);
  Array<double> one = zeros(of.comm, of.t->local_size());
  Array<double> of_one = zeros(of.comm, of.t->local_size());
  std::ranges::fill(one, 1.0);
  complement.apply(one, of_one);
  const double energy = total(of.comm, of_one);
  const Array<double> inverse = invert_diagonal(*of.t, "schur").value;
  std::ranges::transform(inverse, of_one.begin(), [](double value) { return 1 / value; });
  const double of_unknown = total(of.comm, of_one) / static_cast<double>(of.t->global_rows());
  of.has_level = std::abs(energy)<few * of_unknown&& static_cast<double>(of.t->global_rows())> few;
  if (!of.has_level) return;
  of.energy = std::abs(energy) > none * of_unknown ? energy : 0;
  of.pushed = zeros(of.comm, of.a->local_size());
  Array<double> force = zeros(of.comm, of.a->local_size());
  of.b1.apply(one, force);
  of.v.op->apply(force, of.pushed);
}

/// Random numbers in [-1, 1), the same on any number of ranks, and S times them: what lies in its range.
struct Sample {
  Array<double> q;
  Array<double> of_q;
};

Sample make_sample(const Operators& of, const Complement& complement) {
  const std::int64_t first = of.t->partition().range(of.comm.rank()).begin;
  Sample sample = comm::agree(of.comm, [&] {
    return Sample{Array<double>(of.t->local_size()), Array<double>(of.t->local_size())};
  });
  parallel_for(of.t->local_size(), [&](std::int64_t i) {
    sample.q[i] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + i)) - 1;
  });
  complement.apply(sample.q, sample.of_q);
  return sample;
}

/// Collective. The diagonal of T, scaled such that S has the mean eigenvalue 1 with it.
std::shared_ptr<const sparse::LinearOperator> make_diagonal(const Operators& of, const Sample& sample) {
  Array<double> weight = invert_diagonal(*of.t, "schur").value;
  const comm::Comm& comm = of.comm;
  const std::int64_t n = of.t->local_size();
  std::array<double, 2> energies = parallel_sums<2>(n, [&](Range range) {
    std::array<double, 2> sums{};
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      sums[0] += sample.q[i] * sample.q[i] / weight[i];
      sums[1] += sample.q[i] * sample.of_q[i];
    }
    return sums;
  });
  comm.allreduce(std::span<double>(energies), comm::ReduceOp::sum);
  const double factor = energies[1] > 0 ? energies[0] / energies[1] : 1;
  parallel_for(n, [&](std::int64_t i) { weight[i] *= factor; });

  return comm::agree(comm, [&] { return std::make_shared<const Diagonal>(std::move(weight)); });
}

/// Collective. The sample with ten times as much of what is smooth, where approximations of S differ most.
Sample with_smooth_part(const Operators& of, const Complement& complement,
                        const sparse::LinearOperator& smoother, const Sample& rough) {
  constexpr double smooth = 10;
  const GlobalSum sum(of.comm);
  Sample both = comm::agree(of.comm, [&] { return rough; });
  smoother.apply(rough.q, both.q);
  const double length = norm(sum, both.q);
  if (length > 0) aypx(smooth * norm(sum, rough.q) / length, rough.q, both.q);
  complement.apply(both.q, both.of_q);
  return both;
}

/// Products of entries that an application takes, over all ranks.
class Work {
 public:
  explicit Work(const Operators& of) : cycles_(of.cycles) {
    const auto entries = [](const sparse::DistributedMatrix& m) {
      return m.interior().nonzeros() + m.parts().halo.nonzeros();
    };
    std::array<std::int64_t, 3> counts{entries(*of.a), entries(*of.t), of.b1.nonzeros() + of.b2.nonzeros()};
    of.comm.allreduce(std::span<std::int64_t>(counts), comm::ReduceOp::sum);
    a_ = static_cast<double>(counts[0]);
    t_ = static_cast<double>(counts[1]);
    b_ = static_cast<double>(counts[2]);
  }

  /// An iteration with this approximation: a V-cycle for A, products with K and B1, and what it is itself.
  double iteration(std::string_view name) const {
    constexpr double cycle = 7;  // products: five on the finest grid, and the coarser ones
    const double basis = cycles_ * (cycle + 1) * a_ + 1.5 * b_;
    if (name == "simple") return basis + cycle * t_;
    if (name == "commutator") return basis + 2 * cycle * t_ + a_ + b_;
    return basis;
  }

 private:
  double cycles_;
  double a_;
  double t_;
  double b_;
};

/// The work of a digit's e-th part, where an iteration takes this work and shrinks the residual by this
/// factor.
double price_of(double work, double rate) {
  // A V-cycle for A leaves so much of an error, however good the complement.
  constexpr double best_rate = 0.4;
  constexpr double worst_rate = 0.999;
  return work / -std::log(std::clamp(rate, best_rate, worst_rate));
}

/// Collective. By what factor an iteration shrinks the residual with this approximation of an inverse, on
/// average over the later ones: the first are quick where few eigenvalues stand out. Ends early where
/// `is_hopeless` says so of the rate until then.
double measured_rate(const comm::Comm& comm, const sparse::LinearOperator& op,
                     const sparse::LinearOperator& approximation, std::span<const double> b,
                     const std::function<bool(double rate)>& is_hopeless) {
  constexpr int iterations = 8;
  constexpr int first = 3;
  const GlobalSum sum(comm);
  const double start = norm(sum, b);
  if (!(start > 0)) return 1;
  Array<double> x = zeros(comm, std::ssize(b));
  MethodOptions options;
  options.max_iterations = iterations;
  options.restart = iterations;
  options.target = 1e-12 * start;
  double before = start;
  const auto rate_of = [&](double residual, int iteration) {
    const double ratio = residual / before;
    const int passed = iteration > first ? iteration - first : iteration;
    return ratio < 1 ? std::pow(ratio, 1.0 / std::max(passed, 1)) : 1;
  };
  const auto goes_on = [&](int iteration, double residual) {
    if (iteration == first) before = residual;
    return iteration < 2 * first || !is_hopeless(rate_of(residual, iteration));
  };
  const MethodResult result =
      method("gmres").solve({op, approximation, b, sum}, x, options, orthogonalization("cgs").apply, goes_on);
  return rate_of(result.residual_norm, result.iterations);
}

/// Collective. Whether A^-1 is near this diagonal, as where A is a mass matrix.
bool is_near(const sparse::DistributedMatrix& a, const Diagonal& inverse) {
  constexpr double quick = 0.4;
  const std::int64_t first = a.partition().range(a.comm().rank()).begin;
  Array<double> b = zeros(a.comm(), a.local_size());
  parallel_for(std::ssize(b), [&](std::int64_t i) {
    b[i] = 2 * random_uniform(1, static_cast<std::uint64_t>(first + i)) - 1;
  });
  return measured_rate(a.comm(), a, inverse, b, [](double rate) { return rate > quick; }) <= quick;
}

}  // namespace

ComplementInverse::ComplementInverse(const Operators& of, std::shared_ptr<const sparse::LinearOperator> inner)
    : of_(of),
      inner_(std::move(inner)),
      projected_(zeros(of.comm, of.has_level ? inner_->local_size() : 0)) {}

double ComplementInverse::apply_apart(std::span<const double> x, std::span<double> y) const {
  if (!of_.has_level) {
    inner_->apply(x, y);
    return 0;
  }
  const auto size = static_cast<double>(of_.t->global_rows());
  const double sum = total(of_.comm, x);
  parallel_for(std::ssize(x), [&](std::int64_t i) { projected_[i] = x[i] - sum / size; });
  inner_->apply(projected_, y);
  const double mean = total(of_.comm, y) / size;
  parallel_for(std::ssize(y), [&](std::int64_t i) { y[i] -= mean; });
  return of_.energy != 0 ? sum / of_.energy : 0;
}

void ComplementInverse::apply(std::span<const double> x, std::span<double> y) const {
  const double level = apply_apart(x, y);
  if (level != 0) parallel_for(std::ssize(y), [&](std::int64_t i) { y[i] += level; });
}

bool is_approximation(std::string_view name) {
  return name == "constraint" || std::ranges::find(approximations, name) != std::end(approximations);
}

std::unique_ptr<Operators> make_operators(const comm::Comm& comm, Blocks& blocks, std::string_view who,
                                          const PreconditionerOptions& options) {
  auto a = std::make_unique<const sparse::DistributedMatrix>(comm, std::exchange(blocks.a, {}));
  Array<double> inverse_diagonal = invert_diagonal(*a, who).value;
  auto diagonal = comm::agree(comm, [&] { return std::make_unique<Diagonal>(inverse_diagonal); });
  const bool by_diagonal =
      options.complement == "constraint" || (options.complement == "auto" && is_near(*a, *diagonal));
  BuiltPreconditioner v;
  int cycles = 0;
  if (by_diagonal) {
    v.op = std::move(diagonal);
  } else {
    v = make_cycle(*a, options, null_vectors_of(*a));
    cycles = comm.any(!looks_symmetric(a->interior())) ? 2 : 1;
    if (cycles == 2) v.op = comm::agree(comm, [&] { return std::make_unique<Twice>(*a, std::move(v.op)); });
  }
  const bool has_e = comm.any(blocks.e.nonzeros() > 0);
  std::unique_ptr<Operators> of(new Operators{comm,
                                              std::move(a),
                                              std::move(inverse_diagonal),
                                              std::move(v),
                                              cycles,
                                              Rectangular(comm, blocks.b1, blocks.constraint),
                                              Rectangular(comm, blocks.b2, blocks.primal),
                                              {},
                                              1,
                                              {},
                                              false,
                                              0,
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
  find_level(*of);
  return of;
}

Approximation approximate_complement(const Operators& of, const PreconditionerOptions& options) {
  const Complement complement(of);
  const Sample sample = make_sample(of, complement);
  std::shared_ptr<const sparse::LinearOperator> cycle;
  std::vector<std::string> notes;
  const auto inner = [&](std::string_view wanted) -> std::shared_ptr<const sparse::LinearOperator> {
    if (wanted == "diagonal") return make_diagonal(of, sample);
    if (!cycle) {
      auto built = make_cycle(*of.t, options, null_vectors_of(*of.t));
      cycle = std::move(built.op);
      notes = std::move(built.notes);
    }
    if (wanted == "simple") return cycle;
    return comm::agree(of.comm, [&] { return std::make_shared<const Commutator>(of, cycle); });
  };
  const auto make = [&](std::string_view wanted) {
    auto op = std::make_unique<ComplementInverse>(of, inner(wanted));
    return Approximation{std::string(wanted), std::move(op),
                         wanted == "diagonal" ? std::vector<std::string>{} : notes};
  };
  if (of.cycles == 0) {  // T is the complement
    Approximation exact = make("simple");
    exact.name = "constraint";
    return exact;
  }
  if (options.complement != "auto") return make(options.complement);

  const Sample rough_and_smooth = with_smooth_part(of, complement, *make("simple").op, sample);
  const Work work(of);
  Approximation best;
  double least = 0;
  std::string measured;
  for (const std::string_view candidate : approximations) {
    const double iteration = work.iteration(candidate);
    if (best.op && price_of(iteration, 0) > least) continue;
    Approximation next = make(candidate);
    // Some iterations are slower than others.
    const auto is_hopeless = [&](double rate) { return best.op && price_of(iteration, rate) > 1.5 * least; };
    const double rate = measured_rate(of.comm, complement, *next.op, rough_and_smooth.of_q, is_hopeless);
    const double price = price_of(iteration, rate);
    measured += fmt::format("{}{} {:.2f}", measured.empty() ? "" : ", ", candidate, rate);
    if (!best.op || price < least) {
      least = price;
      best = std::move(next);
    }
  }
  best.notes.push_back(fmt::format("residual of the complement, an iteration: {}", measured));
  return best;
}

}  // namespace ayatori::solvers::saddle
