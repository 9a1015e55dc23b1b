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
#include "ayatori/tuning/scaled_system.hpp"
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

/// Time that products and reductions have taken, to be told apart by what they were for.
struct Clocks {
  double product = 0;
  double halo = 0;
  double reduction = 0;

  Clocks(const sparse::DistributedMatrix& matrix, const GlobalSum& sum)
      : product(matrix.seconds().total), halo(matrix.seconds().halo), reduction(sum.seconds()) {}
};

/// One solve under way: the best x, its true residual, and the report that grows.
class Run {
 public:
  Run(const comm::Comm& comm, std::shared_ptr<const sparse::SplitMatrix> parts, ConstVector b, Vector x,
      const SolveOptions& options, const SolveHooks& hooks)
      : comm_(comm), x_(x), options_(options), hooks_(hooks), sum_(comm, [this] { return wants_stop(); }) {
    const ScopedTimer timer(report_.seconds.tuning);
    report_.facts = examine(comm_, *parts);
    ladder_ = make_ladder(report_.facts, options_.forced, longest_restart(comm_, *parts));
    system_.emplace(sum_, std::move(parts), b, report_.facts.looks_negative_definite());
    comm::agree(comm_, [&] {
      residual_.resize(b.size());
      correction_.resize(b.size());
      candidate_.resize(b.size());
    });
  }

