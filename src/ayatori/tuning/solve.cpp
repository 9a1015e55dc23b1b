#include "ayatori/tuning/solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/tuning/negated.hpp"
#include "ayatori/tuning/timed.hpp"

namespace ayatori::tuning {

namespace {

using solvers::ConstVector;
using solvers::GlobalSum;
using solvers::Vector;

/// The largest basis that fits in a quarter of the free memory of every node, with the triangle of
/// coefficients that every rank keeps; at most the order of the matrix.
int longest_restart(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  const comm::Comm node = comm.split_by_node();
  const double doubles = static_cast<double>(available_memory()) / (4.0 * 8.0 * node.size());
  const double n = std::max(parts.plan.local_size, 1);
  const double most = std::sqrt(n * n + 2 * doubles) - n;  // m n + m^2 / 2 = doubles
  const double fits = comm.allreduce(most, comm::ReduceOp::min);
  return static_cast<int>(
      std::clamp(fits, 30.0, std::max(30.0, static_cast<double>(parts.partition.rows()))));
}

/// One solve under way: the best x, its true residual, and the report that grows.
class Run {
 public:
  Run(const comm::Comm& comm, std::shared_ptr<const sparse::SplitMatrix> parts, ConstVector b, Vector x,
      const SolveOptions& options, const SolveHooks& hooks)
      : comm_(comm),
        parts_(std::move(parts)),
        b_(b),
        x_(x),
        options_(options),
        hooks_(hooks),
        sum_(comm, [this] { return wants_stop(); }),
        residual_(b.size()),
        correction_(b.size()),
        candidate_(b.size()) {}

  SolveReport report() {
    tune();
    b_norm_ = scaled_norm(b_);
    if (b_norm_ == 0) solvers::fill(x_, 0);  // the only right answer, and no relative residual can be defined
    update_residual();
    for (std::size_t i = 0; i < ladder_.size() && !done(); ++i) {
      if (i > 0) escalate(ladder_[i]);
      climb(ladder_[i]);
    }
    finish();
    return std::move(report_);
  }

 private:
  bool wants_stop() const { return out_of_time() || (hooks_.wants_stop && hooks_.wants_stop()); }
  bool out_of_time() const { return options_.time_limit > 0 && watch_.seconds() > options_.time_limit; }
  bool converged() const { return residual_norm_ <= options_.rtol * b_norm_; }
  bool out_of_iterations() const {
    return options_.max_iterations > 0 && report_.iterations >= options_.max_iterations;
  }
  bool done() const { return converged() || sum_.stop_requested() || out_of_iterations(); }

  void tune() {
    const ScopedTimer timer(report_.seconds.tuning);
    report_.facts = examine(comm_, *parts_);
    ladder_ = make_ladder(report_.facts, options_.forced, longest_restart(comm_, *parts_));
    report_.choice = ladder_.front().choice;
    report_.why = ladder_.front().why;
  }

  void add_event(std::string kind, std::string text) {
    report_.events.push_back({watch_.seconds(), std::move(kind), std::move(text)});
    if (hooks_.event) hooks_.event(report_.events.back());
  }

  void escalate(const Rung& rung) {
    add_event("escalation", fmt::format("now {}: {}", describe(rung.choice), rung.why));
  }

  /// ||v||_2 of a vector whose squares may overflow or underflow.
  double scaled_norm(ConstVector v) const {
    const double largest = comm_.allreduce(solvers::local_max_abs(v), comm::ReduceOp::max);
    if (largest == 0 || !std::isfinite(largest)) return largest;
    const double squares = comm_.allreduce(sum_of_squares(v, 1 / largest), comm::ReduceOp::sum);
    return largest * std::sqrt(squares);
  }
  static double sum_of_squares(ConstVector v, double factor) {
    double sum = 0;
    for (const double value : v) sum += (value * factor) * (value * factor);
    return sum;
  }

  /// residual_ = b - A v by reference code; its norm.
  double true_residual(ConstVector v, Vector residual) const {
    sparse::multiply_reference(comm_, *parts_, v, residual);
    solvers::subtract(b_, residual, residual);
    return scaled_norm(residual);
  }
  void update_residual() {
    residual_norm_ = true_residual(x_, residual_);
    if (!std::isfinite(residual_norm_)) {
      solvers::fill(x_, 0);
      solvers::copy(b_, residual_);
      residual_norm_ = b_norm_;
    }
  }

