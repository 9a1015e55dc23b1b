#include "ayatori/session/solve/matrix_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/session/solve/same_request.hpp"

namespace ayatori::session {

namespace {

/// Collective. Of every rank, and that they ask for the same.
void check_on_all(const comm::Comm& comm, const SolveRequest& request) {
  comm::agree(comm, [&] {
    auto own = request;
    if (comm.rank() != 0) own.checkpoint.clear();  // its file is rank 0's
    if (comm.rank() != 0) own.every.reset();
    check(own);
  });
  check_same(comm, request);
}

/// Collective. The session of a request that is found good.
Session begin(const comm::Comm& comm, const SolveRequest& request, FoundProfile machine) {
  check_on_all(comm, request);
  const CallThreads threads(comm, request.threads);
  return begin_session(comm, threads.threads(), std::move(machine), request.collectives);
}

io::SourceFacts facts_in_memory(const RowFacts& known) {
  return {.name = "memory", .format = "memory", .is_complex = known.is_complex};
}

std::int64_t rows_of(const sparse::RowBlock& rows) {
  return rows.rows();
}
std::int64_t rows_of(const sparse::SplitMatrix& parts) {
  return parts.plan.local_size;
}

}  // namespace

MatrixSolver::MatrixSolver(const comm::Comm& comm, sparse::RowBlock rows, SolveRequest request,
                           FoundProfile machine, RowFacts known)
    : comm_(comm),
      request_(std::move(request)),
      known_(std::move(known)),
      session_(begin(comm_, request_, std::move(machine))),
      problem_(make_problem(std::move(rows))) {}

MatrixSolver::MatrixSolver(const comm::Comm& comm, sparse::SplitMatrix parts, SolveRequest request,
                           FoundProfile machine, RowFacts known)
    : comm_(comm),
      request_(std::move(request)),
      known_(std::move(known)),
      session_(begin(comm_, request_, std::move(machine))),
      problem_(make_problem(std::move(parts))) {}

Problem MatrixSolver::spread(sparse::RowBlock rows) const {
  return spread_problem(session_, {std::move(rows), facts_in_memory(known_)}, request_);
}

Problem MatrixSolver::spread(sparse::SplitMatrix parts) const {
  return keep_problem(session_, facts_in_memory(known_), std::move(parts), request_);
}

template <class Rows>
std::shared_ptr<const Problem> MatrixSolver::make_problem(Rows rows) const {
  const CallThreads threads(comm_, request_.threads);
  const auto local_rows = static_cast<std::size_t>(rows_of(rows));
  comm::agree(comm_, [&] {
    if (known_.is_complex && local_rows % 2 != 0)
      throw InputError("the rows of a complex matrix come in pairs, which stay on one rank");
  });
  auto problem = spread(std::move(rows));
  const auto adopt = [&](const std::vector<double>& values, Array<double>& into, auto&& check) {
    if (!comm_.any(!values.empty())) return;
    comm::agree(comm_, [&] {
      if (problem.permutation)
        throw InputError(
            "coordinates, fields and a near null space are of rows that stay where they are: not with "
            "partition or placement");
      check();
      into.assign(values.begin(), values.end());
    });
  };
  adopt(known_.coordinates, problem.coordinates, [&] {
    if (known_.coordinates.size() != 3 * local_rows)
      throw InputError("coordinates are for two or three rows per node, on every rank");
  });
  adopt(known_.fields, problem.fields, [&] {
    if (known_.fields.size() != local_rows)
      throw InputError(fmt::format("fields has {} elements for {} rows", known_.fields.size(), local_rows));
  });
  adopt(known_.near_null_space, problem.near_null_space, [&] {
    const auto values = known_.near_null_space.size();
    if (local_rows == 0 ? values != 0 : values % local_rows != 0)
      throw InputError(fmt::format("the near null space has {} values for {} rows",
                                   known_.near_null_space.size(), local_rows));
  });
  return std::make_shared<const Problem>(std::move(problem));
}

Verified MatrixSolver::verify(solvers::ConstVector b, solvers::ConstVector x) const {
  comm::agree(comm_, [&] {
    const auto rows = static_cast<std::size_t>(local_rows());
    if (b.size() != rows || x.size() != rows)
      throw InputError(
          fmt::format("b has {} elements and x has {}, but there are {} rows", b.size(), x.size(), rows));
  });
  const CallThreads threads(comm_, request_.threads);
  const solvers::GlobalSum sum(comm_);
  if (!problem_->permutation)
    return session::verify(sum, residual_by_entries(comm_, *problem_->parts, b), b, x, request_.rtol);
  const auto own_b = problem_->to_solver(comm_, Array<double>(b.begin(), b.end()));
  const auto own_x = problem_->to_solver(comm_, Array<double>(x.begin(), x.end()));
  return session::verify(sum, residual_by_entries(comm_, *problem_->parts, own_b), own_b, own_x,
                         request_.rtol);
}

void MatrixSolver::update(sparse::RowBlock rows) {
  replace(make_problem(std::move(rows)));
}

void MatrixSolver::update(sparse::SplitMatrix parts) {
  replace(make_problem(std::move(parts)));
}

/// Collective.
void MatrixSolver::replace(std::shared_ptr<const Problem> problem) {
  comm::agree(comm_, [&] {
    if (problem->file_rows != problem_->file_rows)
      throw InputError(
          fmt::format("the new matrix has {} rows, the old one {}, or they are spread in another way",
                      problem->file_rows.rows(), this->rows()));
  });
  std::swap(problem_, problem);
  try {
    if (solver_) solver_->update(problem_);
  } catch (...) {
    solver_.reset();  // it may be half way
    std::swap(problem_, problem);
    throw;
  }
}

void MatrixSolver::change(SolveRequest request) {
  check_on_all(comm_, request);
  comm::agree(comm_, [&] {
    const auto of_matrix = [](const SolveRequest& r) {
      return std::tie(r.partition, r.placement, r.network, r.coordinates, r.fields, r.profile, r.collectives);
    };
    if (of_matrix(request) != of_matrix(request_))
      throw InputError(
          "partition, placement, network, coordinates, fields, profile and collectives are those that the "
          "matrix was "
          "given with: give it anew");
  });
  const bool is_goal_alone = std::ranges::all_of(solve_options(), [&](const auto& option) {
    return option.name == "rtol" || option.name == "max-iterations" ||
           value_of(option, request) == value_of(option, request_);
  });
  if (is_goal_alone) return set_goal(request.rtol, request.max_iterations);
  solver_.reset();
  request_ = std::move(request);
}

void MatrixSolver::set_goal(double rtol, std::int64_t max_iterations) {
  request_.rtol = rtol;
  request_.max_iterations = max_iterations;
  if (solver_) solver_->set_goal(rtol, max_iterations);
}

/// Collective. A solver for this many threads: set-ups are spread over them.
void MatrixSolver::prepare(int threads) {
  if (comm_.any(threads != session_.threads)) solver_.reset();
  session_.threads = threads;
  if (!solver_) solver_.emplace(session_, problem_, request_);
}

/// Collective. `solve()` with the threads of the request and a solver made for them, which goes where it
/// throws: what it keeps may be half made.
template <class Solve>
auto MatrixSolver::guarded(Solve&& solve) {
  const CallThreads threads(comm_, request_.threads);
  try {
    prepare(threads.threads());
    return solve();
  } catch (...) {
    solver_.reset();
    throw;
  }
}

SolveRun MatrixSolver::solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks) {
  comm::agree(comm_, [&] {
    const auto rows = static_cast<std::size_t>(local_rows());
    if (b.size() != rows || x.size() != rows)
      throw InputError(
          fmt::format("b has {} elements and x has {}, but there are {} rows", b.size(), x.size(), rows));
  });
  return guarded([&] {
    SolveRun run;
    if (problem_->permutation) {
      const auto own_b = problem_->to_solver(comm_, Array<double>(b.begin(), b.end()));
      auto own_x = problem_->to_solver(comm_, Array<double>(x.begin(), x.end()));
      run = solver_->solve(own_b, own_x, hooks);
      solvers::copy(problem_->to_file(comm_, std::move(own_x)), x);
    } else {
      run = solver_->solve(b, x, hooks);
    }
    run.rhs = "memory";
    return run;
  });
}

