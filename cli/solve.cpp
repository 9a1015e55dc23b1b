#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/printable.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/tuning/solver.hpp"
#include "ayatori/tuning/thread_race.hpp"
#include "cli/command.hpp"
#include "cli/coordinates.hpp"
#include "cli/hold_signals.hpp"
#include "cli/machine_profile.hpp"
#include "cli/problem.hpp"
#include "cli/progress_line.hpp"
#include "cli/result_files.hpp"
#include "cli/schedule_tables.hpp"
#include "cli/solve_arguments.hpp"
#include "cli/solve_checkpoint.hpp"
#include "cli/solve_knowledge.hpp"
#include "cli/solve_placement.hpp"
#include "cli/solve_replay.hpp"
#include "cli/solve_report.hpp"
#include "cli/stop_signal.hpp"
#include "cli/terminal.hpp"

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

/// Rank 0's voice: progress, events, the summary.
tuning::SolveHooks hooks(const StopSignal& stop, ProgressLine& line, tuning::History& history, bool speaks) {
  return {.progress =
              [&line, &history](const tuning::Choice& choice, std::int64_t iteration, double residual) {
                history.add(choice, iteration, residual);
                line.show(describe(choice), iteration, residual);
              },
          .event =
              [&line, speaks](const tuning::Event& event) {
                line.clear();
                if (speaks) fmt::print(stderr, "[{:8.3f} s] {}\n", event.seconds, event.text);
              },
          .wants_stop = [&stop] { return stop.received(); }};
}

/// Collective.
SystemIdentity identity_of(const comm::Comm& comm, const Problem& problem, const RightHandSide& rhs,
                           double rtol) {
  const auto first = problem.file_rows.range(comm.rank()).begin;
  return {problem.fingerprint, sparse::fingerprint(comm, problem.to_file(comm, rhs.b), first), rtol};
}

/// Has the solve write checkpoints; what goes wrong is said.
void keep_checkpoints(tuning::SolveHooks& solve_hooks, CheckpointWriter& checkpoints,
                      const SolveArguments& arguments, ProgressLine& line, bool speaks) {
  solve_hooks.snapshot = [&checkpoints, &line, speaks](const tuning::Snapshot& snapshot) {
    checkpoints.write(snapshot);
    if (!speaks || checkpoints.failure().empty()) return;
    line.clear();
    fmt::print(stderr, "no checkpoint: {}\n", checkpoints.failure());
  };
  solve_hooks.seconds_between_snapshots = arguments.every.value_or(solve_hooks.seconds_between_snapshots);
}

/// Collective. What --resume names. The file that this solve writes itself may be missing: then nobody has
/// written it yet.
std::optional<Resumed> find_resumed(const comm::Comm& comm, const SolveArguments& arguments,
                                    const Problem& problem, const SystemIdentity& system) {
  if (arguments.resume.empty()) return std::nullopt;
  const bool is_missing = comm::agree(comm, [&] {
    std::error_code error;
    return comm.rank() == 0 && !arguments.checkpoint.empty() &&
           same_file(arguments.resume, arguments.checkpoint) &&
           !std::filesystem::exists(arguments.resume, error);
  });
  if (comm.any(is_missing)) return std::nullopt;
  return resume(comm, arguments.resume, problem, system);
}

/// Collective. Writes an x of the solver's numbering, and gives the name of its file.
std::string save_x(ResultFiles& files, const std::string& path, const comm::Comm& comm,
                   const Problem& problem, Array<double> x) {
  const auto in_file = problem.to_file(comm, std::move(x));
  return files.write_array(path, "x", in_file, [&](const comm::Comm& ranks, const auto& file, auto local) {
    const auto even = sparse::RowPartition::even(problem.file_rows.rows(), ranks.size());
    io::save_vector(ranks, file, local, ranks.size() == comm.size() ? problem.file_rows : even);
  });
}

/// Collective. Writes x and the report.
void write_results(const comm::Comm& comm, const SolveArguments& arguments, const Problem& problem,
                   Array<double> x, SolveRun& run, const Stopwatch& total, ResultFiles& files) {
  const HoldSignals hold(comm);
  if (!run.output.empty()) {
    const ScopedTimer timer(run.write_seconds);
    run.output = save_x(files, run.output, comm, problem, std::move(x));
  }
  run.total_seconds = total.seconds();
  if (!arguments.json.empty())
    files.write_text(arguments.json, "the report", [&] { return to_json(run).dump(2) + "\n"; });
}

