#include "ayatori/solvers/preconditioners/saddle/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"
#include "ayatori/solvers/preconditioners/saddle/complements/complements.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers::saddle {

namespace {

/// Iterations of GMRES that are made to measure how they shrink the residual. The first are quick where few
/// eigenvalues stand out.
struct Trial {
  int most;
  int passed;  ///< what counts begins after this many
};

/// Collective. By what factor such an iteration on `op`, with this approximation of its inverse, shrinks the
/// residual, on average. Ends early where `is_hopeless` says so of the factor.
double measured_rate(
    const GlobalSum& sum, const sparse::LinearOperator& op, const sparse::LinearOperator& approximation,
    std::span<const double> b, Trial trial,
    const std::function<bool(double rate)>& is_hopeless = [](double) { return false; }) {
  const double start = norm(sum, b);
  if (!(start > 0)) return 1;
  Array<double> x = zeros(sum.comm(), std::ssize(b));
  MethodOptions options;
  options.max_iterations = trial.most;
  options.restart = trial.most;
  options.target = 1e-6 * start;  // V-cycles are in single precision
  double before = start;
  const auto rate_of = [&](double residual, int iteration) {
    if (residual <= options.target) return std::pow(residual / start, 1.0 / std::max(iteration, 1));
    const double ratio = residual / before;
    const int counted = iteration > trial.passed ? iteration - trial.passed : iteration;
    return ratio < 1 ? std::pow(ratio, 1.0 / std::max(counted, 1)) : 1;
  };
  const auto goes_on = [&](int iteration, double residual) {
    if (iteration == trial.passed) before = residual;
    return iteration < 2 * trial.passed || !is_hopeless(rate_of(residual, iteration));
  };
  const MethodResult result =
      method("gmres").solve({op, approximation, b, sum}, x, options, orthogonalization("cgs").apply, goes_on);
  return rate_of(result.residual_norm, result.iterations);
}

/// Iterations to eight digits, at this rate of one.
double iterations_at(double rate) {
  constexpr double digits = 18.4;
  constexpr double worst_rate = 0.9995;
  return rate > 0 ? std::max(digits / -std::log(std::min(rate, worst_rate)), 1.0) : 1;
}

/// What takes how long, in products of entries, over all ranks.
class Work {
 public:
  Work(const sparse::DistributedMatrix& matrix, const Operators& of, int cycles) : cycles_(cycles) {
    const auto entries = [](const sparse::DistributedMatrix& m) {
      return m.interior().nonzeros() + m.parts().halo.nonzeros();
    };
    std::array<std::int64_t, 4> counts{entries(matrix), entries(*of.a), entries(*of.t),
                                       of.b1.nonzeros() + of.b2.nonzeros()};
    of.comm.allreduce(std::span<std::int64_t>(counts), comm::ReduceOp::sum);
    constexpr double vectors = 12;  // entries of each row, in time
    k_ = static_cast<double>(counts[0]) + vectors * static_cast<double>(matrix.global_rows());
    a_ = static_cast<double>(counts[1]);
    t_ = static_cast<double>(counts[2]) + vectors / 3 * static_cast<double>(of.t->global_rows());
    b_ = static_cast<double>(counts[3]);
  }

  /// An iteration of a method with this stand-in.
  double iteration(const Complement& kind) const {
    const double for_a = kind.by_diagonal ? 0 : cycles_ * (cycle + 1) * a_;
    return k_ + b_ + for_a + kind.cycles_for_t * cycle * t_ + (kind.multiplies_by_a ? a_ + b_ : 0);
  }
  double setup_of_a() const { return setup * a_; }
  double setup_of_t() const { return setup * t_; }

 private:
  static constexpr double cycle = 6;  ///< its matrices are in single precision
  static constexpr double setup = 320;
  double cycles_;
  double k_;
  double a_;
  double t_;
  double b_;
};

/// Measures stand-ins.
class Trials {
 public:
  Trials(const sparse::DistributedMatrix& matrix, Ingredients& from)
      : from_(from),
        of_(from.of),
        sum_(of_.comm),
        is_unsymmetric_(of_.comm.any(!looks_symmetric(of_.a->interior()))),
        work_(matrix, of_, is_unsymmetric_ ? 2 : 1) {}

