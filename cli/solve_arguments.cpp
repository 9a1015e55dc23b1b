#include "cli/solve_arguments.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/sparse/block_operator.hpp"

namespace ayatori::cli {

namespace {

std::optional<std::string> unless_auto(const std::string& word) {
  return word == "auto" ? std::nullopt : std::optional(word);
}

std::optional<int> restart_length(const std::string& word) {
  if (word == "auto") return std::nullopt;
  const auto length = number_in<int>(word);
  if (!length) throw InputError(fmt::format("--restart {}: neither 'auto' nor a whole number", word));
  return length;
}

/// Options of preconditioners are errors where no preconditioner that obeys them has been asked for.
void check_preconditioner_options(const SolveArguments& arguments) {
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
  if (!solvers::is_triangular(given.triangular))
    throw InputError(fmt::format("--triangular {}: want auto, blocks or levels", given.triangular));
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

/// Throws InputError for options that contradict --replay.
void check_replay(const SolveArguments& arguments) {
  if (arguments.replay.empty()) return;
  const SolveArguments usual;
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

/// Throws InputError for what is meant for one right-hand side only.
void check_sequence(const SolveArguments& arguments) {
  if (arguments.rhs.size() == 1) return;
  for (const auto& [option, value] :
       {std::pair("--checkpoint", arguments.checkpoint), std::pair("--resume", arguments.resume),
        std::pair("--replay", arguments.replay)}) {
    if (!value.empty()) throw InputError(fmt::format("{} is for a solve with one right-hand side", option));
  }
}

}  // namespace

void declare(Command& solve, SolveArguments& arguments) {
  solve.add_option("matrix", arguments.matrix, "Matrix file or generator spec")->required();
  solve
      .add_option(
          "--rhs", arguments.rhs,
          "b: a file, ones, random:SEED, or solution-random:SEED; several share set-ups, and products where "
          "that pays [ones]")
      ->one_at_a_time();
  solve
      .add_option("--block", arguments.block,
                  "Right-hand sides that are solved at once, at most: auto, off, or 1 to 8")
      ->suggest({"auto", "off"})
      ->capture_default_str();
  solve.add_option("-o,--output", arguments.output, "Write x here (.mtx, .mtx.gz, .petsc)");
  solve.add_option("--json", arguments.json, "Write the result here (schema ayatori.solve/1)");
  solve
      .add_option("--knowledge", arguments.knowledge,
                  "Folder of what solves have taught; none; auto: AYATORI_KNOWLEDGE, or one in the home")
      ->capture_default_str();
  solve.add_option("--replay", arguments.replay,
                   "Repeat the decisions of this result, to the same bits on as many ranks and threads");
  solve.add_option("--checkpoint", arguments.checkpoint, "Keep the best x here while solving");
  solve.add_option("--every", arguments.every, "Seconds between two checkpoints [60]");
  solve.add_option("--resume", arguments.resume,
                   "Go on from this checkpoint, on any number of ranks; the file of --checkpoint may be "
                   "missing at the first time");
  solve.add_option("--rtol", arguments.rtol, "Converged means ||b - Ax|| <= rtol ||b||")
      ->capture_default_str();
  solve.add_option("--time-limit", arguments.time_limit, "Seconds for set-ups and iterations; 0: none")
      ->check(non_negative())
      ->capture_default_str();
  solve.add_option("--max-iterations", arguments.max_iterations, "Over all trials; 0: no limit")
      ->check(non_negative())
      ->capture_default_str();
  solve.add_option("--method", arguments.method, "auto or a method")
      ->suggest(names_in(solvers::methods(), {"auto"}))
      ->capture_default_str();
  solve.add_option("--preconditioner", arguments.preconditioner, "auto or a preconditioner")
      ->suggest(names_in(solvers::preconditioners(), {"auto"}))
      ->capture_default_str();
  solve
      .add_option("--overlap", arguments.of_preconditioner.overlap,
                  "Layers of rows by which the blocks of ic, ilu and ilut overlap")
      ->check(range(0, 10))
      ->capture_default_str();
  solve
      .add_option("--fill", arguments.of_preconditioner.fill,
                  "Levels of fill of ic (default 1) and ilu (default 0); entries per row beyond those of "
                  "the matrix that "
                  "ilut keeps (default 10)")
      ->check(non_negative())
      ->default_str("");
  solve
      .add_option(
          "--triangular", arguments.of_preconditioner.triangular,
          "Threads of a rank in ic, ilu and ilut: blocks, one for each, or levels of one block; auto: "
          "levels for ilut, blocks for the others")
      ->suggest({"auto", "blocks", "levels"})
      ->capture_default_str();
  solve
      .add_option("--degree", arguments.of_preconditioner.degree,
                  "Products in an application of neumann, chebyshev and gmres-polynomial, up to 100")
      ->capture_default_str();
  solve
      .add_option("--drop", arguments.of_preconditioner.drop_tolerance,
                  "What ilut drops, relative to the row")
      ->capture_default_str();
  solve
      .add_option("--ordering", arguments.of_preconditioner.ordering,
                  "Of the rows before ic, ilu and ilut factor them: auto, natural or rcm")
      ->check(one_of({"auto", "natural", "rcm"}))
      ->capture_default_str();
  solve.add_flag("--reproducible", arguments.of_preconditioner.reproducible,
                 "Nothing whose bits differ from run to run, where a replay shall repeat them: complete "
                 "factors stay on one rank, however large the matrix");
  solve.add_option(
      "--coordinates", arguments.coordinates,
      "A matrix file with a row of x, y (and z) for each node of an elastic body: amg then knows "
      "its rotations");
  solve.add_option("--restart", arguments.restart, "auto or the basis vectors of GMRES")
      ->capture_default_str();
  solve.add_option("--orthogonalization", arguments.orthogonalization, "auto, cgs, mgs or ircgs")
      ->suggest(names_in(solvers::orthogonalizations(), {"auto"}))
      ->capture_default_str();
  solve.add_option("--kernel", arguments.kernel, "auto or a product kernel")
      ->suggest(names_in(sparse::kernels(), {"auto"}))
      ->capture_default_str();
  solve.add_option("--halo", arguments.halo, "auto or a halo strategy, with or without +overlap")
      ->suggest(names_in(sparse::halo_strategies(), {"auto"}))
      ->capture_default_str();
  solve
      .add_option("--exclude", arguments.excluded,
                  "Names of methods, preconditioners, orthogonalizations, kernels, halo strategies that must "
                  "not be chosen")
      ->delimiter(',');
  solve
      .add_option("--tuning-share", arguments.tuning_share,
                  "Of the time, what trials may cost that are not chosen in the end")
      ->capture_default_str();
  solve
      .add_option("--use-ranks", arguments.use_ranks,
                  "auto: one rank holds all rows where that is faster; all: every rank holds its share")
      ->suggest({"auto", "all"})
      ->capture_default_str();
  solve.add_option("--partition", arguments.partition, "contiguous or graph (METIS)")
      ->suggest({"contiguous", "graph"})
      ->capture_default_str();
  solve
      .add_option("--placement", arguments.placement,
                  "auto: parts of the matrix that talk much come to one node, or to near ones, where that is "
                  "worth moving them; always: wherever it helps; none")
      ->suggest({"auto", "always", "none"})
      ->capture_default_str();
  solve
      .add_option("--network", arguments.network,
                  "Between the nodes, for --placement: auto, or as for `ayatori map`")
      ->capture_default_str();
  solve
      .add_option("--profile", arguments.profile,
                  "Machine profile (see probe): auto, none, a file, or the name of a published one")
      ->capture_default_str();
  solve
      .add_option("--collectives", arguments.collectives,
                  "Tables of schedules (see collectives tune), separated by colons; none; auto: what "
                  "AYATORI_COLLECTIVES names")
      ->capture_default_str();
  solve.add_option("--threads", arguments.threads, "Threads per rank; 0: all cores")
      ->check(non_negative())
      ->capture_default_str();
  solve.add_flag("--explain", arguments.explain, "Say what was considered, tried and chosen, and why");
  solve.add_flag("-q,--quiet", arguments.quiet, "Say nothing but errors");
}

tuning::SolveOptions solve_options(const SolveArguments& arguments) {
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

int most_at_once(const SolveArguments& arguments) {
  const std::string& word = arguments.block;
  if (word != "auto" && arguments.rhs.size() == 1)
    throw InputError("--block is for several --rhs: there is one right-hand side");
  if (word == "auto") return sparse::max_block_width;
  if (word == "off") return 1;
  const auto width = number_in<int>(word);
  if (!width || *width < 1 || *width > sparse::max_block_width)
    throw InputError(fmt::format("--block {}: want auto, off, or 1 to {}", word, sparse::max_block_width));
  return *width;
}

void check_combinations(const SolveArguments& arguments) {
  check_replay(arguments);
  check_sequence(arguments);
}

void check_outputs(const SolveArguments& arguments) {
  if (arguments.every && arguments.checkpoint.empty())
    throw InputError("--every says how often a checkpoint is written: name its file with --checkpoint");
  if (arguments.every && !(*arguments.every >= 0))  // a NaN passes every comparison of the parser
    throw InputError(fmt::format("--every {}: not a number of seconds", *arguments.every));
  std::vector<std::string> results{arguments.json, arguments.checkpoint};
  for (std::size_t k = 0; k < arguments.rhs.size(); ++k) results.push_back(output_of(arguments, k));
  for (const std::string& result : results) {
    if (result.empty()) continue;
    std::vector<std::string> inputs = arguments.rhs;
    inputs.push_back(arguments.matrix);
    for (const std::string& input : inputs) {
      if (same_file(result, input))
        throw InputError(fmt::format("{}: is an input and cannot be written to", result));
    }
    check_writable(result);
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

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

std::string output_of(const SolveArguments& arguments, std::size_t k) {
  std::string path = arguments.output;
  if (path.empty() || arguments.rhs.size() == 1) return path;
  const auto slash = path.rfind('/');
  const auto dot = path.find('.', slash == std::string::npos ? 0 : slash + 1);
  return path.insert(dot == std::string::npos ? path.size() : dot, fmt::format(".{}", k + 1));
}

}  // namespace ayatori::cli