bool has_stopped(tuning::Status status) {
  return status == tuning::Status::interrupted || status == tuning::Status::time_limit;
}

/// Collective. Solves for all right-hand sides but the last, which the solver has been through, as many at a
/// time as may be solved at once, and writes what is found.
std::vector<EarlierSolve> solve_others(const comm::Comm& comm, const SolveArguments& arguments,
                                       const Problem& problem, tuning::Solver& solver, int at_once,
                                       ResultFiles& files, const tuning::SolveHooks& solve_hooks,
                                       const std::function<void(const tuning::SolveReport&)>& learn) {
  std::vector<EarlierSolve> solves;
  const std::size_t count = arguments.rhs.size() - 1;
  while (solves.size() < count) {
    const std::size_t first = solves.size();
    const std::size_t here = std::min<std::size_t>(at_once, count - first);
    std::vector<Array<double>> b;
    std::vector<Array<double>> x;
    for (std::size_t k = first; k < first + here; ++k) {
      b.push_back(make_right_hand_side(comm, problem, arguments.rhs[k]).b);
      comm::agree(comm, [&] { x.emplace_back(b.back().size(), 0.0); });
    }
    const auto reports = solver.solve(std::vector<solvers::ConstVector>(b.begin(), b.end()),
                                      std::vector<solvers::Vector>(x.begin(), x.end()), at_once, solve_hooks);
    for (std::size_t k = 0; k < reports.size(); ++k) {
      const auto& report = reports[k];
      if (report.together == 1) learn(report);
      std::string output = output_of(arguments, first + k);
      if (!output.empty()) {
        const HoldSignals hold(comm);
        output = save_x(files, output, comm, problem, std::move(x[k]));
      }
      solves.push_back({arguments.rhs[first + k], report.together, std::string(name_of(report.status)),
                        report.converged(), report.relative_residual, report.iterations, report.seconds.total,
                        report.seconds.setup, output});
      if (has_stopped(report.status)) return solves;
    }
  }
  return solves;
}

int exit_status(const SolveRun& run) {
  const bool all = std::ranges::all_of(run.earlier, &EarlierSolve::converged);
  return all && run.report.converged() ? 0 : 1;
}