  Choice choose() {
    const double for_a = iterations_with_diagonal_of_a();
    constexpr double many = 250;                                             // restarts make slow ones slower
    const double iterations = (10 + 0.75 * for_a) * (for_a > many ? 2 : 1);  // a fit to many kinds of K
    const double price = work_.setup_of_t() + iterations * work_.iteration(constraint_complement);
    note("constraint", iterations);
    constexpr double as_diagonal = 12;  // then A is as good as diagonal
    // V-cycles for A cannot win against that.
    constexpr double fewest = 20;
    if (price <= work_.setup_of_a() + work_.setup_of_t() + fewest * work_.iteration(simple_complement))
      return decided(for_a < as_diagonal ? better_for_t() : constraint_complement);
    if (is_unsymmetric_ && !cycles_converge()) return decided(constraint_complement);
    return decided(best_with_cycles(price));
  }

 private:
  /// Iterations of GMRES with D on A, for a right-hand side that has smooth parts, too, which are slower.
  double iterations_with_diagonal_of_a() const {
    Array<double> b = random_numbers(*of_.a);
    parallel_for(std::ssize(b),
                 [&](std::int64_t i) { b[i] = (b[i] + smooth_part) / of_.inverse_diagonal[i]; });
    const Diagonal inverse = comm::agree(of_.comm, [&] { return Diagonal(of_.inverse_diagonal); });
    return iterations_at(measured_rate(sum_, *of_.a, inverse, b, {10, 4}));
  }

  /// Whether V-cycles solve A at all: they do not where convection is strong.
  bool cycles_converge() {
    constexpr double too_slow = 0.9;
    const auto& v = *from_.primal_inverse(false)->v.op;
    return measured_rate(sum_, *of_.a, v, random_numbers(*of_.a), {3, 1}) < too_slow;
  }

  /// With D for A: whether the diagonal of T does, too, instead of a cycle for it.
  const Complement& better_for_t() {
    const Array<double> inverse = invert_diagonal(*of_.t, "schur").value;
    Array<double> b = random_numbers(*of_.t);
    parallel_for(std::ssize(b), [&](std::int64_t i) { b[i] = (b[i] + smooth_part) / inverse[i]; });
    const Diagonal op = comm::agree(of_.comm, [&] { return Diagonal(inverse); });
    const double iterations = iterations_at(measured_rate(sum_, *of_.t, op, b, {24, 12}));
    note("diagonals", iterations);
    constexpr double fewest = 20;
    // A set-up is expensive where rows are coupled without any geometry, of which T's filling in tells.
    return iterations * work_.iteration(diagonals_complement) <
                   2 * work_.setup_of_t() + fewest * work_.iteration(constraint_complement)
               ? diagonals_complement
               : constraint_complement;
  }

  const Complement& best_with_cycles(double price_of_constraint) {
    constexpr double of_cycle = 12;  // iterations that what a cycle for A leaves takes
    constexpr double fewest = 15;
    constexpr double many = 60;
    const PrimalInverse& primal = *from_.primal_inverse(false);
    const SchurComplement complement(of_, *primal.v.op);
    Array<double> b = rough_and_smooth(primal.has_level);
    const Complement* best = &constraint_complement;
    double least = price_of_constraint;
    for (const Complement& one : complements()) {
      const double iteration = work_.iteration(one);
      const double setup = one.cycles_for_t > 0 ? work_.setup_of_t() : 0;
      if (one.by_diagonal || setup + (of_cycle + fewest) * iteration >= least) continue;
      const auto approximation = make_complement(one, from_);
      const double most = std::max(1.3 * (least - setup) / iteration - of_cycle, fewest);
      double iterations = iterations_of(complement, *approximation, b, most);
      if (one.cycles_for_t == 0 && iterations > many) {
        // Others have to be tried, and what the cycle for T is good for tells more.
        b = smoothed_by_cycle(primal.has_level);
        iterations = iterations_of(complement, *approximation, b, most);
      }
      note(one.name, iterations);
      const double price = setup + (of_cycle + iterations) * iteration;
      if (price >= least) continue;
      least = price;
      best = &one;
    }
    return *best;
  }