  /// Runs a rung from the best x, again while its claims of convergence turn out false but the residual
  /// shrinks.
  void climb(const Rung& rung) {
    report_.trials.push_back({rung.choice, rung.why, "", "", 0, relative(residual_norm_), 0, 0});
    try {
      const Stopwatch setup;
      const sparse::DistributedMatrix matrix(comm_, parts_, {rung.choice.kernel, rung.choice.halo});
      const auto preconditioner = solvers::preconditioner(rung.choice.preconditioner).make(matrix, sum_, {});
      trial().setup_seconds = setup.seconds();
      report_.seconds.setup += setup.seconds();
      for (const std::string& note : preconditioner.notes) add_event("note", note);
      while (iterate(rung, matrix, *preconditioner.op)) {
      }
      report_.seconds.spmv += matrix.seconds().total - matrix.seconds().halo;
      report_.seconds.halo += matrix.seconds().halo;
    } catch (const Error& error) {
      if (!error.agreed()) throw;
      trial().outcome = "set-up failed";
      trial().reason = error.what();
      add_event("set-up-failed", error.what());
    }
    trial().relative_residual = relative(residual_norm_);
  }

  /// Solves A d = r for a correction of the best x, scaled so that squares neither overflow nor underflow.
  /// True if the same rung should run again.
  bool iterate(const Rung& rung, const sparse::DistributedMatrix& matrix,
               const sparse::LinearOperator& preconditioner) {
    const ScopedTimer timer(report_.seconds.solve);
    const Stopwatch watch;
    const double before = residual_norm_;
    solvers::scale(1 / before, residual_);
    solvers::fill(correction_, 0);
    const auto result = run_method(rung.choice, matrix, preconditioner, before);
    trial().iterations += result.iterations;
    report_.iterations += result.iterations;
    const double claimed = result.residual_norm * before;
    accept(before);
    trial().solve_seconds += watch.seconds();
    trial().outcome = solvers::name_of(result.stop);
    trial().reason = result.reason;
    if (residual_norm_ < before) {
      report_.choice = rung.choice;
      report_.why = rung.why;
    }
    return judge(rung, result, before, claimed);
  }

  solvers::MethodResult run_method(const Choice& choice, const sparse::DistributedMatrix& matrix,
                                   const sparse::LinearOperator& preconditioner, double scale) {
    const NestedTime nested(matrix, sum_);
    const TimedOperator timed_preconditioner(preconditioner, report_.seconds.preconditioner, nested);
    const auto& method = solvers::method(choice.method);
    const auto orthogonalize = choice.orthogonalization.empty()
                                   ? solvers::Orthogonalize()
                                   : timed(solvers::orthogonalization(choice.orthogonalization),
                                           report_.seconds.orthogonalization, nested);

    solvers::MethodOptions method_options;
    method_options.target = options_.rtol * b_norm_ / scale;
    method_options.restart = std::max(choice.restart, 1);
    method_options.max_iterations = iterations_left();
    const std::int64_t done_before = report_.iterations;
    const auto progress = [&](int iteration, double residual_norm) {
      if (hooks_.progress) hooks_.progress(choice, done_before + iteration, relative(residual_norm * scale));
    };

    // A negative definite system is solved as the positive definite one with all signs changed.
    const bool negate = method.needs_definite && report_.facts.looks_negative_definite();
    const Negated negated_matrix(matrix);
    const Negated negated_preconditioner(timed_preconditioner);
    if (negate) solvers::scale(-1, residual_);
    const solvers::System system{
        negate ? static_cast<const sparse::LinearOperator&>(negated_matrix) : matrix,
        negate ? static_cast<const sparse::LinearOperator&>(negated_preconditioner) : timed_preconditioner,
        residual_, sum_};
    return method.solve(system, correction_, method_options, orthogonalize, progress);
  }

  int iterations_left() const {
    constexpr std::int64_t no_limit = std::numeric_limits<int>::max();
    const std::int64_t left =
        options_.max_iterations > 0 ? options_.max_iterations - report_.iterations : no_limit;
    return static_cast<int>(std::min(left, no_limit));
  }

  /// Takes x + scale * correction if its true residual is smaller.
  void accept(double scale) {
    solvers::copy(x_, candidate_);
    solvers::axpy(scale, correction_, candidate_);
    const double norm = true_residual(candidate_, residual_);
    if (norm < scale) {
      solvers::copy(candidate_, x_);
      residual_norm_ = norm;
    } else {
      residual_norm_ = true_residual(x_, residual_);
    }
  }

