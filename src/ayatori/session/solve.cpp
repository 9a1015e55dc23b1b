#include "ayatori/session/solve.hpp"

#include <omp.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "ayatori/base/memory.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::session {

namespace {

/// Collective.
ReplayedAs replayed_as(const Session& session, const Problem& problem, const SolveRequest& request) {
  ReplayedAs as{session.world.size(),
                session.threads,
                request.partition,
                {},
                session.collectives.files,
                session.comm.any(!problem.coordinates.empty()),
                session.comm.any(!problem.near_null_space.empty()),
                session.comm.any(!problem.fields.empty())};
  if (problem.placement && problem.placement->moves) as.rank_of_part = problem.placement->order.rank_of_part;
  return as;
}

}  // namespace

Solver::Solver(const Session& session, std::shared_ptr<const Problem> problem, SolveRequest request)
    : session_(session),
      problem_(std::move(problem)),
      request_(std::move(request)),
      options_(comm::agree(session.comm, [&] { return tuning_options(request_); })),
      row_numbers_(problem_->row_numbers(session.comm)),
      coordinates_(problem_->coordinates),
      near_null_space_(problem_->near_null_space),
      fields_(problem_->fields),
      as_(replayed_as(session, *problem_, request_)) {
  options_.profile = session.machine.profile;
  options_.preconditioner.coordinates = coordinates_;
  options_.preconditioner.near_null_space = near_null_space_;
  options_.preconditioner.fields = fields_;
  options_.row_numbers = row_numbers_;
  const int offered = session.threads;
  const bool may_race = request_.replay.empty() && !request_.deterministic;
  race_ = may_race ? tuning::race_threads(session.comm, *problem_->parts)
                   : tuning::ThreadRace{.offered = offered, .threads = offered, .entries = {}};
}

/// Collective. Of the matrix. Where the problem has none, it is 0 unless an option goes by it.
sparse::Fingerprint Solver::fingerprint_of_matrix() const {
  if (problem_->fingerprint) return *problem_->fingerprint;
  const bool is_wanted = request_.knowledge != "none" || !request_.replay.empty() ||
                         !request_.resume.empty() || !request_.checkpoint.empty();
  return is_wanted ? sparse::fingerprint(session_.comm, *problem_->parts) : sparse::Fingerprint{};
}

/// Collective. Of a system with this right-hand side.
SystemIdentity Solver::identity_of(solvers::ConstVector b) const {
  const auto first = problem_->file_rows.range(session_.comm.rank()).begin;
  Array<double> of_file;
  if (problem_->permutation) of_file = problem_->to_file(session_.comm, Array<double>(b.begin(), b.end()));
  const auto rhs = problem_->permutation ? std::span<const double>(of_file) : b;
  return {fingerprint_of_matrix(), sparse::fingerprint(session_.comm, rhs, first), options_.rtol};
}

/// Collective. What the request resumes. The file of its own checkpoints may be missing: then nobody has
/// written it yet.
std::optional<Resumed> Solver::find_resumed(const SystemIdentity& system) const {
  const auto& comm = session_.comm;
  if (request_.resume.empty()) return std::nullopt;
  const bool is_missing = comm::agree(comm, [&] {
    std::error_code error;
    return comm.rank() == 0 && !request_.checkpoint.empty() &&
           same_file(request_.resume, request_.checkpoint) &&
           !std::filesystem::exists(request_.resume, error);
  });
  if (comm.any(is_missing)) return std::nullopt;
  return resume(comm, request_.resume, *problem_, system);
}

/// Collective. Makes the tuner's solver: by what is resumed, replayed or known.
void Solver::prepare(const SystemIdentity& system) {
  const auto& comm = session_.comm;
  resumed_ = find_resumed(system);
  if (resumed_) begin_with(*resumed_, options_);
  if (!request_.replay.empty()) {
    const auto replay = load_replay(comm, request_.replay, system, as_);
    race_.threads = replay.threads;
    options_.replay = replay.script;
    options_.rtol = replay.rtol;
  }
  knowledge_.emplace(comm, options_.replay ? "none" : request_.knowledge, system.matrix,
                     problem_->source.name,
                     tuning::Situation{"", comm.size(), session_.threads, options_.rtol});
  if (knowledge_->in_use() && !resumed_)
    options_.recall = [this](const tuning::MatrixFacts& facts) { return knowledge_->recall(facts); };
  solver_.emplace(comm, problem_->parts, options_);
}

tuning::SolveHooks Solver::tuner_hooks(const SolveHooks& hooks, tuning::History& history) const {
  return {.progress =
              [&](const tuning::Choice& choice, std::int64_t iteration, double residual) {
                history.add(choice, iteration, residual);
                if (hooks.progress) hooks.progress(choice, iteration, residual);
              },
          .event = hooks.event,
          .wants_stop = hooks.wants_stop,
          .snapshot = {},
          .clock = {}};
}