  /// Iterations of GMRES on S, for b; a rough number where it is above `most`.
  double iterations_of(const SchurComplement& complement, const ComplementInverse& approximation,
                       const Array<double>& b, double most) const {
    constexpr double doubtful = 250;
    const auto is_hopeless = [&](double rate) {
      return iterations_at(rate) > most && iterations_at(rate) < doubtful;
    };
    const double iterations =
        iterations_at(measured_rate(sum_, complement, approximation, b, {8, 3}, is_hopeless));
    if (iterations < doubtful) return iterations;
    // By a few eigenvalues far below the others, which not every right-hand side has much of.
    const double otherwise =
        iterations_at(measured_rate(sum_, complement, approximation, in_range(complement, b), {8, 3}));
    return std::min(iterations, 8 * otherwise);
  }

  /// diag(T) times what stand-ins differ in most: random numbers and ten times as much of what is smooth,
  /// which is what steps of Jacobi's iteration leave.
  Array<double> rough_and_smooth(bool without_mean) const {
    constexpr int steps = 12;
    constexpr double damping = 0.6;
    const Array<double> inverse = invert_diagonal(*of_.t, "schur").value;
    Array<double> smooth = random_numbers(*of_.t);
    Array<double> of_smooth = zeros(of_.comm, std::ssize(smooth));
    for (int step = 0; step < steps; ++step) {
      of_.t->apply(smooth, of_smooth);
      parallel_for(std::ssize(smooth),
                   [&](std::int64_t i) { smooth[i] -= damping * inverse[i] * of_smooth[i]; });
    }
    return with_random_numbers(std::move(smooth), inverse, without_mean);
  }

  /// The same with what a V-cycle for T makes of random numbers.
  Array<double> smoothed_by_cycle(bool without_mean) {
    const auto cycle = make_complement(simple_complement, from_);
    const Array<double> inverse = invert_diagonal(*of_.t, "schur").value;
    Array<double> force = random_numbers(*of_.t);
    Array<double> smooth = zeros(of_.comm, std::ssize(force));
    parallel_for(std::ssize(force), [&](std::int64_t i) { force[i] /= inverse[i]; });
    cycle->apply(force, smooth);
    return with_random_numbers(std::move(smooth), inverse, without_mean);
  }

  Array<double> with_random_numbers(Array<double> smooth, const Array<double>& inverse,
                                    bool without_mean) const {
    const Array<double> rough = random_numbers(*of_.t);
    const double length = norm(sum_, smooth);
    if (length > 0) aypx(2 * smooth_part * norm(sum_, rough) / length, rough, smooth);
    parallel_for(std::ssize(smooth), [&](std::int64_t i) { smooth[i] /= inverse[i]; });
    if (without_mean) {
      const double mean = total(of_.comm, smooth) / static_cast<double>(of_.t->global_rows());
      parallel_for(std::ssize(smooth), [&](std::int64_t i) { smooth[i] -= mean; });
    }
    return smooth;
  }

  /// S diag(T)^-1 b, in which hardly anything is left of what S nearly annihilates.
  Array<double> in_range(const SchurComplement& complement, const Array<double>& b) const {
    const Array<double> inverse = invert_diagonal(*of_.t, "schur").value;
    Array<double> q = zeros(of_.comm, std::ssize(b));
    Array<double> of_q = zeros(of_.comm, std::ssize(b));
    parallel_for(std::ssize(b), [&](std::int64_t i) { q[i] = inverse[i] * b[i]; });
    complement.apply(q, of_q);
    return of_q;
  }

  void note(std::string_view name, double iterations) {
    measured_ += fmt::format("{}{} {:.0f}", measured_.empty() ? "" : ", ", name, iterations);
  }
  Choice decided(const Complement& complement) const {
    return {&complement, {fmt::format("iterations as a few tell: {}", measured_)}};
  }

  static constexpr double smooth_part = 5;

  Ingredients& from_;
  const Operators& of_;
  GlobalSum sum_;
  bool is_unsymmetric_;
  Work work_;
  std::string measured_;
};

}  // namespace

Choice choose_complement(const sparse::DistributedMatrix& matrix, Ingredients& from) {
  return Trials(matrix, from).choose();
}

}  // namespace ayatori::solvers::saddle
