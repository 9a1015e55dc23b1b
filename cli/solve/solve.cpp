#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/printable.hpp"
#include "ayatori/base/standard_output.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/session/solve.hpp"
#include "ayatori/session/terminal/terminal.hpp"
#include "cli/command.hpp"
#include "cli/hold_signals.hpp"
#include "cli/result_files.hpp"
#include "cli/solve/arguments.hpp"
#include "cli/solve/least_squares.hpp"
#include "cli/stderr_line.hpp"
#include "cli/stop_signal.hpp"

namespace ayatori::cli {

namespace {

/// ||x - solution|| / ||solution||
double relative_error(const comm::Comm& comm, const Array<double>& x, const Array<double>& solution) {
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[0] += (x[i] - solution[i]) * (x[i] - solution[i]);
    sums[1] += solution[i] * solution[i];
  }
  comm.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  return std::sqrt(sums[0] / sums[1]);
}

/// Rank 0's voice: progress, events, what goes wrong.
session::SolveHooks hooks(const comm::Comm& world, const StopSignal& stop, session::ProgressLine& line,
                          bool speaks) {
  const auto say = [&line, speaks](const std::string& text) {
    line.clear();
    if (speaks) fmt::print(stderr, "{}\n", text);
  };
  return {.progress = [&line](const tuning::Choice& choice, std::int64_t iteration,
                              double residual) { line.show(describe(choice), iteration, residual); },
          .event =
              [say](const tuning::Event& event) {
                say(fmt::format("[{:8.3f} s] {}", event.seconds, event.text));
              },
          .wants_stop = [&stop] { return stop.received(); },
          .note = say,
          .uninterrupted =
              [&world](const std::function<void()>& write) {
                const HoldSignals hold(world);
                write();
              }};
}

/// Collective. Writes an x of the solver's numbering, and gives the name of its file.
std::string save_x(ResultFiles& files, const std::string& path, const comm::Comm& comm,
                   const session::Problem& problem, Array<double> x) {
  const auto in_file = problem.to_file(comm, std::move(x));
  return files.write_array(path, "x", in_file, [&](const comm::Comm& ranks, const auto& file, auto local) {
    const auto even =
        sparse::with_whole_pairs(sparse::RowPartition::even(problem.file_rows.rows(), ranks.size()));
    io::save_vector(ranks, file, local, ranks.size() == comm.size() ? problem.file_rows : even,
                    problem.source.is_complex);
  });
}

/// Collective. Writes what there is of all x, in the solver's numbering, as the columns of one array. Where
/// no solve has come to, the column is zero, which solves start from.
std::string save_columns(ResultFiles& files, const std::string& path, const comm::Comm& comm,
                         const session::Problem& problem, std::vector<Array<double>> columns) {
  std::vector<double> all;
  for (auto& x : columns) {
    x.resize(columns.back().size(), 0.0);
    const auto in_file = problem.to_file(comm, std::move(x));
    const auto column = comm.gatherv(std::span<const double>(in_file), 0);
    comm::agree(comm, [&] { all.insert(all.end(), column.values.begin(), column.values.end()); });
  }
  const bool is_complex = problem.source.is_complex;
  const auto rows = problem.file_rows.rows() / (is_complex ? 2 : 1);
  return files.write_array(path, "x", all, [&](const comm::Comm& ranks, const auto& file, auto values) {
    comm::agree(ranks, [&] {
      if (ranks.rank() == 0)
        io::write_matrix_market_array(comm::Comm::self(), file, values, rows, std::ssize(columns),
                                      is_complex);
    });
  });
}

/// Collective. Writes x, after those in `columns` if they go together, and the report.
void write_results(const comm::Comm& comm, const SolveArguments& arguments, const session::Problem& problem,
                   Array<double> x, std::vector<Array<double>> columns, session::SolveRun& run,
                   const Stopwatch& total, ResultFiles& files) {
  const HoldSignals hold(comm);
  if (!run.output.empty()) {
    const ScopedTimer timer(run.write_seconds);
    if (is_standard_output(run.output) && columns.size() > 1) {
      columns.back() = std::move(x);
      run.output = save_columns(files, run.output, comm, problem, std::move(columns));
    } else {
      run.output = save_x(files, run.output, comm, problem, std::move(x));
    }
  }
  run.total_seconds = total.seconds();
  if (!arguments.json.empty())
    files.write_text(arguments.json, "the report", [&] { return to_json(run).dump(2) + "\n"; });
}

bool has_stopped(tuning::Status status) {
  return status == tuning::Status::interrupted || status == tuning::Status::time_limit;
}

/// Collective. Solves for all right-hand sides but the last, which the solver has been through, as many at a
/// time as may be solved at once, and writes what is found, or puts it into `columns`.
std::vector<session::EarlierSolve> solve_others(const comm::Comm& comm, const SolveArguments& arguments,
                                                const session::Problem& problem, session::Solver& solver,
                                                int at_once, ResultFiles& files,
                                                std::vector<Array<double>>& columns,
                                                const session::SolveHooks& solve_hooks) {
  std::vector<session::EarlierSolve> solves;
  const std::size_t count = arguments.rhs.size() - 1;
  while (solves.size() < count) {
    const std::size_t first = solves.size();
    const std::size_t here = std::min<std::size_t>(at_once, count - first);
    std::vector<Array<double>> b;
    std::vector<Array<double>> x;
    for (std::size_t k = first; k < first + here; ++k) {
      b.push_back(session::make_right_hand_side(comm, problem, arguments.rhs[k]).b);
      comm::agree(comm, [&] { x.emplace_back(b.back().size(), 0.0); });
    }
    const auto reports = solver.solve(std::vector<solvers::ConstVector>(b.begin(), b.end()),
                                      std::vector<solvers::Vector>(x.begin(), x.end()), at_once, solve_hooks);
    for (std::size_t k = 0; k < reports.size(); ++k) {
      const auto& report = reports[k];
      std::string output = output_of(arguments, first + k);
      if (is_standard_output(output)) {
        columns[first + k] = std::move(x[k]);
      } else if (!output.empty()) {
        const HoldSignals hold(comm);
        output = save_x(files, output, comm, problem, std::move(x[k]));
      }
      solves.push_back(session::earlier_solve(arguments.rhs[first + k], report, output));
      if (has_stopped(report.status)) return solves;
    }
  }
  return solves;
}

int exit_status(const session::SolveRun& run) {
  const bool all = std::ranges::all_of(run.earlier, &session::EarlierSolve::converged);
  return all && run.report.converged() ? 0 : 1;
}

/// What there is to say before the solve.
void introduce(const session::Session& session) {
  const auto& [scheduled, files] = session.collectives;
  const int ranks = session.world.size();
  if (scheduled && !scheduled->table().has(ranks))
    fmt::print(stderr, "{}: no schedules for {} rank{}; the MPI's own collectives are used\n", files, ranks,
               ranks == 1 ? "" : "s");
  if (session.machine.description.starts_with("measured"))
    fmt::print(stderr, "the machine was {}\n", printable(session.machine.description));
}

/// Collective. Checks what was typed, and names every column of files of right-hand sides.
SolveArguments complete(const comm::Comm& world, SolveArguments arguments) {
  const auto check_on_0 = [&] {
    comm::agree(world, [&] {
      if (world.rank() == 0) check(arguments);
    });
  };
  check_on_0();
  const std::size_t typed = arguments.rhs.size();
  arguments.rhs = session::name_right_hand_sides(world, arguments.rhs);
  if (arguments.rhs.size() != typed) check_on_0();
  return arguments;
}

int run_solve(const comm::Comm& world, const SolveArguments& typed) {
  const Stopwatch total;
  const SolveArguments arguments = complete(world, typed);
  if (arguments.least_squares) return run_least_squares(world, arguments);
  const int at_once = comm::agree(world, [&] { return most_at_once(arguments); });
  const bool speaks = world.rank() == 0 && !arguments.quiet;
  const auto session = session::begin_session(world, session_options(arguments.request));
  if (speaks) introduce(session);

  const double before_reading = total.seconds();
  const auto problem = std::make_shared<const session::Problem>(
      session::load_problem(session, arguments.matrix, arguments.request));
  const auto rhs = session::make_right_hand_side(session.comm, *problem, arguments.rhs.back());
  const double read_seconds = total.seconds() - before_reading;
  session::Solver solver(session, problem, arguments.request);

  const StopSignal stop;  // from here on there is an x worth keeping
  auto line = stderr_line(speaks, arguments.request.rtol);
  const auto solve_hooks = hooks(world, stop, line, speaks);
  Array<double> x(rhs.b.size(), 0.0);
  auto run = solver.solve(rhs.b, x, solve_hooks);
  ResultFiles files(session.comm);
  std::vector<Array<double>> columns(arguments.rhs.size());
  if (!has_stopped(run.report.status))
    run.earlier =
        solve_others(session.comm, arguments, *problem, solver, at_once, files, columns, solve_hooks);
  run.reuse = solver.reuse();
  run.rhs = arguments.rhs.back();
  run.read_seconds = read_seconds;
  run.output = output_of(arguments, arguments.rhs.size() - 1);
  if (rhs.solution) run.true_error = relative_error(session.comm, x, *rhs.solution);
  run.total_seconds = total.seconds();
  line.clear();
  const auto style = run.report.converged() ? session::Style::good : session::Style::bad;
  const auto terminal = session::find_terminal();
  if (speaks)
    fmt::print(stderr, "{}{}", lay_out(terminal, summary(run), style),
               arguments.explain ? explanation(run) : "");
  write_results(session.comm, arguments, *problem, std::move(x), std::move(columns), run, total, files);
  if (speaks) fmt::print(stderr, "{}", lay_out(terminal, written_line(run), style));
  files.finish();
  return exit_status(run);
}

}  // namespace

void add_solve(Command& app, Run& run) {
  auto arguments = std::make_shared<SolveArguments>();
  Command* solve = app.add_subcommand("solve", "Solve a sparse system A x = b, verified");
  declare(*solve, *arguments);
  solve->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_solve(world, *arguments); };
  });
}

}  // namespace ayatori::cli
