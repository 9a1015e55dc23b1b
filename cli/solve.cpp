#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/sparse/block_operator.hpp"
#include "ayatori/tuning/solver.hpp"
#include "ayatori/tuning/thread_race.hpp"
#include "cli/command.hpp"
#include "cli/coordinates.hpp"
#include "cli/hold_signals.hpp"
#include "cli/machine_profile.hpp"
#include "cli/problem.hpp"
#include "cli/progress_line.hpp"
#include "cli/schedule_tables.hpp"
#include "cli/solve_checkpoint.hpp"
#include "cli/solve_knowledge.hpp"
#include "cli/solve_placement.hpp"
#include "cli/solve_replay.hpp"
#include "cli/solve_report.hpp"
#include "cli/stop_signal.hpp"
#include "cli/terminal.hpp"

namespace ayatori::cli {

namespace {

/// The command line of `ayatori solve`, as typed.
struct Arguments {
  std::string matrix;
  std::vector<std::string> rhs{"ones"};
  std::string output;
  std::string json;
  std::string method = "auto";
  std::string preconditioner = "auto";
  solvers::PreconditionerOptions of_preconditioner;
  std::string coordinates;
  std::string restart = "auto";
  std::string orthogonalization = "auto";
  std::string kernel = "auto";
  std::string halo = "auto";
  std::string block = "auto";
  std::string partition = "contiguous";
  std::string placement = "none";
  std::string network = "auto";
  std::string profile = "auto";
  std::string collectives = "auto";
  std::string knowledge = "auto";
  std::string replay;
  std::string checkpoint;
  std::string resume;
  std::optional<double> every;
  std::vector<std::string> excluded;
  double tuning_share = tuning::SolveOptions().tuning_share;
  std::string use_ranks = "auto";
  double rtol = 1e-8;
  double time_limit = 0;
  std::int64_t max_iterations = 0;
  int threads = 0;
  bool explain = false;
  bool quiet = false;
};

std::optional<std::string> unless_auto(const std::string& word) {
  return word == "auto" ? std::nullopt : std::optional(word);
}

std::optional<int> restart_length(const std::string& word) {
  if (word == "auto") return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw InputError(fmt::format("--restart {}: neither 'auto' nor a whole number", word));
  }
  return value;
}

/// Right-hand sides that may be solved at once.
int most_at_once(const Arguments& arguments) {
  const std::string& word = arguments.block;
  if (word != "auto" && arguments.rhs.size() == 1)
    throw InputError("--block is for several --rhs: there is one right-hand side");
  if (word == "auto") return sparse::max_block_width;
  if (word == "off") return 1;
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_number = error == std::errc() && end == word.data() + word.size();
  if (!is_number || value < 1 || value > sparse::max_block_width)
    throw InputError(fmt::format("--block {}: want auto, off, or 1 to {}", word, sparse::max_block_width));
  return value;
}

/// Options of preconditioners are errors where no preconditioner that obeys them has been asked for.
void check_preconditioner_options(const Arguments& arguments) {
  const solvers::PreconditionerOptions& given = arguments.of_preconditioner;
  const solvers::PreconditionerOptions untouched;
  solvers::Obeys obeys;
  if (arguments.preconditioner != "auto") obeys = solvers::preconditioner(arguments.preconditioner).obeys;
  const auto check_one = [&](bool is_given, bool is_obeyed, const char* name) {
    if (is_given && !is_obeyed)
      throw InputError(
          fmt::format("{} has no meaning with --preconditioner {}", name, arguments.preconditioner));
  };
  if (!(given.drop_tolerance >= 0 && given.drop_tolerance < 1))
    throw InputError(fmt::format("--drop {}: want 0 to 1", given.drop_tolerance));
  check_one(given.overlap != untouched.overlap, obeys.overlap_and_ordering, "--overlap");
  check_one(given.ordering != untouched.ordering, obeys.overlap_and_ordering, "--ordering");
  if (given.triangular != "blocks" && given.triangular != "levels")
    throw InputError(fmt::format("--triangular {}: want blocks or levels", given.triangular));
  check_one(given.triangular != untouched.triangular, obeys.overlap_and_ordering, "--triangular");
  check_one(given.fill != untouched.fill, obeys.fill, "--fill");
  if (given.degree < 0 || given.degree > 100)
    throw InputError(fmt::format("--degree {}: want 0 to 100", given.degree));
  check_one(given.degree != untouched.degree, obeys.degree, "--degree");
  check_one(given.drop_tolerance != untouched.drop_tolerance, obeys.drop_tolerance, "--drop");
  const bool may_use_coordinates = arguments.preconditioner == "auto" || arguments.preconditioner == "amg";
  check_one(!arguments.coordinates.empty(), may_use_coordinates, "--coordinates");
}

bool may_use_one_rank(const std::string& word) {
  if (word != "auto" && word != "all")
    throw InputError(fmt::format("--use-ranks {}: want auto or all", word));
  return word == "auto";
}

tuning::SolveOptions solve_options(const Arguments& arguments) {
  if (!(arguments.time_limit >= 0)) {  // a NaN passes every comparison of the parser
    throw InputError(fmt::format("--time-limit {}: not a number of seconds", arguments.time_limit));
  }
  check_preconditioner_options(arguments);
  return {.rtol = arguments.rtol,
          .max_iterations = arguments.max_iterations,
          .time_limit = arguments.time_limit,
          .tuning_share = arguments.tuning_share,
          .may_use_one_rank = may_use_one_rank(arguments.use_ranks),
          .forced = {.method = unless_auto(arguments.method),
                     .preconditioner = unless_auto(arguments.preconditioner),
                     .restart = restart_length(arguments.restart),
                     .orthogonalization = unless_auto(arguments.orthogonalization),
                     .kernel = unless_auto(arguments.kernel),
                     .halo = unless_auto(arguments.halo),
                     .excluded = arguments.excluded},
          .preconditioner = arguments.of_preconditioner};
}

/// Throws InputError for options that contradict --replay.
void check_replay(const Arguments& arguments) {
  if (arguments.replay.empty()) return;
  const Arguments usual;
  const bool chooses = arguments.method != usual.method || arguments.preconditioner != usual.preconditioner ||
                       arguments.restart != usual.restart || arguments.kernel != usual.kernel ||
                       arguments.orthogonalization != usual.orthogonalization ||
                       arguments.halo != usual.halo || arguments.max_iterations != usual.max_iterations ||
                       arguments.rtol != usual.rtol || !arguments.excluded.empty() ||
                       !arguments.resume.empty();
  if (chooses)
    throw InputError(
        "--replay repeats a solve: what was chosen, the tolerance and the limits are those of then");
}

/// Whether two paths name the same file, also where it does not exist yet.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

/// Where the x of right-hand side `k`, from 0, of several goes: x.mtx becomes x.1.mtx, x.2.mtx, ...
std::string output_of(const Arguments& arguments, std::size_t k) {
  std::string path = arguments.output;
  if (path.empty() || arguments.rhs.size() == 1) return path;
  const auto slash = path.rfind('/');
  const auto dot = path.find('.', slash == std::string::npos ? 0 : slash + 1);
  return path.insert(dot == std::string::npos ? path.size() : dot, fmt::format(".{}", k + 1));
}

/// Throws InputError for what is meant for one right-hand side only.
void check_sequence(const Arguments& arguments) {
  if (arguments.rhs.size() == 1) return;
  for (const auto& [option, value] :
       {std::pair("--checkpoint", arguments.checkpoint), std::pair("--resume", arguments.resume),
        std::pair("--replay", arguments.replay)}) {
    if (!value.empty()) throw InputError(fmt::format("{} is for a solve with one right-hand side", option));
  }
}

/// A result that cannot be written is found out now, not after hours of solving. Called on rank 0.
void check_outputs(const Arguments& arguments) {
  if (arguments.every && arguments.checkpoint.empty())
    throw InputError("--every says how often a checkpoint is written: name its file with --checkpoint");
  if (arguments.every && !(*arguments.every >= 0))  // a NaN passes every comparison of the parser
    throw InputError(fmt::format("--every {}: not a number of seconds", *arguments.every));
  for (const std::string& result : {arguments.output, arguments.json, arguments.checkpoint}) {
    if (result.empty()) continue;
    std::vector<std::string> inputs = arguments.rhs;
    inputs.push_back(arguments.matrix);
    for (const std::string& input : inputs) {
      if (same_file(result, input))
        throw InputError(fmt::format("{}: is an input and cannot be written to", result));
    }
    const TemporaryFile can_be_created(result);
  }
  for (const std::string& result : {arguments.output, arguments.json}) {
    if (!arguments.checkpoint.empty() && same_file(arguments.checkpoint, result))
      throw InputError(fmt::format("{}: the checkpoint and a result name the same file", result));
  }
  if (arguments.output.empty()) return;
  io::check_output_format(arguments.output);
  if (same_file(arguments.output, arguments.json)) {
    throw InputError(fmt::format("{}: --output and --json name the same file", arguments.output));
  }
}

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
                      const Arguments& arguments, ProgressLine& line, bool speaks) {
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
std::optional<Resumed> find_resumed(const comm::Comm& comm, const Arguments& arguments,
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

/// Collective. Writes x and the report; the report also where x cannot be written.
void write_results(const comm::Comm& comm, const Arguments& arguments, const Problem& problem,
                   Array<double> x, SolveRun& run, const Stopwatch& total) {
  const HoldSignals hold(comm);
  const auto write_report = [&] {
    run.total_seconds = total.seconds();
    comm::agree(comm, [&] {
      if (comm.rank() == 0 && !arguments.json.empty())
        write_file(arguments.json, to_json(run).dump(2) + "\n");
    });
  };
  try {
    if (!arguments.output.empty()) {
      const ScopedTimer timer(run.write_seconds);
      io::save_vector(comm, run.output, problem.to_file(comm, std::move(x)), problem.file_rows);
    }
  } catch (const Error& error) {
    run.output.clear();
    if (error.agreed()) write_report();
    throw;
  }
  write_report();
}

bool has_stopped(tuning::Status status) {
  return status == tuning::Status::interrupted || status == tuning::Status::time_limit;
}

/// Collective. Solves for all right-hand sides but the last, which the solver has been through, as many at a
/// time as may be solved at once, and writes what is found.
std::vector<EarlierSolve> solve_others(const comm::Comm& comm, const Arguments& arguments,
                                       const Problem& problem, tuning::Solver& solver, int at_once,
                                       const tuning::SolveHooks& solve_hooks,
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
      const std::string output = output_of(arguments, first + k);
      if (!output.empty()) {
        const HoldSignals hold(comm);
        io::save_vector(comm, output, problem.to_file(comm, std::move(x[k])), problem.file_rows);
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

int run_solve(const comm::Comm& world, const Arguments& arguments) {
  const Stopwatch total;
  auto options = comm::agree(world, [&] { return solve_options(arguments); });
  const int at_once = comm::agree(world, [&] { return most_at_once(arguments); });
  const auto kind = comm::agree(world, [&] {
    check(options.forced);
    check_replay(arguments);
    check_sequence(arguments);
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
    fmt::print(stderr, "the machine was {}\n", machine.description);
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
  const double read_seconds = total.seconds() - before_reading;

  const auto race = arguments.replay.empty()
                        ? tuning::race_threads(comm, *problem.parts)
                        : tuning::ThreadRace{.offered = offered, .threads = offered, .entries = {}};
  auto system = identity_of(comm, problem, rhs, arguments.rtol);
  const auto resumed = find_resumed(comm, arguments, problem, system);
  if (resumed) begin_with(*resumed, options);
  if (!arguments.replay.empty()) {
    const auto replay =
        load_replay(comm, arguments.replay, system, {world.size(), offered, arguments.partition});
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
  const auto learn = [&](const tuning::SolveReport& report) {
    if (knowledge.in_use() && !resumed && world.rank() == 0) knowledge.store(report, options.forced);
  };
  Array<double> x = resumed ? resumed->x : Array<double>(rhs.b.size(), 0.0);
  auto report = solver.solve(rhs.b, x, solve_hooks);
  learn(report);
  const tuning::History history_of_last = history;
  std::vector<EarlierSolve> others;
  if (!has_stopped(report.status))
    others = solve_others(comm, arguments, problem, solver, at_once, solve_hooks, learn);
  SolveRun run{.report = std::move(report),
               .earlier = std::move(others),
               .reuse = solver.reuse(),
               .source = problem.source,
               .rtol = options.rtol,
               .ranks = world.size(),
               .threads = max_threads(),
               .thread_race = race,
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
               .output = output_of(arguments, arguments.rhs.size() - 1)};
  line.clear();
  run.knowledge = knowledge.to_json();
  run.replay = replay_json(run.report.script, system);
  run.experience = knowledge.summary();
  if (speaks) {
    for (const auto& note : knowledge.notes()) fmt::print(stderr, "{}\n", note);
  }
  if (rhs.solution) run.true_error = relative_error(comm, x, *rhs.solution);
  if (tables.scheduled)
    run.collectives = {tables.files, tables.scheduled->calls(), tables.scheduled->uses(),
                       tables.scheduled->can_copy_once(world)};
  write_results(comm, arguments, problem, std::move(x), run, total);
  if (speaks) {
    const auto style = run.report.converged() ? Style::good : Style::bad;
    fmt::print(stderr, "{}{}", lay_out(find_terminal(), summary(run), style),
               arguments.explain ? explanation(run) : "");
  }
  return exit_status(run);
}

}  // namespace

void add_solve(Command& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  Command* solve = app.add_subcommand("solve", "Solve a sparse system A x = b, verified");
  solve->add_option("matrix", arguments->matrix, "Matrix file or generator spec")->required();
  solve
      ->add_option(
          "--rhs", arguments->rhs,
          "b: a file, ones, random:SEED, or solution-random:SEED; several share set-ups, and products where "
          "that pays [ones]")
      ->one_at_a_time();
  solve
      ->add_option("--block", arguments->block,
                   "Right-hand sides that are solved at once, at most: auto, off, or 1 to 8")
      ->suggest({"auto", "off"})
      ->capture_default_str();
  solve->add_option("-o,--output", arguments->output, "Write x here (.mtx, .mtx.gz, .petsc)");
  solve->add_option("--json", arguments->json, "Write the result here (schema ayatori.solve/1)");
  solve
      ->add_option("--knowledge", arguments->knowledge,
                   "Folder of what solves have taught; none; auto: AYATORI_KNOWLEDGE, or one in the home")
      ->capture_default_str();
  solve->add_option("--replay", arguments->replay,
                    "Repeat the decisions of this result, to the same bits on as many ranks and threads");
  solve->add_option("--checkpoint", arguments->checkpoint, "Keep the best x here while solving");
  solve->add_option("--every", arguments->every, "Seconds between two checkpoints [60]");
  solve->add_option("--resume", arguments->resume,
                    "Go on from this checkpoint, on any number of ranks; the file of --checkpoint may be "
                    "missing at the first time");
  solve->add_option("--rtol", arguments->rtol, "Converged means ||b - Ax|| <= rtol ||b||")
      ->capture_default_str();
  solve->add_option("--time-limit", arguments->time_limit, "Seconds for set-ups and iterations; 0: none")
      ->check(non_negative())
      ->capture_default_str();
  solve->add_option("--max-iterations", arguments->max_iterations, "Over all trials; 0: no limit")
      ->check(non_negative())
      ->capture_default_str();
  solve->add_option("--method", arguments->method, "auto or a method")
      ->suggest(names_in(solvers::methods(), {"auto"}))
      ->capture_default_str();
  solve->add_option("--preconditioner", arguments->preconditioner, "auto or a preconditioner")
      ->suggest(names_in(solvers::preconditioners(), {"auto"}))
      ->capture_default_str();
  solve
      ->add_option("--overlap", arguments->of_preconditioner.overlap,
                   "Layers of rows by which the blocks of ic, ilu and ilut overlap")
      ->check(range(0, 10))
      ->capture_default_str();
  solve
      ->add_option("--fill", arguments->of_preconditioner.fill,
                   "Levels of fill of ic (default 1) and ilu (default 0); entries per row beyond those of "
                   "the matrix that "
                   "ilut keeps (default 10)")
      ->check(non_negative())
      ->default_str("");
  solve
      ->add_option("--triangular", arguments->of_preconditioner.triangular,
                   "Threads of a rank in ic, ilu and ilut: blocks, one for each, or levels of one block")
      ->suggest({"blocks", "levels"})
      ->capture_default_str();
  solve
      ->add_option("--degree", arguments->of_preconditioner.degree,
                   "Products in an application of neumann, chebyshev and gmres-polynomial, up to 100")
      ->capture_default_str();
  solve
      ->add_option("--drop", arguments->of_preconditioner.drop_tolerance,
                   "What ilut drops, relative to the row")
      ->capture_default_str();
  solve
      ->add_option("--ordering", arguments->of_preconditioner.ordering,
                   "Of the rows before ic, ilu and ilut factor them: auto, natural or rcm")
      ->check(one_of({"auto", "natural", "rcm"}))
      ->capture_default_str();
  solve->add_option(
      "--coordinates", arguments->coordinates,
      "A matrix file with a row of x, y (and z) for each node of an elastic body: amg then knows "
      "its rotations");
  solve->add_option("--restart", arguments->restart, "auto or the basis vectors of GMRES")
      ->capture_default_str();
  solve->add_option("--orthogonalization", arguments->orthogonalization, "auto, cgs, mgs or ircgs")
      ->suggest(names_in(solvers::orthogonalizations(), {"auto"}))
      ->capture_default_str();
  solve->add_option("--kernel", arguments->kernel, "auto or a product kernel")
      ->suggest(names_in(sparse::kernels(), {"auto"}))
      ->capture_default_str();
  solve->add_option("--halo", arguments->halo, "auto or a halo strategy, with or without +overlap")
      ->suggest(names_in(sparse::halo_strategies(), {"auto"}))
      ->capture_default_str();
  solve
      ->add_option(
          "--exclude", arguments->excluded,
          "Names of methods, preconditioners, orthogonalizations, kernels, halo strategies that must "
          "not be chosen")
      ->delimiter(',');
  solve
      ->add_option("--tuning-share", arguments->tuning_share,
                   "Of the time, what trials may cost that are not chosen in the end")
      ->capture_default_str();
  solve
      ->add_option("--use-ranks", arguments->use_ranks,
                   "auto: one rank holds all rows where that is faster; all: every rank holds its share")
      ->suggest({"auto", "all"})
      ->capture_default_str();
  solve->add_option("--partition", arguments->partition, "contiguous or graph (METIS)")
      ->suggest({"contiguous", "graph"})
      ->capture_default_str();
  solve
      ->add_option(
          "--placement", arguments->placement,
          "auto: parts of the matrix that talk much come to one node, or to near ones, where that is "
          "worth moving them; always: wherever it helps; none")
      ->suggest({"auto", "always", "none"})
      ->capture_default_str();
  solve
      ->add_option("--network", arguments->network,
                   "Between the nodes, for --placement: auto, or as for `ayatori map`")
      ->capture_default_str();
  solve
      ->add_option("--profile", arguments->profile,
                   "Machine profile (see probe): auto, none, a file, or the name of a published one")
      ->capture_default_str();
  solve
      ->add_option("--collectives", arguments->collectives,
                   "Tables of schedules (see collectives tune), separated by colons; none; auto: what "
                   "AYATORI_COLLECTIVES names")
      ->capture_default_str();
  solve->add_option("--threads", arguments->threads, "Threads per rank; 0: all cores")
      ->check(non_negative())
      ->capture_default_str();
  solve->add_flag("--explain", arguments->explain, "Say what was considered, tried and chosen, and why");
  solve->add_flag("-q,--quiet", arguments->quiet, "Say nothing but errors");
  solve->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_solve(world, *arguments); };
  });
}

}  // namespace ayatori::cli