  SolveReport report() {
    note_contradictions();
    start();
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
  bool out_of_iterations() const {
    return options_.max_iterations > 0 && report_.iterations >= options_.max_iterations;
  }
  /// Written so that a NaN on either side is not convergence.
  bool converged() const {
    return std::isfinite(residual_norm_) && residual_norm_ <= options_.rtol * system_->b_norm();
  }

  /// Collective: whether any rank wants to stop, also where no reduction of a method has asked.
  bool stopped() {
    stopped_ = stopped_ || comm_.any(wants_stop());
    return stopped_;
  }
  bool done() { return converged() || out_of_iterations() || stopped(); }

  void add_event(std::string kind, std::string text) {
    report_.events.push_back({watch_.seconds(), std::move(kind), std::move(text)});
    if (hooks_.event) hooks_.event(report_.events.back());
  }

  /// A forced method is obeyed even where the matrix is known not to suit it; that is said.
  void note_contradictions() {
    const Choice& first = ladder_.front().choice;
    report_.choice = first;
    report_.why = ladder_.front().why;
    if (solvers::method(first.method).needs_symmetric && !report_.facts.symmetric) {
      add_event("note", fmt::format("{} is for symmetric matrices, and this one is not", first.method));
    }
  }

  void start() {
    system_->to_scaled(x_);
    if (system_->b_norm() == 0)
      solvers::fill(x_, 0);  // the only right answer; no relative residual can be defined
    residual_norm_ = verified_residual(x_);
    if (std::isfinite(residual_norm_)) return;
    solvers::fill(x_, 0);
    residual_norm_ = verified_residual(x_);
  }

  /// residual_ = b - A v; its norm.
  double verified_residual(ConstVector v) {
    const ScopedTimer timer(report_.seconds.verification);
    return system_->residual(v, residual_);
  }

  void escalate(const Rung& rung) {
    add_event("escalation", fmt::format("now {}: {}", describe(rung.choice), rung.why));
  }

  /// The product of a choice: the last one where kernel and halo are the same.
  const sparse::DistributedMatrix& matrix_for(const Choice& choice) {
    if (!matrix_ || choice.kernel != matrix_kernel_ || choice.halo != matrix_halo_) {
      matrix_.reset();
      matrix_.emplace(comm_, system_->parts(), sparse::ProductOptions{choice.kernel, choice.halo});
      matrix_kernel_ = choice.kernel;
      matrix_halo_ = choice.halo;
    }
    return *matrix_;
  }

  /// Runs a rung from the best x, again while its claims of convergence turn out false but the residual
  /// shrinks.
  void climb(const Rung& rung) {
    report_.trials.push_back({rung.choice, rung.why, "", "", 0, relative(residual_norm_), 0, 0});
    try {
      const Stopwatch setup;
      const auto& matrix = matrix_for(rung.choice);
      const auto preconditioner = solvers::preconditioner(rung.choice.preconditioner).make(matrix, sum_, {});
      trial().setup_seconds = setup.seconds();
      report_.seconds.setup += setup.seconds();
      for (const std::string& note : preconditioner.notes) add_event("note", note);
      if (stopped()) {
        trial().outcome = name_of(solvers::Stop::interrupted);
      } else {
        while (iterate(rung, matrix, *preconditioner.op)) {
        }
      }
    } catch (const Error& error) {
      if (!error.agreed()) throw;
      trial().outcome = "failed";
      trial().reason = error.what();
      add_event("failure", fmt::format("{}: {}", describe(rung.choice), error.what()));
      residual_norm_ = verified_residual(x_);
    }
    trial().relative_residual = relative(residual_norm_);
  }

  /// Solves A d = r for a correction d of the best x. True if the same rung should run again.
  bool iterate(const Rung& rung, const sparse::DistributedMatrix& matrix,
               const sparse::LinearOperator& preconditioner) {
    const Stopwatch watch;
    const double before = residual_norm_;
    solvers::fill(correction_, 0);
    const auto result = run_method(rung.choice, matrix, preconditioner);
    trial().iterations += result.iterations;
    report_.iterations += result.iterations;
    trial().solve_seconds += watch.seconds();
    report_.seconds.solve += watch.seconds();
    accept_if_better();
    trial().outcome = name_of(result.stop);
    trial().reason = result.reason;
    if (residual_norm_ < before) {
      report_.choice = rung.choice;
      report_.why = rung.why;
    }
    return judge(rung, result, before);
  }

  solvers::MethodResult run_method(const Choice& choice, const sparse::DistributedMatrix& matrix,
                                   const sparse::LinearOperator& preconditioner) {
    const NestedTime nested(matrix, sum_);
    const TimedOperator timed_preconditioner(preconditioner, report_.seconds.preconditioner, nested);
    const auto orthogonalize = choice.orthogonalization.empty()
                                   ? solvers::Orthogonalize()
                                   : timed(solvers::orthogonalization(choice.orthogonalization),
                                           report_.seconds.orthogonalization, nested);
    solvers::MethodOptions method_options;
    method_options.target = options_.rtol * system_->b_norm();
    method_options.restart = std::max(choice.restart, 1);
    method_options.max_iterations = iterations_left();
    const std::int64_t done_before = report_.iterations;
    const auto progress = [&](int iteration, double residual_norm) {
      if (hooks_.progress) hooks_.progress(choice, done_before + iteration, relative(residual_norm));
    };
    const Clocks start(matrix, sum_);
    auto result = solvers::method(choice.method)
                      .solve({matrix, timed_preconditioner, residual_, sum_}, correction_, method_options,
                             orthogonalize, progress);
    const Clocks end(matrix, sum_);
    report_.seconds.spmv += (end.product - start.product) - (end.halo - start.halo);
    report_.seconds.halo += end.halo - start.halo;
    report_.seconds.reduction += end.reduction - start.reduction;
    return result;
  }

  int iterations_left() const {
    constexpr std::int64_t no_limit = std::numeric_limits<int>::max();
    const std::int64_t left =
        options_.max_iterations > 0 ? options_.max_iterations - report_.iterations : no_limit;
    return static_cast<int>(std::min(left, no_limit));
  }

  /// Takes x + correction if its true residual is smaller; residual_ is then that of x in either case.
  void accept_if_better() {
    solvers::copy(x_, candidate_);
    solvers::axpy(1, correction_, candidate_);
    const double norm = verified_residual(candidate_);
    if (norm < residual_norm_) {
      solvers::copy(candidate_, x_);
      residual_norm_ = norm;
    } else {
      residual_norm_ = verified_residual(x_);
    }
  }

  /// Puts what happened into events; true if the same rung should go on.
  bool judge(const Rung& rung, const solvers::MethodResult& result, double before) {
    const std::string who = describe(rung.choice);
    const double reached = relative(residual_norm_);
    switch (result.stop) {
      case solvers::Stop::converged:
        if (converged()) return false;
        add_event("false-convergence",
                  fmt::format("{} claimed a relative residual of {:.1e}; the true one is {:.1e}", who,
                              relative(result.residual_norm), reached));
        return residual_norm_ < 0.5 * before && !done();
      case solvers::Stop::stagnated:
        add_event("stagnation", fmt::format("{} stagnated at {:.1e}: {}", who, reached, result.reason));
        return false;
      case solvers::Stop::breakdown:
        add_event("breakdown", fmt::format("{} broke down at {:.1e}: {}", who, reached, result.reason));
        return false;
      case solvers::Stop::interrupted:
        stopped_ = true;
        return false;
      case solvers::Stop::max_iterations:
        return false;
    }
    return false;
  }

  double relative(double norm) const { return system_->b_norm() > 0 ? norm / system_->b_norm() : norm; }
  Trial& trial() { return report_.trials.back(); }

  /// Collective.
  Status status() const {
    if (converged()) return Status::converged;
    if (!stopped_) return Status::not_converged;
    return comm_.any(out_of_time()) ? Status::time_limit : Status::interrupted;
  }

  void finish() {
    verify_what_is_handed_back();
    report_.status = status();
    if (report_.status == Status::interrupted || report_.status == Status::time_limit) {
      add_event("stopped", fmt::format("{} at {:.1e}; x is the best so far", name_of(report_.status),
                                       relative(residual_norm_)));
    }
    report_.relative_residual = relative(residual_norm_);
    report_.reductions = sum_.count();
    const auto& plan = system_->parts()->plan;
    report_.halo_messages = comm_.allreduce(plan.messages(), comm::ReduceOp::sum);
    report_.halo_bytes = comm_.allreduce(plan.bytes_sent(), comm::ReduceOp::sum);
    report_.seconds.total = watch_.seconds();
    average_over_ranks(report_.seconds);
  }

  /// x returns to the scale of A x = b, which may cost it digits where that scale is at the border of the
  /// range of double; the residual reported is that of the x that is left.
  void verify_what_is_handed_back() {
    system_->to_original(x_);
    if (comm_.any(!std::isfinite(solvers::local_max_abs(x_)))) {
      solvers::fill(x_, 0);
      add_event("failure", "the solution exceeds the range of double precision: scale the system");
    }
    solvers::copy(x_, candidate_);
    system_->to_scaled(candidate_);
    residual_norm_ = verified_residual(candidate_);
    const double magnitude =
        report_.facts.norm_infinity * solvers::norm(sum_, candidate_) + system_->b_norm();
    report_.backward_error = magnitude > 0 ? residual_norm_ / magnitude : 0;
  }

  void average_over_ranks(PhaseSeconds& s) const {
    const std::array<double*, 10> fields{
        &s.total, &s.setup, &s.tuning,         &s.verification,      &s.solve,
        &s.spmv,  &s.halo,  &s.preconditioner, &s.orthogonalization, &s.reduction};
    std::array<double, 10> values{};
    std::ranges::transform(fields, values.begin(), [](const double* field) { return *field; });
    comm_.allreduce(std::span<double>(values), comm::ReduceOp::sum);
    for (std::size_t i = 0; i < fields.size(); ++i) *fields[i] = values[i] / comm_.size();
  }

  const comm::Comm& comm_;
  Vector x_;
  const SolveOptions& options_;
  const SolveHooks& hooks_;
  Stopwatch watch_;
  GlobalSum sum_;
  std::optional<ScaledSystem> system_;
  std::vector<Rung> ladder_;
  SolveReport report_;
  std::optional<sparse::DistributedMatrix> matrix_;
  std::string matrix_kernel_;
  std::string matrix_halo_;
  double residual_norm_ = 0;
  bool stopped_ = false;
  Array<double> residual_;    ///< b - A x of the scaled system
  Array<double> correction_;  ///< d of A d = residual_
  Array<double> candidate_;   ///< x + d
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
