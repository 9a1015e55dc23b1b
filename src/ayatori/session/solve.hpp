#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/session/problem/problem.hpp"
#include "ayatori/session/solve/checkpoint.hpp"
#include "ayatori/session/solve/replay.hpp"
#include "ayatori/session/solve/solve_knowledge.hpp"
#include "ayatori/session/solve/solve_request.hpp"
#include "ayatori/session/solve/solve_run.hpp"

namespace ayatori::session {

/// What a caller may want to see or say while a solve runs, beside what the tuner's hooks let him.
struct SolveHooks {
  std::function<void(const tuning::Choice& choice, std::int64_t iteration, double relative_residual)>
      progress;
  std::function<void(const tuning::Event& event)> event;
  std::function<bool()> wants_stop;  ///< polled in every reduction; one rank's wish stops all
  /// Told on rank 0 what goes wrong and does not stop the solve, a line each time.
  std::function<void(const std::string& line)> note;
  /// Collective. Runs `write`, which writes a file: keeps signals away meanwhile, for example.
  Uninterrupted uninterrupted;
};

/// Solves of one matrix as a request says, one after the other: knowledge, race of threads, replay,
/// checkpoints, and the tuner behind it, whose set-ups serve the next solve.
class Solver {
 public:
  /// Collective. `request` has passed check(); the session outlives this. Where the threads are not those of
  /// a replay they are raced for. Throws InputError, agreed.
  Solver(const Session& session, std::shared_ptr<const Problem> problem, SolveRequest request);

  /// Collective. x holds a starting guess, but where the request resumes a solve, and at the end the best x
  /// found, both in the solver's numbering. The result lacks what only the caller knows: the name of b, what
  /// reading took, and where x was written. Throws InputError, agreed.
  SolveRun solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks = {});

  /// Collective. Solves for several right-hand sides, up to `most_at_once` at a time; there are as many
  /// reports as were begun before a stop.
  std::vector<tuning::SolveReport> solve(std::span<const solvers::ConstVector> b,
                                         std::span<const solvers::Vector> x, int most_at_once,
                                         const SolveHooks& hooks = {});

  /// Collective. Another matrix, spread as before, from now on.
  void update(std::shared_ptr<const Problem> problem);

  /// Sets the goal of the solves from now on, as in SolveRequest; the same on all ranks.
  void set_goal(double rtol, std::int64_t max_iterations);

  /// Threads of this rank that won the race.
  int threads() const { return race_.threads; }
  tuning::Reuse reuse() const { return solver_ ? solver_->reuse() : tuning::Reuse(); }

 private:
  tuning::SolveHooks tuner_hooks(const SolveHooks& hooks, tuning::History& history) const;
  void prepare(const SystemIdentity& system);
  sparse::Fingerprint fingerprint_of_matrix() const;
  SystemIdentity identity_of(solvers::ConstVector b) const;
  std::optional<Resumed> find_resumed(const SystemIdentity& system) const;
  void learn(const tuning::SolveReport& report);

  const Session& session_;
  std::shared_ptr<const Problem> problem_;
  SolveRequest request_;
  tuning::SolveOptions options_;
  Array<std::int64_t> row_numbers_;  ///< that options_ refers to, as to these:
  Array<double> coordinates_;
  Array<double> near_null_space_;
  Array<double> fields_;
  tuning::ThreadRace race_;
  ReplayedAs as_;
  std::optional<Resumed> resumed_;
  std::optional<SolveKnowledge> knowledge_;
  std::optional<tuning::Solver> solver_;  ///< made by the first solve
  bool is_first_matrix_ = true;           ///< what is learned is of that
  double learning_seconds_ = 0;
};

/// Collective. One solve. See Solver.
SolveRun solve(const Session& session, std::shared_ptr<const Problem> problem, solvers::ConstVector b,
               solvers::Vector x, const SolveRequest& request = {}, const SolveHooks& hooks = {});

}  // namespace ayatori::session