std::vector<tuning::SolveReport> MatrixSolver::solve(std::span<const solvers::ConstVector> b,
                                                     std::span<const solvers::Vector> x, int most_at_once,
                                                     const SolveHooks& hooks) {
  comm::agree(comm_, [&] {
    const auto rows = static_cast<std::size_t>(local_rows());
    if (b.size() != x.size() || most_at_once < 1)
      throw InputError(fmt::format("{} right-hand sides for {} solutions, {} at a time", b.size(), x.size(),
                                   most_at_once));
    for (std::size_t k = 0; k < b.size(); ++k)
      if (b[k].size() != rows || x[k].size() != rows)
        throw InputError(
            fmt::format("right-hand side {} has {} elements and its x has {}, but there are {} rows", k,
                        b[k].size(), x[k].size(), rows));
  });
  return guarded([&] {
    if (!problem_->permutation) return solver_->solve(b, x, most_at_once, hooks);
    std::vector<Array<double>> own_b;
    std::vector<Array<double>> own_x;
    for (std::size_t k = 0; k < b.size(); ++k) {
      own_b.push_back(problem_->to_solver(comm_, Array<double>(b[k].begin(), b[k].end())));
      own_x.push_back(problem_->to_solver(comm_, Array<double>(x[k].begin(), x[k].end())));
    }
    auto reports =
        solver_->solve(std::vector<solvers::ConstVector>(own_b.begin(), own_b.end()),
                       std::vector<solvers::Vector>(own_x.begin(), own_x.end()), most_at_once, hooks);
    for (std::size_t k = 0; k < b.size(); ++k)
      solvers::copy(problem_->to_file(comm_, std::move(own_x[k])), x[k]);
    return reports;
  });
}

}  // namespace ayatori::session