/// Rank 0 keeps what a solve has taught.
void Solver::learn(const tuning::SolveReport& report) {
  const ScopedTimer timer(learning_seconds_);
  if (knowledge_->in_use() && is_first_matrix_ && !resumed_ && session_.comm.rank() == 0)
    knowledge_->store(report, options_.forced);
}

SolveRun Solver::solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks) {
  const Stopwatch total;
  const auto& comm = session_.comm;
  auto system = identity_of(b);
  if (!solver_) prepare(system);
  system.rtol = options_.rtol;
  omp_set_num_threads(race_.threads);
  const bool is_resumed = resumed_ && solver_->reuse().solves == 0;
  if (is_resumed) solvers::copy(resumed_->x, x);

  tuning::History history;
  auto tuner = tuner_hooks(hooks, history);
  std::optional<CheckpointWriter> checkpoints;
  if (!request_.checkpoint.empty()) {
    checkpoints.emplace(comm, *problem_, request_.checkpoint, system, is_resumed ? &*resumed_ : nullptr,
                        hooks.uninterrupted);
    tuner.snapshot = [&](const tuning::Snapshot& snapshot) {
      checkpoints->write(snapshot);
      if (comm.rank() == 0 && hooks.note && !checkpoints->failure().empty())
        hooks.note("no checkpoint: " + checkpoints->failure());
    };
    tuner.seconds_between_snapshots = request_.every.value_or(tuner.seconds_between_snapshots);
  }
  auto report = solver_->solve(b, x, tuner);
  learn(report);
  if (comm.rank() == 0 && hooks.note)
    for (const auto& note : knowledge_->take_notes()) hooks.note(note);

  SolveRun run{.report = std::move(report),
               .reuse = solver_->reuse(),
               .source = problem_->source,
               .rtol = options_.rtol,
               .ranks = comm.size(),
               .threads = max_threads(),
               .thread_race = race_,
               .load = session_.load,
               .partition = request_.partition,
               .placement = problem_->placement,
               .machine = session_.machine.profile,
               .profile = session_.machine.description,
               .machine_seconds = session_.machine.measuring_seconds,
               .collectives = {},
               .replayed = request_.replay,
               .system = system,
               .as = as_,
               .resumed = is_resumed ? to_json(*resumed_) : nullptr,
               .checkpoint = checkpoints ? to_json(*checkpoints) : nullptr,
               .history = std::move(history),
               .write_seconds = std::exchange(learning_seconds_, 0),
               .true_error = {}};
  run.knowledge = knowledge_->to_json();
  run.experience = knowledge_->summary(run.report);
  if (const auto& found = session_.collectives; found.scheduled)
    run.collectives = {found.files, found.scheduled->calls(), found.scheduled->uses(),
                       found.scheduled->can_copy_once(session_.world)};
  const auto peak = peak_memory();
  run.memory = {comm.allreduce(peak, comm::ReduceOp::max), comm.allreduce(peak, comm::ReduceOp::sum)};
  run.total_seconds = total.seconds();
  return run;
}

std::vector<tuning::SolveReport> Solver::solve(std::span<const solvers::ConstVector> b,
                                               std::span<const solvers::Vector> x, int most_at_once,
                                               const SolveHooks& hooks) {
  if (b.empty()) return {};
  if (!solver_) prepare(identity_of(b.front()));
  omp_set_num_threads(race_.threads);
  tuning::History history;
  auto reports = solver_->solve(b, x, most_at_once, tuner_hooks(hooks, history));
  for (const auto& report : reports)
    if (report.together == 1) learn(report);
  return reports;
}

void Solver::set_goal(double rtol, std::int64_t max_iterations) {
  request_.rtol = options_.rtol = rtol;
  request_.max_iterations = options_.max_iterations = max_iterations;
  if (solver_) solver_->set_goal(rtol, max_iterations);
}

void Solver::update(std::shared_ptr<const Problem> problem) {
  problem_ = std::move(problem);
  is_first_matrix_ = is_first_matrix_ && !solver_;
  if (solver_) solver_->update(problem_->parts);
}

SolveRun solve(const Session& session, std::shared_ptr<const Problem> problem, solvers::ConstVector b,
               solvers::Vector x, const SolveRequest& request, const SolveHooks& hooks) {
  comm::agree(session.comm, [&] {
    if (session.comm.rank() == 0) check(request);
  });
  return Solver(session, std::move(problem), request).solve(b, x, hooks);
}

}  // namespace ayatori::session
