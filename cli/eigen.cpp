#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/session/eigen.hpp"
#include "ayatori/session/eigen/eigen_scaling.hpp"
#include "ayatori/session/problem/input_file.hpp"
#include "cli/command.hpp"
#include "cli/hold_signals.hpp"
#include "cli/parser/declare.hpp"
#include "cli/result_files.hpp"
#include "cli/stop_signal.hpp"

namespace ayatori::cli {

namespace {

struct EigenArguments {
  std::string matrix;
  std::string generalized;  ///< B, or empty
  std::string output;
  std::string json;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::pair<double, double> range;
  session::EigenRequest request;
  session::EigenJobs jobs;
  bool values_only = false;
  bool quiet = false;
};

std::string values_path(const EigenArguments& arguments) {
  return arguments.output + ".values.mtx";
}

std::string vectors_path(const EigenArguments& arguments) {
  return arguments.output + ".vectors.mtx";
}

/// A file that is not there, or a result that cannot be written, is found out now. Called on rank 0.
void check_files(const EigenArguments& arguments) {
  const std::string& b = arguments.generalized;
  if (!b.empty() && !eigen::is_test_matrix(b) && !io::is_generator(b))
    session::check_input("--generalized", b);
  std::vector<std::string> paths;
  if (!arguments.json.empty()) paths.push_back(arguments.json);
  if (!arguments.output.empty()) paths.push_back(values_path(arguments));
  if (!arguments.output.empty() && arguments.request.vectors) paths.push_back(vectors_path(arguments));
  for (const std::string& path : paths) {
    if (path == arguments.matrix || path == arguments.generalized || std::ranges::count(paths, path) > 1)
      throw InputError(fmt::format("{}: would be written over", path));
    check_writable(path);
  }
}

/// Collective. The pairs and the report.
void write_results(const comm::Comm& comm, const EigenArguments& arguments, const session::EigenRun& run) {
  const HoldSignals hold(comm);
  ResultFiles files(comm);
  const auto all_values = run.values();
  const auto count = static_cast<std::int64_t>(all_values.size());
  const auto write = [&](const std::string& path, std::string_view what, std::span<const double> local,
                         std::int64_t rows, std::int64_t columns) {
    files.write_array(path, what, local, [&](const comm::Comm& ranks, const std::string& file, auto values) {
      io::write_matrix_market_array(ranks, file, values, rows, columns);
    });
  };
  if (!arguments.output.empty()) {
    write(values_path(arguments), "the values", all_values.first(comm.rank() == 0 ? count : 0), count, 1);
    if (arguments.request.vectors)
      write(vectors_path(arguments), "the vectors", run.vectors().values, run.rows, count);
  }
  if (!arguments.json.empty())
    files.write_text(arguments.json, "the report", [&] { return to_json(run).dump(2) + "\n"; });
  files.finish();
}

/// Collective.
int run_prediction(const comm::Comm& world, const EigenArguments& arguments, eigen::ProblemKind kind) {
  const std::int64_t n = session::load_eigen_matrix(world, arguments.matrix).rows;
  const auto question = comm::agree(world, [&] {
    check(dense_options(arguments.request), n, 1);
    return question_of(arguments.request, n, kind, std::max(1, arguments.request.threads));
  });
  const auto scaling =
      session::predict_eigen(world, arguments.matrix, question, arguments.request, arguments.jobs);
  comm::agree(world, [&] {
    if (!scaling) return;
    fmt::print(stderr, "{}", summary(*scaling));
    if (!arguments.json.empty()) write_file(arguments.json, to_json(*scaling).dump(2) + "\n");
  });
  return 0;
}

int run_eigen(const comm::Comm& world, const EigenArguments& arguments) {
  const Stopwatch all;
  const auto kind =
      arguments.generalized.empty() ? eigen::ProblemKind::standard : eigen::ProblemKind::generalized;
  comm::agree(world, [&] {
    check(arguments.jobs, arguments.request);
    check(arguments.request, kind);
    if (world.rank() == 0) check_files(arguments);
  });
  if (!arguments.jobs.ranks.empty()) return run_prediction(world, arguments, kind);
  const auto session = session::begin_session(world, {.threads = arguments.request.threads,
                                                      .profile = "none",
                                                      .collectives = arguments.request.collectives});
  const double before_reading = all.seconds();
  auto a = session::load_eigen_matrix(session.comm, arguments.matrix);
  std::optional<session::EigenMatrix> b;
  if (!arguments.generalized.empty()) b = session::load_eigen_matrix(session.comm, arguments.generalized);
  const double read_seconds = all.seconds() - before_reading;

  std::optional<StopSignal> stop;
  if (arguments.request.method != "dense") stop.emplace();
  auto run = session::solve_eigen(session, std::move(a), std::move(b), arguments.request,
                                  [&] { return stop && stop->received(); });
  stop.reset();
  run.read_seconds += read_seconds;
  run.total_seconds = all.seconds();
  if (world.rank() == 0 && !arguments.quiet) fmt::print(stderr, "{}", summary(run));
  write_results(session.comm, arguments, run);
  return run.passed() ? 0 : 1;
}

}  // namespace

void add_eigen(Command& app, Run& run) {
  auto arguments = std::make_shared<EigenArguments>();
  auto* command = app.add_subcommand("eigen", "Eigenvalues and eigenvectors of a symmetric matrix, verified");
  command->examples(
      {{"ayatori eigen A.mtx --smallest 5 -o low", "the five smallest: low.values.mtx and low.vectors.mtx"},
       {"ayatori eigen K.mtx --generalized M.mtx --range 0 1 --json pairs.json",
        "K x = lambda M x, eigenvalues from 0 to 1"},
       {"ayatori eigen random:n=200 --predict 1,8 --profile altix3700bx2 --gflops 5 --memory-bandwidth 100",
        "how long it would take on 1 and on 8 ranks"}});
  command
      ->add_option("matrix", arguments->matrix,
                   "Matrix file, generator spec, or random:n=1000,spectrum=uniform,scale=1,seed=1")
      ->required();
  command
      ->add_option("--generalized", arguments->generalized,
                   "B of A x = lambda B x, symmetric positive definite: what MATRIX may be")
      ->type_name("B");
  auto* smallest = command->add_option("--smallest", arguments->smallest, "How many, from the smallest on");
  auto* largest = command->add_option("--largest", arguments->largest, "How many, from the largest on");
  auto* range = command->add_option("--range", arguments->range, "Only those from A to B")->type_name("A B");
  smallest->excludes(largest, range);
  largest->excludes(range);
  command->add_flag("--values-only", arguments->values_only, "No eigenvectors");
  command
      ->add_option("-o,--output", arguments->output,
                   "Write PREFIX.values.mtx and PREFIX.vectors.mtx (a column each)")
      ->type_name("PREFIX");
  command->add_option("--json", arguments->json, "Write the result here (schema ayatori.eigen/1)");
  command->add_option("--predict", arguments->jobs.ranks,
                      "Numbers of ranks, such as 1,4,32: forecast the dense solver there, and do not solve");
  command->add_option("--ranks-per-node", arguments->jobs.ranks_per_node, "Of --predict: ranks on each node")
      ->check(positive())
      ->capture_default_str();
  declare(*command, session::eigen_options(), arguments->request);
  command->add_flag("-q,--quiet", arguments->quiet, "Say nothing but errors");
  command->groups(
      {{"Input and output", {"--generalized", "--output", "--json", "--quiet"}},
       {"Which pairs", {"--smallest", "--largest", "--range", "--values-only"}},
       {"Method (chosen unless told)",
        {"--method", "--precision", "--reduction", "--block", "--grid", "--preconditioner", "--tolerance"}},
       {"Ranks and machine", {"--threads", "--collectives", "--profile"}},
       {"Forecast", {"--predict", "--ranks-per-node", "--gflops", "--memory-bandwidth"}}});
  command->callback([=, &run] {
    using Kind = eigen::Selection::Kind;
    eigen::Selection& selection = arguments->request.selection;
    if (*smallest) selection = {Kind::smallest, arguments->smallest, 0, 0};
    if (*largest) selection = {Kind::largest, arguments->largest, 0, 0};
    if (*range) selection = {Kind::range, 0, arguments->range.first, arguments->range.second};
    arguments->request.vectors = !arguments->values_only;
    run = [arguments](const comm::Comm& world) { return run_eigen(world, *arguments); };
  });
}

}  // namespace ayatori::cli