int run_solve(const comm::Comm& world, const SolveArguments& arguments) {
  const Stopwatch total;
  auto options = comm::agree(world, [&] { return solve_options(arguments); });
  const int at_once = comm::agree(world, [&] { return most_at_once(arguments); });
  const auto kind = comm::agree(world, [&] {
    check(options.forced);
    check_combinations(arguments);
    if (world.rank() == 0) {
      check_outputs(arguments);
      check_placement(arguments.placement, arguments.network);
    }
    return partition_kind(arguments.partition);
  });
  const int offered = comm::set_threads(world, arguments.threads);
  const bool speaks = world.rank() == 0 && !arguments.quiet;

  const auto tables = find_collectives(world, arguments.collectives);
  const auto comm = tables.scheduled ? world.with_collectives(tables.scheduled) : world;
  if (speaks && tables.scheduled && !tables.scheduled->table().has(world.size()))
    fmt::print(stderr, "{}: no schedules for {} rank{}; the MPI's own collectives are used\n", tables.files,
               world.size(), world.size() == 1 ? "" : "s");

  const auto machine = find_profile(world, arguments.profile);
  if (speaks && machine.description.starts_with("measured"))
    fmt::print(stderr, "the machine was {}\n", printable(machine.description));
  const auto load = comm::busiest_node(world);
  options.profile = machine.profile;

  const double before_reading = total.seconds();
  std::optional<FoundPlacement> placement;
  OrderParts order_parts;
  if (arguments.placement != "none")
    order_parts = [&](const sparse::SplitMatrix& parts) {
      placement = find_placement(comm, parts, machine, arguments.placement, arguments.network,
                                 arguments.max_iterations);
      return placement->moves ? std::optional(placement->order.rank_of_part) : std::nullopt;
    };
  const auto problem = load_problem(comm, arguments.matrix, kind, order_parts);
  const auto rhs = make_right_hand_side(comm, problem, arguments.rhs.back());
  Array<double> coordinates;
  if (!arguments.coordinates.empty()) coordinates = load_coordinates(comm, arguments.coordinates, problem);
  options.preconditioner.coordinates = coordinates;
  const auto row_numbers = problem.row_numbers(comm);
  options.row_numbers = row_numbers;
  const double read_seconds = total.seconds() - before_reading;

  const auto race = arguments.replay.empty()
                        ? tuning::race_threads(comm, *problem.parts)
                        : tuning::ThreadRace{.offered = offered, .threads = offered, .entries = {}};
  auto system = identity_of(comm, problem, rhs, arguments.rtol);
  const auto resumed = find_resumed(comm, arguments, problem, system);
  if (resumed) begin_with(*resumed, options);
  ReplayedAs as{world.size(), offered, arguments.partition, {}, tables.files, !arguments.coordinates.empty()};
  if (placement && placement->moves) as.rank_of_part = placement->order.rank_of_part;
  if (!arguments.replay.empty()) {
    const auto replay = load_replay(comm, arguments.replay, system, as);
    comm::set_threads(comm, replay.threads);
    options.replay = replay.script;
    options.rtol = system.rtol = replay.rtol;
  }
  SolveKnowledge knowledge(comm, options.replay ? "none" : arguments.knowledge, problem.fingerprint,
                           problem.source.name, {"", world.size(), offered, arguments.rtol});
  if (knowledge.in_use() && !resumed)
    options.recall = [&](const tuning::MatrixFacts& facts) { return knowledge.recall(facts); };
  std::optional<CheckpointWriter> checkpoints;
  if (!arguments.checkpoint.empty())
    checkpoints.emplace(comm, problem, arguments.checkpoint, system, resumed ? &*resumed : nullptr);

  const StopSignal stop;  // from here on there is an x worth keeping
  ProgressLine line(speaks, options.rtol);
  tuning::History history;
  auto solve_hooks = hooks(stop, line, history, speaks);
  if (checkpoints) keep_checkpoints(solve_hooks, *checkpoints, arguments, line, speaks);
  tuning::Solver solver(comm, problem.parts, options);
  double seconds_of_learning = 0;
  const auto learn = [&](const tuning::SolveReport& report) {
    const ScopedTimer timer(seconds_of_learning);
    if (knowledge.in_use() && !resumed && world.rank() == 0) knowledge.store(report, options.forced);
  };
  Array<double> x = resumed ? resumed->x : Array<double>(rhs.b.size(), 0.0);
  auto report = solver.solve(rhs.b, x, solve_hooks);
  learn(report);
  const tuning::History history_of_last = history;
  ResultFiles files(comm);
  std::vector<EarlierSolve> others;
  if (!has_stopped(report.status))
    others = solve_others(comm, arguments, problem, solver, at_once, files, solve_hooks, learn);
  SolveRun run{.report = std::move(report),
               .earlier = std::move(others),
               .reuse = solver.reuse(),
               .source = problem.source,
               .rtol = options.rtol,
               .ranks = world.size(),
               .threads = max_threads(),
               .thread_race = race,
               .load = load,
               .partition = arguments.partition,
               .placement = placement,
               .machine = machine.profile,
               .profile = machine.description,
               .replayed = arguments.replay,
               .resumed = resumed ? to_json(*resumed) : nullptr,
               .checkpoint = checkpoints ? to_json(*checkpoints) : nullptr,
               .rhs = arguments.rhs.back(),
               .history = history_of_last,
               .read_seconds = read_seconds,
               .write_seconds = seconds_of_learning,
               .output = output_of(arguments, arguments.rhs.size() - 1)};
  line.clear();
  run.knowledge = knowledge.to_json();
  run.replay = replay_json(run.report.script, system, as);
  run.experience = knowledge.summary(run.report);
  if (speaks) {
    for (const auto& note : knowledge.notes()) fmt::print(stderr, "{}\n", note);
  }
  if (rhs.solution) run.true_error = relative_error(comm, x, *rhs.solution);
  if (tables.scheduled)
    run.collectives = {tables.files, tables.scheduled->calls(), tables.scheduled->uses(),
                       tables.scheduled->can_copy_once(world)};
  run.total_seconds = total.seconds();
  const auto style = run.report.converged() ? Style::good : Style::bad;
  const auto terminal = find_terminal();
  if (speaks)
    fmt::print(stderr, "{}{}", lay_out(terminal, summary(run), style),
               arguments.explain ? explanation(run) : "");
  write_results(comm, arguments, problem, std::move(x), run, total, files);
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