  /// Puts what happened into events; true if the same rung should go on.
  bool judge(const Rung& rung, const solvers::MethodResult& result, double before, double claimed) {
    const std::string who = describe(rung.choice);
    switch (result.stop) {
      case solvers::Stop::converged:
        if (converged()) return false;
        add_event("false-convergence",
                  fmt::format("{} claimed a relative residual of {:.1e}; the true one is {:.1e}", who,
                              relative(claimed), relative(residual_norm_)));
        return residual_norm_ < 0.5 * before && !done();
      case solvers::Stop::stagnated:
        add_event("stagnation",
                  fmt::format("{} stagnated at {:.1e}: {}", who, relative(residual_norm_), result.reason));
        return false;
      case solvers::Stop::breakdown:
        add_event("breakdown",
                  fmt::format("{} broke down at {:.1e}: {}", who, relative(residual_norm_), result.reason));
        return false;
      case solvers::Stop::interrupted:
        add_event("interrupted", fmt::format("stopped on request at {:.1e}; x is the best so far",
                                             relative(residual_norm_)));
        return false;
      case solvers::Stop::max_iterations:
        return false;
    }
    return false;
  }

  double relative(double norm) const { return b_norm_ > 0 ? norm / b_norm_ : norm; }
  Trial& trial() { return report_.trials.back(); }

  Status status() const {
    if (converged()) return Status::converged;
    if (!sum_.stop_requested()) return Status::not_converged;
    return comm_.any(out_of_time()) ? Status::time_limit : Status::interrupted;
  }

  void finish() {
    report_.status = status();
    report_.relative_residual = relative(residual_norm_);
    const double x_norm = scaled_norm(x_);
    const double magnitude = report_.facts.norm_infinity * x_norm + b_norm_;
    report_.backward_error = magnitude > 0 ? residual_norm_ / magnitude : 0;
    report_.reductions = sum_.count();
    report_.seconds.reduction = sum_.seconds();
    report_.halo_messages = comm_.allreduce(parts_->plan.messages(), comm::ReduceOp::sum);
    report_.halo_bytes = comm_.allreduce(parts_->plan.bytes_sent(), comm::ReduceOp::sum);
    report_.seconds.total = watch_.seconds();
    average_over_ranks(report_.seconds);
  }

  void average_over_ranks(PhaseSeconds& s) const {
    std::array<double*, 9> fields{&s.total,    &s.setup, &s.tuning,         &s.solve,
                                  &s.spmv,     &s.halo,  &s.preconditioner, &s.orthogonalization,
                                  &s.reduction};
    std::array<double, 9> values{};
    std::ranges::transform(fields, values.begin(), [](const double* field) { return *field; });
    comm_.allreduce(std::span<double>(values), comm::ReduceOp::sum);
    for (std::size_t i = 0; i < fields.size(); ++i) *fields[i] = values[i] / comm_.size();
  }

  const comm::Comm& comm_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  ConstVector b_;
  Vector x_;
  const SolveOptions& options_;
  const SolveHooks& hooks_;
  Stopwatch watch_;
  GlobalSum sum_;
  std::vector<Rung> ladder_;
  SolveReport report_;
  double b_norm_ = 0;
  double residual_norm_ = 0;
  Array<double> residual_;
  Array<double> correction_;
  Array<double> candidate_;
};

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::converged:
      return "converged";
    case Status::not_converged:
      return "not converged";
    case Status::interrupted:
      return "interrupted";
    case Status::time_limit:
      break;
  }
  return "time limit reached";
}

SolveReport solve(const comm::Comm& comm, std::shared_ptr<const sparse::SplitMatrix> parts, ConstVector b,
                  Vector x, const SolveOptions& options, const SolveHooks& hooks) {
  comm::agree(comm, [&] {
    check(options.forced);
    if (!(options.rtol > 0 && options.rtol < 1)) {
      throw InputError(fmt::format("the tolerance is {}, but must be between 0 and 1", options.rtol));
    }
    if (!std::isfinite(solvers::local_max_abs(b)))
      throw InputError("the right-hand side holds a NaN or an infinity");
  });
  return Run(comm, std::move(parts), b, x, options, hooks).report();
}

}  // namespace ayatori::tuning
