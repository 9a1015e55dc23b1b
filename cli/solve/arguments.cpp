#include "cli/solve/arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/base/standard_output.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/least_squares.hpp"
#include "ayatori/session/problem/input_file.hpp"
#include "ayatori/session/problem/problem.hpp"
#include "ayatori/sparse/products/block_operator.hpp"
#include "cli/parser/declare.hpp"

namespace ayatori::cli {

namespace {

/// Throws InputError for what is meant for one right-hand side only.
void check_sequence(const SolveArguments& arguments) {
  if (arguments.rhs.size() == 1) return;
  for (const auto& [option, value] :
       {std::pair("--checkpoint", arguments.request.checkpoint),
        std::pair("--resume", arguments.request.resume), std::pair("--replay", arguments.request.replay)}) {
    if (!value.empty()) throw InputError(fmt::format("{} is for a solve with one right-hand side", option));
  }
}

/// Throws InputError where standard input or output would be used twice, or for several things.
void check_standard_streams(const SolveArguments& arguments) {
  auto sources = arguments.rhs;
  sources.push_back(arguments.matrix);
  if (std::ranges::count_if(sources, io::is_standard_input) > 1)
    throw InputError("-: standard input holds one thing: put the others into files");
  if (is_standard_output(arguments.output) && is_standard_output(arguments.json))
    throw InputError("-: standard output takes one result: --output or --json");
}

/// Throws InputError for files to read that are not there.
void check_inputs(const SolveArguments& arguments) {
  const auto& request = arguments.request;
  for (const auto& [option, path] :
       {std::pair("--coordinates", request.coordinates), std::pair("--fields", request.fields),
        std::pair("--replay", request.replay)}) {
    if (!path.empty()) session::check_input(option, path);
  }
  for (const std::string& rhs : arguments.rhs)
    if (!session::is_made(rhs)) session::check_input("--rhs", rhs);
  if (!request.resume.empty() && !session::same_file(request.resume, request.checkpoint))
    session::check_input("--resume", request.resume);
}

/// Throws InputError for results that cannot be written, or that would replace what is read.
void check_outputs(const SolveArguments& arguments) {
  std::vector<std::string> results{arguments.json, arguments.request.checkpoint};
  for (std::size_t k = 0; k < arguments.rhs.size(); ++k) results.push_back(output_of(arguments, k));
  for (const std::string& result : results) {
    if (result.empty() || is_standard_output(result)) continue;
    std::vector<std::string> inputs = arguments.rhs;
    inputs.push_back(arguments.matrix);
    for (const std::string& input : inputs) {
      if (session::same_file(result, io::file_of(input)))
        throw InputError(fmt::format("{}: is an input and cannot be written to", result));
    }
    if (result != arguments.request.checkpoint) check_writable(result);  // that one is tried with the request
  }
  for (const std::string& result : {arguments.output, arguments.json}) {
    if (!arguments.request.checkpoint.empty() && session::same_file(arguments.request.checkpoint, result))
      throw InputError(fmt::format("{}: the checkpoint and a result name the same file", result));
  }
  if (arguments.output.empty()) return;
  io::check_vector_output(arguments.output);
  if (!is_standard_output(arguments.output) && session::same_file(arguments.output, arguments.json)) {
    throw InputError(fmt::format("{}: --output and --json name the same file", arguments.output));
  }
}

std::vector<HelpGroup> help_groups() {
  return {
      {"Input and output",
       {"--rhs", "--block", "--output", "--json", "--explain", "--quiet", "--coordinates", "--fields"}},
      {"Goal", {"--least-squares", "--damp", "--rtol", "--time-limit", "--max-iterations"}},
      {"Method (chosen unless told)",
       {"--method", "--preconditioner", "--overlap", "--fill", "--triangular", "--degree", "--drop",
        "--ordering", "--complement", "--factor-precision", "--low-rank", "--restart", "--orthogonalization",
        "--exclude"}},
      {"Product and ranks",
       {"--kernel", "--halo", "--device", "--partition", "--placement", "--network", "--use-ranks",
        "--threads", "--collectives", "--profile"}},
      {"Memory of choices",
       {"--tuning-share", "--knowledge", "--replay", "--reproducible", "--deterministic"}},
      {"Long solves", {"--checkpoint", "--every", "--resume"}},
  };
}

}  // namespace

void declare(Command& solve, SolveArguments& arguments) {
  solve
      .add_option("matrix", arguments.matrix,
                  "Matrix file, FILE:NAME of several things in one, - for standard input, or generator spec")
      ->required();
  solve
      .add_option("--rhs", arguments.rhs,
                  "b: a file (of several columns: as many right-hand sides; FILE:2 is the second), ones, "
                  "random:SEED, or "
                  "solution-random:SEED; several share set-ups, and products where that pays [ones]")
      ->one_at_a_time();
  solve
      .add_option("--block", arguments.block,
                  "Right-hand sides that are solved at once, at most: auto, off, or 1 to 8")
      ->suggest({"auto", "off"})
      ->capture_default_str();
  solve.add_option(
      "-o,--output", arguments.output,
      "Write x here: .mtx, .mtx.gz (or .bz2, .xz, .zst), .npy, .petsc or .h5; -: standard output");
  solve.add_option("--json", arguments.json,
                   "Write the result here (schema ayatori.solve/1; -: standard output)");
  declare(solve, session::solve_options(), arguments.request);
  solve.add_flag("--least-squares", arguments.least_squares,
                 "Of a matrix of any shape: the shortest x that makes ||b - A x|| smallest");
  solve.add_option("--damp", arguments.damp,
                   "With --least-squares: makes ||b - A x||^2 + damp^2 ||x||^2 smallest [0]");
  solve.add_flag("--explain", arguments.explain, "Say what was considered, tried and chosen, and why");
  solve.add_flag("-q,--quiet", arguments.quiet, "Say nothing but errors");
  solve.groups(help_groups());
  solve.examples(
      {{"ayatori solve A.mtx --rhs b.mtx -o x.mtx", "reads A and b, chooses a method, verifies, writes x"},
       {"ayatori solve A.mtx --rtol 1e-12 --method cg --preconditioner ic",
        "a closer goal, and a method of one's own"},
       {"zcat A.mtx.gz | ayatori solve - -o - > x.mtx", "from standard input to standard output"}});
}

int most_at_once(const SolveArguments& arguments) {
  if (arguments.block != "auto" && arguments.rhs.size() == 1)
    throw InputError("--block is for several --rhs: there is one right-hand side");
  return session::most_at_once(arguments.block);
}

void check(const SolveArguments& arguments) {
  check(arguments.request);
  if (arguments.least_squares) {
    session::check_least_squares(arguments.request);
    if (arguments.rhs.size() > 1) throw InputError("--least-squares takes one right-hand side");
    if (!(arguments.damp >= 0 && std::isfinite(arguments.damp)))
      throw InputError(fmt::format("--damp is {}, but must be a number from 0 on", arguments.damp));
  } else if (arguments.damp != 0) {
    throw InputError("--damp is for --least-squares");
  }
  check_sequence(arguments);
  check_standard_streams(arguments);
  check_inputs(arguments);
  check_outputs(arguments);
}

std::string output_of(const SolveArguments& arguments, std::size_t k) {
  std::string path = arguments.output;
  if (path.empty() || arguments.rhs.size() == 1 || is_standard_output(path)) return path;
  const auto slash = path.rfind('/');
  const auto dot = path.find('.', slash == std::string::npos ? 0 : slash + 1);
  return path.insert(dot == std::string::npos ? path.size() : dot, fmt::format(".{}", k + 1));
}

}  // namespace ayatori::cli
