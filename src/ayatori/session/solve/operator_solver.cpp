#include "ayatori/session/solve/operator_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/session/solve/same_request.hpp"
#include "ayatori/solvers/certified_solve.hpp"
#include "ayatori/solvers/complex_linear.hpp"
#include "ayatori/solvers/identity.hpp"

namespace ayatori::session {

namespace {

/// Options that would decide nothing.
constexpr std::array<std::string_view, 13> without_meaning{
    "exclude", "kernel",     "halo",  "partition", "placement",    "network", "replay",
    "resume",  "checkpoint", "every", "use-ranks", "tuning-share", "device"};

/// "auto" as what it stands for. Throws InputError.
SolveRequest decided(SolveRequest request, bool has_matrix, bool has_preconditioner) {
  if (request.method == "auto") request.method = has_preconditioner ? "fgmres" : "gmres";
  if (has_preconditioner) {
    if (request.preconditioner != "auto")
      throw InputError(
          fmt::format("--preconditioner {}: another one is given already", request.preconditioner));
    request.preconditioner = "none";
  }
  const auto& method = solvers::method(request.method);
  if (request.preconditioner == "auto")
    request.preconditioner = !has_matrix ? "none" : method.needs_symmetric_preconditioner ? "ic" : "ilu";
  check(request);
  const auto& preconditioner = solvers::preconditioner(request.preconditioner);
  if (!has_matrix && request.preconditioner != "none")
    throw InputError(fmt::format("--preconditioner {} is made of a matrix: give one near the operator",
                                 request.preconditioner));
  if (method.needs_symmetric_preconditioner && !preconditioner.symmetric && !has_preconditioner)
    throw InputError(fmt::format("--method {} wants a symmetric preconditioner, which {} is not",
                                 request.method, request.preconditioner));
  for (const auto& option : solve_options()) {
    if (std::ranges::find(without_meaning, option.name) != without_meaning.end() && is_given(option, request))
      throw InputError(fmt::format(
          "--{} has no meaning with {}", option.name,
          has_preconditioner ? "a preconditioner of one's own" : "an operator, where nothing is tuned"));
  }
  return request;
}

/// Why it goes no further.
struct End {
  bool asked = false;    ///< by the application
  bool is_late = false;  ///< by the limit of time
};

tuning::Status status_of(const solvers::CertifiedResult& result, const End& end) {
  if (result.is_proved) return tuning::Status::converged;
  if (end.asked) return tuning::Status::interrupted;
  return end.is_late ? tuning::Status::time_limit : tuning::Status::not_converged;
}

std::string reason_of(const solvers::CertifiedResult& result) {
  if (result.is_proved) return {};
  if (!std::isfinite(result.residual.value)) return "a product of the operator is not finite";
  if (result.last.stop == solvers::Stop::converged)
    return "the method believes that it has converged, and the true residual shrinks no further";
  return std::string(name_of(result.last.stop)) +
         (result.last.reason.empty() ? "" : ": " + result.last.reason);
}

}  // namespace

std::string summary(const OperatorRun& run) {
  std::string text =
      fmt::format("{}: {} with {}, {} iterations in {:.3f} s, relative residual {:.2e} (tolerance {:.1e})\n",
                  name_of(run.status), run.method, run.preconditioner, run.iterations, run.total_seconds,
                  run.relative_residual, run.rtol);
  if (!run.reason.empty()) text += run.reason + "\n";
  for (const auto& note : run.notes) text += note + "\n";
  return text;
}

nlohmann::ordered_json to_json(const OperatorRun& run) {
  const auto finite = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  return {{"schema", "ayatori.operator-solve/1"},
          {"version", version},
          {"status", name_of(run.status)},
          {"converged", run.converged()},
          {"method", run.method},
          {"preconditioner", run.preconditioner},
          {"reason", run.reason},
          {"notes", run.notes},
          {"iterations", run.iterations},
          {"rtol", run.rtol},
          {"relative_residual", finite(run.relative_residual)},
          {"residual_error_bound", finite(run.residual_error_bound)},
          {"ranks", run.ranks},
          {"threads", run.threads},
          {"seconds", {{"setup", run.setup_seconds}, {"total", run.total_seconds}}}};
}

OperatorSolver::OperatorSolver(comm::Comm comm, const sparse::LinearOperator& a,
                               std::shared_ptr<const sparse::SplitMatrix> near, const SolveRequest& request,
                               const sparse::LinearOperator* preconditioner, bool is_complex)
    : comm_(std::move(comm)), a_(a), given_(preconditioner), is_complex_(is_complex) {
  comm::agree(comm_, [&] {
    request_ = decided(request, near != nullptr, given_ != nullptr);
    if (given_ != nullptr && given_->local_size() != a.local_size())
      throw InputError(fmt::format("the operator has {} rows on this rank, the preconditioner {}",
                                   a.local_size(), given_->local_size()));
    if (near && near->plan.local_size != a.local_size())
      throw InputError(fmt::format("the operator has {} rows on this rank, the matrix {}", a.local_size(),
                                   near->plan.local_size));
  });
  check_same(comm_, request);
  if (near) near_.emplace(comm_, std::move(near));
}

/// Collective. The preconditioner for this many threads.
void OperatorSolver::prepare(const solvers::GlobalSum& sum, int threads) {
  if (!near_ || request_.preconditioner == "none") return;
  if (comm_.any(threads != threads_)) preconditioner_.reset();
  threads_ = threads;
  if (preconditioner_) return;
  auto options = tuning_options(request_).preconditioner;
  options.matrix_is_complex = is_complex_;
  preconditioner_ = solvers::preconditioner(request_.preconditioner).make(*near_, sum, options);
  is_complex_ = is_complex_ && solvers::is_complex_linear(sum, *preconditioner_->op);
}

solvers::ResidualFunction OperatorSolver::residual_of(const solvers::System& system) const {
  const auto* const matrix = dynamic_cast<const sparse::DistributedMatrix*>(&a_);
  return matrix != nullptr ? residual_by_entries(comm_, matrix->parts(), system.b)
                           : residual_by_product(system);
}

Verified OperatorSolver::verify(solvers::ConstVector b, solvers::ConstVector x) const {
  const CallThreads threads(comm_, request_.threads);
  const solvers::GlobalSum sum(comm_);
  const solvers::Identity identity(a_.local_size());
  const solvers::System system{a_, identity, b, sum};
  return session::verify(sum, residual_of(system), b, x, request_.rtol);
}

OperatorRun OperatorSolver::solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks) {
  const double begin = wall_time();
  const auto finite = [](double element) { return std::isfinite(element); };
  comm::agree(comm_, [&] {
    const auto rows = static_cast<std::size_t>(a_.local_size());
    if (b.size() != rows || x.size() != rows)
      throw InputError(
          fmt::format("b has {} elements and x has {}, but there are {} rows", b.size(), x.size(), rows));
    if (!std::ranges::all_of(b, finite)) throw InputError("b is not finite");
    if (!std::ranges::all_of(x, finite)) throw InputError("the starting guess is not finite");
  });
  const CallThreads threads(comm_, request_.threads);
  End end;
  const solvers::GlobalSum sum(comm_, [&] {
    end.asked = end.asked || (hooks.wants_stop && hooks.wants_stop());
    end.is_late = request_.time_limit > 0 && wall_time() - begin > request_.time_limit;
    return end.asked || end.is_late;
  });
  OperatorRun run{.method = request_.method,
                  .preconditioner = given_ != nullptr ? "given" : request_.preconditioner,
                  .rtol = request_.rtol,
                  .ranks = comm_.size(),
                  .threads = threads.threads()};
  prepare(sum, threads.threads());
  run.setup_seconds = wall_time() - begin;
  if (preconditioner_) run.notes = preconditioner_->notes;

  const auto& method = solvers::method(request_.method);
  const solvers::Identity identity(a_.local_size());
  const sparse::LinearOperator& m = given_ != nullptr ? *given_
                                    : preconditioner_ ? *preconditioner_->op
                                                      : static_cast<const sparse::LinearOperator&>(identity);
  const solvers::System system{a_, m, b, sum, is_complex_};
  const auto tolerance = solvers::make_tolerance(sum, b, request_.rtol, 0);
  if (tolerance.b_norm == 0) {  // no bound of a computed residual is as small as its limit
    solvers::fill(x, 0);
    run.status = tuning::Status::converged;
    run.relative_residual = 0;
    run.total_seconds = wall_time() - begin;
    return run;
  }
  const auto options = tuning_options(request_);
  solvers::MethodOptions limits;
  const std::int64_t most = std::numeric_limits<int>::max();
  limits.max_iterations =
      static_cast<int>(request_.max_iterations > 0 ? std::min(request_.max_iterations, most) : most);
  limits.restart = options.forced.restart.value_or(limits.restart);
  const auto& orthogonalization =
      solvers::orthogonalization(options.forced.orthogonalization.value_or("ircgs"));
  const tuning::Choice choice{
      .method = request_.method,
      .preconditioner = run.preconditioner,
      .restart = method.restarts ? limits.restart : 0,
      .orthogonalization = std::string(method.restarts ? orthogonalization.name : "")};
  std::int64_t before = 0;
  std::int64_t last = 0;
  const auto progress = [&](int iteration, double norm) {
    if (before + iteration <= last) before = last;  // another run from the x reached
    last = before + iteration;
    if (hooks.progress) hooks.progress(choice, last, norm / tolerance.unit / tolerance.b_norm);
    return true;
  };
  const auto result = solvers::solve_certified(method, system, x, residual_of(system), tolerance, limits,
                                               orthogonalization.apply, progress);
  end = {comm_.any(end.asked), comm_.any(end.is_late)};
  run.status = status_of(result, end);
  run.reason = reason_of(result);
  run.iterations = result.iterations;
  run.relative_residual = result.residual.value / tolerance.b_norm;
  run.residual_error_bound = result.residual.error_bound / tolerance.b_norm;
  run.total_seconds = wall_time() - begin;
  return run;
}

}  // namespace ayatori::session
