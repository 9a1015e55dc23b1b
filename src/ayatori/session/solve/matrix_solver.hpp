#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/session/problem/row_facts.hpp"
#include "ayatori/session/session.hpp"
#include "ayatori/session/solve.hpp"
#include "ayatori/session/solve/verify.hpp"

namespace ayatori::session {

/// A matrix of an application, spread over the ranks of its communicator, and all that solves with it have
/// set up: what a face with rows in memory stands on. Vectors are the application's, in its numbering. Each
/// call uses the request's threads, and leaves OpenMP as it was.
class MatrixSolver {
 public:
  /// Collective. Throws InputError, agreed, also for a request that check() refuses.
  MatrixSolver(const comm::Comm& comm, sparse::RowBlock rows, SolveRequest request, FoundProfile machine = {},
               RowFacts known = {});

  /// Collective. The same of rows that are split, which stay with their ranks. Throws InputError, agreed,
  /// where the request would move them, too.
  MatrixSolver(const comm::Comm& comm, sparse::SplitMatrix parts, SolveRequest request,
               FoundProfile machine = {}, RowFacts known = {});

  /// Collective. Other values from now on; another pattern begins anew. Throws InputError, agreed, where the
  /// rows are not as many as before or spread in another way. Whatever it throws, the old matrix stays.
  void update(sparse::RowBlock rows);
  void update(sparse::SplitMatrix parts);

  /// Sets the goal of later solves, as in SolveRequest; the same on all ranks. What was set up serves on.
  void set_goal(double rtol, std::int64_t max_iterations);

  /// Collective. Solves as this request says from now on, the next one anew unless the goal is all that
  /// changes. Throws InputError, agreed, where it is refused by check(), or would spread the rows or do
  /// collective calls in another way.
  void change(SolveRequest request);

  /// Collective. x is the starting guess, and becomes the best x found. Throws InputError, agreed.
  SolveRun solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks = {});

  /// Collective. Solves for several right-hand sides, up to `most_at_once` at a time; there are as many
  /// reports as were begun before a stop. Throws InputError, agreed.
  std::vector<tuning::SolveReport> solve(std::span<const solvers::ConstVector> b,
                                         std::span<const solvers::Vector> x, int most_at_once,
                                         const SolveHooks& hooks = {});

  /// Collective. Whether this x, which may be anyone's, meets the tolerance of the request. Throws
  /// InputError, agreed.
  Verified verify(solvers::ConstVector b, solvers::ConstVector x) const;

  const comm::Comm& comm() const { return comm_; }
  const Problem& problem() const { return *problem_; }
  const SolveRequest& request() const { return request_; }
  std::int64_t rows() const { return problem_->file_rows.rows(); }
  std::int64_t local_rows() const { return problem_->file_rows.range(comm_.rank()).size(); }
  /// Reuse of set-ups by the solves so far; none before the first.
  std::optional<tuning::Reuse> reuse() const {
    return solver_ ? std::optional(solver_->reuse()) : std::nullopt;
  }

 private:
  Problem spread(sparse::RowBlock rows) const;
  Problem spread(sparse::SplitMatrix parts) const;
  template <class Rows>
  std::shared_ptr<const Problem> make_problem(Rows rows) const;
  void replace(std::shared_ptr<const Problem> problem);
  void prepare(int threads);
  template <class Solve>
  auto guarded(Solve&& solve);

  comm::Comm comm_;
  SolveRequest request_;
  RowFacts known_;
  Session session_;
  std::shared_ptr<const Problem> problem_;
  std::optional<Solver> solver_;  ///< made by the first solve
};

}  // namespace ayatori::session
