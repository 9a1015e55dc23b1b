#include "ayatori/eigen/solve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/schedule_tables.hpp"
#include "cli/command.hpp"
#include "cli/eigen_forecast.hpp"
#include "cli/eigen_sparse.hpp"
#include "cli/eigen_values.hpp"
#include "cli/hold_signals.hpp"
#include "cli/result_files.hpp"

namespace ayatori::cli {

namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string matrix;
  std::string generalized;  ///< B, or empty
  std::string output;
  std::string json;
  std::string grid = "auto";
  std::string precision = "double";
  std::string collectives = "auto";
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::pair<double, double> range;
  eigen::EigenOptions options;
  SparseEigenOptions sparse;
  EigenMachine machine;
  bool keep_block = false;
  bool values_only = false;
  int threads = 0;
  bool quiet = false;
};

/// What was solved, on what.
struct EigenRun {
  const Arguments& arguments;
  std::int64_t n;
  int ranks;
  int threads;
  eigen::GridShape grid;
  session::FoundCollectives tables;
  double read_seconds;
  double total_seconds;
  const eigen::EigenResult& result;
};

eigen::ProblemKind kind_of(const Arguments& arguments) {
  return arguments.generalized.empty() ? eigen::ProblemKind::standard : eigen::ProblemKind::generalized;
}

std::string values_path(const Arguments& arguments) {
  return arguments.output + ".values.mtx";
}

std::string vectors_path(const Arguments& arguments) {
  return arguments.output + ".vectors.mtx";
}

/// A result that cannot be written is found out now. Called on rank 0.
void check_outputs(const Arguments& arguments) {
  std::vector<std::string> paths;
  if (!arguments.json.empty()) paths.push_back(arguments.json);
  if (!arguments.output.empty()) paths.push_back(values_path(arguments));
  if (!arguments.output.empty() && arguments.options.vectors) paths.push_back(vectors_path(arguments));
  for (const std::string& path : paths) {
    if (path == arguments.matrix || path == arguments.generalized || std::ranges::count(paths, path) > 1)
      throw InputError(fmt::format("{}: would be written over", path));
    check_writable(path);
  }
}

/// Collective. A matrix of the file's, or of a generator of sparse matrices, made dense.
eigen::DistributedDense make_dense(const eigen::ProcessGrid& grid, const std::string& source,
                                   const io::LoadedMatrix& loaded, const eigen::EigenOptions& options,
                                   eigen::ProblemKind kind) {
  const comm::Comm& comm = grid.all;
  const sparse::RowBlock& block = loaded.block;
  comm::agree(comm, [&] {
    if (block.global_rows == block.global_columns) return;
    throw InputError(fmt::format("{}: {} x {}, but eigenvalues want a square matrix", source,
                                 block.global_rows, block.global_columns));
  });
  comm::agree(comm, [&] { check(options, block.global_rows, comm.size()); });
  eigen::check_memory(comm, block.global_rows, options, kind);
  auto a = eigen::make_dense(grid, block.global_rows);

  constexpr std::int64_t batch = std::int64_t{1} << 20;  // entries that travel at a time
  const std::int64_t most = comm.allreduce(block.nonzeros(), comm::ReduceOp::max);
  std::vector<eigen::DenseEntry> entries;
  std::int64_t row = 0;
  std::int64_t next = 0;
  for (std::int64_t sent = 0; sent < most; sent += batch) {
    entries.clear();
    for (; next < std::min(block.nonzeros(), sent + batch); ++next) {
      while (next >= block.row_start[row + 1]) ++row;
      entries.push_back({block.first_row + row, block.column[next], block.value[next]});
    }
    add_entries(a, entries);
  }
  check_symmetric(a, source);
  return a;
}

/// What the command line calls a matrix: a test matrix, which is made where it is needed, or entries.
struct Source {
  std::string name;
  std::optional<io::LoadedMatrix> loaded;  ///< unless it is a test matrix

  std::int64_t order() const { return loaded ? loaded->block.global_rows : eigen::parse_test_matrix(name).n; }
};

/// Collective.
Source read_source(const comm::Comm& comm, const std::string& name) {
  if (!eigen::is_test_matrix(name)) return {name, io::load_matrix(comm, name)};
  comm::agree(comm, [&] { eigen::parse_test_matrix(name); });
  return {name, std::nullopt};
}

/// Collective. The source's entries are given up.
eigen::DistributedDense make_dense(const eigen::ProcessGrid& grid, Source source,
                                   const eigen::EigenOptions& options, eigen::ProblemKind kind) {
  if (source.loaded) return make_dense(grid, source.name, *source.loaded, options, kind);
  const auto matrix = eigen::parse_test_matrix(source.name);
  comm::agree(grid.all, [&] { check(options, matrix.n, grid.all.size()); });
  eigen::check_memory(grid.all, matrix.n, options, kind);
  return eigen::make_test_matrix(grid, matrix);
}

/// How many collective calls of rank 0 went by schedules of the tables.
std::int64_t scheduled_calls(const session::FoundCollectives& tables) {
  std::int64_t calls = 0;
  if (tables.scheduled) {
    for (const auto& use : tables.scheduled->uses()) calls += use.calls;
  }
  return calls;
}

ordered_json to_json(const EigenRun& run) {
  const auto& times = run.result.times;
  const auto& check = run.result.check;
  ordered_json json{
      {"schema", "ayatori.eigen/1"},
      {"matrix", {{"source", run.arguments.matrix}, {"rows", run.n}}},
      {"ranks", run.ranks},
      {"threads", run.threads},
      {"grid", {run.grid.rows, run.grid.columns}},
      {"block", run.arguments.options.block},
      {"method", "dense"},
      {"reduction", run.result.reduction},
      {"precision", run.arguments.precision},
      {"collectives", run.tables.files},
      {"scheduled_calls", scheduled_calls(run.tables)},
      {"vectors", run.arguments.options.vectors},
      {"pairs", run.result.values.size()},
      {"verified", check.passed()},
      {"largest_good_ratio", eigen::largest_good_ratio},
      {"ratios", {{"moments", check.moments}}},
      {"seconds",
       {{"all", run.total_seconds},
        {"reading", run.read_seconds},
        {"total", times.total},
        {"tridiagonalization", times.tridiagonalization},
        {"tridiagonal_solve", times.tridiagonal_solve},
        {"redistribution", times.redistribution},
        {"back_transformation", times.back_transformation},
        {"verification", times.verification}}},
      {"collective_operations", ordered_json::object()},
      {"values", run.result.values},
  };
  if (kind_of(run.arguments) == eigen::ProblemKind::generalized) {
    json["generalized"] = run.arguments.generalized;
    json["ratios"]["reduction"] = check.reduction;
    json["seconds"]["reduction"] = times.reduction;
    json["seconds"]["back_substitution"] = times.back_substitution;
  }
  if (run.arguments.options.precision == eigen::Precision::mixed) {
    json["refinement"] = {{"steps", run.result.refinement_steps},
                          {"converged", run.result.precision == eigen::Precision::mixed}};
    json["seconds"]["refinement"] = times.refinement;
  }
  if (run.arguments.options.vectors) {
    json["ratios"]["residual"] = check.residual;
    json["ratios"]["orthogonality"] = check.orthogonality;
  }
  for (const auto& [operation, cost] : times.collectives) {
    json["collective_operations"][operation] = {
        {"calls", cost.calls}, {"bytes", cost.bytes}, {"seconds", cost.seconds}};
  }
  return json;
}

std::string describe_precision(const EigenRun& run) {
  const int steps = run.result.refinement_steps;
  if (run.arguments.options.precision != eigen::Precision::mixed) return run.arguments.precision;
  if (run.result.precision == eigen::Precision::mixed)
    return fmt::format("mixed: float and {} refinement{}", steps, steps == 1 ? "" : "s");
  return fmt::format("mixed: {} refinement{} did not converge, so all again in double", steps,
                     steps == 1 ? "" : "s");
}

std::string summary(const EigenRun& run) {
  const auto& times = run.result.times;
  const auto& check = run.result.check;
  const auto& values = run.result.values;
  const bool generalized = kind_of(run.arguments) == eigen::ProblemKind::generalized;
  std::string text = fmt::format("matrix     {}: {} rows, dense symmetric\n", run.arguments.matrix, run.n);
  if (generalized) text += fmt::format("times      {}: positive definite\n", run.arguments.generalized);
  text +=
      fmt::format("machine    {} rank{} x {} thread{}, grid {}x{}\n", run.ranks, run.ranks == 1 ? "" : "s",
                  run.threads, run.threads == 1 ? "" : "s", run.grid.rows, run.grid.columns);
  text += fmt::format("reduction  {}, blocks of {}, precision {}\n", run.result.reduction,
                      run.arguments.options.block, describe_precision(run));
  text += values.empty() ? std::string("result     no eigenvalue in the range\n")
                         : fmt::format("result     {} eigen{}, {:.6g} to {:.6g}\n", values.size(),
                                       run.arguments.options.vectors ? "pairs" : "values", values.front(),
                                       values.back());
  text += value_lines(values);
  text += fmt::format("verified   {}: ", check.passed() ? "good" : "NOT GOOD");
  if (run.arguments.options.vectors) {
    text += fmt::format(
        fmt::runtime(generalized
                         ? "||A v - lambda B v|| / (n eps (||A|| + |lambda| ||B||) ||v||) {:.2g}, "
                           "|V'BV - I| / (n eps |V| ||B|| |V|) {:.2g}, "
                         : "||A v - lambda v|| / (n eps ||A||) {:.2g}, ||V'V - I|| / (n eps) {:.2g}, "),
        check.residual, check.orthogonality);
  }
  if (generalized) text += fmt::format("reduction {:.2g}, ", check.reduction);
  text += fmt::format("moments {:.2g}; up to {} is good\n", check.moments, eigen::largest_good_ratio);
  text += fmt::format(
      "time       {:.3f} s: {}tridiagonalization {:.3f}, tridiagonal solve {:.3f}, redistribution {:.3f}, "
      "back-transformation {:.3f}{}{}; verification {:.3f} more\n",
      times.total, generalized ? fmt::format("reduction {:.3f}, ", times.reduction) : "",
      times.tridiagonalization, times.tridiagonal_solve, times.redistribution, times.back_transformation,
      generalized ? fmt::format(", back-substitution {:.3f}", times.back_substitution) : "",
      run.arguments.options.precision == eigen::Precision::mixed
          ? fmt::format(", refinement {:.3f}", times.refinement)
          : "",
      times.verification);
  for (const auto& [operation, cost] : times.collectives) {
    text += fmt::format("           {} {:.3f} s, {} calls, {:.3g} MB\n", operation, cost.seconds, cost.calls,
                        static_cast<double>(cost.bytes) * 1e-6);
  }
  return text;
}

ordered_json to_json(const Arguments& arguments, const SparseEigenResult& result, int ranks, int threads,
                     double all_seconds) {
  const auto& pairs = result.pairs;
  return {
      {"schema", "ayatori.eigen/1"},
      {"matrix", {{"source", arguments.matrix}, {"rows", result.n}}},
      {"ranks", ranks},
      {"threads", threads},
      {"method", "davidson"},
      {"because", result.why},
      {"preconditioner", result.preconditioner},
      {"vectors", arguments.options.vectors},
      {"pairs", pairs.values.size()},
      {"products", pairs.products},
      {"restarts", pairs.restarts},
      {"tolerance", result.tolerance},
      {"verified", result.passed()},
      {"residual", result.check.residual},
      {"ratios", {{"orthogonality", result.check.orthogonality}}},
      {"seconds",
       {{"all", all_seconds},
        {"reading", result.read_seconds},
        {"setup", result.setup_seconds},
        {"total", result.setup_seconds + result.seconds},
        {"verification", result.verification_seconds}}},
      {"values", pairs.values},
      {"residuals", pairs.residuals},
  };
}

std::string summary(const Arguments& arguments, const SparseEigenResult& result, int ranks, int threads) {
  const auto& values = result.pairs.values;
  const bool good = result.passed();
  return fmt::format(
      "matrix     {}: {} rows, sparse symmetric\n"
      "machine    {} rank{} x {} thread{}\n"
      "method     davidson with preconditioner {}: {}\n"
      "result     {} eigenpairs, {:.6g} to {:.6g}, {} products, {} restarts\n"
      "{}"
      "verified   {}: ||A v - lambda v|| / ||A|| {:.2g} of {:.2g} asked, ||V'V - I|| / (n eps) {:.2g}\n"
      "time       {:.3f} s: set-up {:.3f}, iteration {:.3f}; reading {:.3f}, verification {:.3f} more\n",
      arguments.matrix, result.n, ranks, ranks == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
      result.preconditioner, result.why, values.size(), values.front(), values.back(), result.pairs.products,
      result.pairs.restarts, value_lines(values), good ? "good" : "NOT GOOD", result.check.residual,
      result.tolerance, result.check.orthogonality, result.setup_seconds + result.seconds,
      result.setup_seconds, result.seconds, result.read_seconds, result.verification_seconds);
}

/// Collective. The pairs, and `report`, made on rank 0.
void write_results(const comm::Comm& comm, const Arguments& arguments, std::span<const double> all_values,
                   const eigen::ColumnSpread& vectors, std::int64_t n,
                   const std::function<ordered_json()>& report) {
  const HoldSignals hold(comm);
  ResultFiles files(comm);
  const auto count = static_cast<std::int64_t>(all_values.size());
  const auto write = [&](const std::string& path, std::string_view what, std::span<const double> local,
                         std::int64_t rows, std::int64_t columns) {
    files.write_array(path, what, local, [&](const comm::Comm& ranks, const std::string& file, auto values) {
      io::write_matrix_market_array(ranks, file, values, rows, columns, io::Compression::none);
    });
  };
  if (!arguments.output.empty()) {
    write(values_path(arguments), "the values", all_values.first(comm.rank() == 0 ? count : 0), count, 1);
    if (arguments.options.vectors) write(vectors_path(arguments), "the vectors", vectors.values, n, count);
  }
  if (!arguments.json.empty())
    files.write_text(arguments.json, "the report", [&] { return report().dump(2) + "\n"; });
  files.finish();
}

/// Collective.
int run_prediction(const comm::Comm& world, const Arguments& arguments, eigen::GridShape shape) {
  const std::int64_t n = read_source(world, arguments.matrix).order();
  comm::agree(world, [&] { check(arguments.options, n, 1); });
  predict_eigen(world,
                {arguments.matrix, n, shape, arguments.options, arguments.keep_block, kind_of(arguments),
                 std::max(1, arguments.threads)},
                arguments.machine, arguments.json);
  return 0;
}

int run_eigen(const comm::Comm& world, const Arguments& given) {
  Arguments arguments = given;
  const Stopwatch all;
  auto shape = comm::agree(world, [&] {
    check(arguments.machine);
    if (world.rank() == 0) check_outputs(arguments);
    check(arguments.sparse, arguments.options.selection);
    if (arguments.sparse.method == "davidson" && !arguments.generalized.empty())
      throw InputError("--method davidson solves A x = lambda x: leave it away, or --generalized");
    arguments.options.precision = eigen::parse_precision(arguments.precision);
    const bool is_mixed = arguments.options.precision == eigen::Precision::mixed;
    if (arguments.sparse.method == "davidson" && arguments.precision != "double")
      throw InputError(fmt::format("--method davidson iterates in double: leave --precision {} away",
                                   arguments.precision));
    if (is_mixed && !arguments.machine.ranks.empty())
      throw InputError("--predict: how often mixed precision refines depends on the matrix: float or double");
    return eigen::parse_grid_shape(arguments.grid);
  });
  if (!arguments.machine.ranks.empty()) return run_prediction(world, arguments, shape);
  const int threads = comm::set_threads(world, arguments.threads);
  const auto tables = session::find_collectives(world, arguments.collectives);
  const auto comm = tables.scheduled ? world.with_collectives(tables.scheduled) : world;
  const bool speaks = world.rank() == 0 && !arguments.quiet;

  const auto kind = kind_of(arguments);
  const double before_reading = all.seconds();
  auto source = read_source(comm, arguments.matrix);
  double read_seconds = all.seconds() - before_reading;
  const bool is_double = arguments.options.precision == eigen::Precision::float64;
  if (source.loaded && kind == eigen::ProblemKind::standard && is_double) {
    auto sparse = solve_sparse(comm, source.name, *source.loaded, arguments.options, arguments.sparse);
    if (sparse) {
      sparse->read_seconds += read_seconds;
      if (speaks) fmt::print(stderr, "{}", summary(arguments, *sparse, world.size(), threads));
      write_results(comm, arguments, sparse->pairs.values, sparse->vectors, sparse->n,
                    [&] { return to_json(arguments, *sparse, world.size(), threads, all.seconds()); });
      return sparse->passed() ? 0 : 1;
    }
  }

  const std::int64_t n = source.order();
  comm::agree(comm, [&] { check(arguments.options, n, comm.size()); });
  if (shape.rows == 0 && arguments.machine.profile != "none") {
    const EigenQuestion question{arguments.matrix,     n,    shape,  arguments.options,
                                 arguments.keep_block, kind, threads};
    if (const auto chosen = choose_grid(world, question, arguments.machine)) {
      shape = chosen->grid;
      arguments.options.block = chosen->block;
      arguments.options.reduction = chosen->reduction;
    }
  }
  const auto grid = make_grid(comm, shape);
  const double before_spreading = all.seconds();
  auto a = make_dense(grid, std::move(source), arguments.options, kind);
  std::optional<eigen::DistributedDense> b;
  if (kind == eigen::ProblemKind::generalized) {
    b = make_dense(grid, read_source(comm, arguments.generalized), arguments.options, kind);
    comm::agree(comm, [&] {
      if (b->order() == n) return;
      throw InputError(fmt::format("{} has {} rows, {} has {}: A and B are of the same order",
                                   arguments.matrix, n, arguments.generalized, b->order()));
    });
  }
  read_seconds += all.seconds() - before_spreading;
  const auto result = b ? eigen::solve_generalized(std::move(a), *std::move(b), arguments.options)
                        : eigen::solve_symmetric(std::move(a), arguments.options);

  const EigenRun run{arguments,     n,     world.size(), threads, grid.shape, tables, read_seconds,
                     all.seconds(), result};
  if (speaks) fmt::print(stderr, "{}", summary(run));
  write_results(comm, arguments, result.values, result.vectors, n, [&] { return to_json(run); });
  return result.check.passed() ? 0 : 1;
}

}  // namespace

void add_eigen(Command& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("eigen", "Eigenvalues and eigenvectors of a symmetric matrix, verified");
  command
      ->add_option("matrix", arguments->matrix,
                   "Matrix file, generator spec, or random:n=1000,spectrum=uniform,scale=1,seed=1")
      ->required();
  command
      ->add_option("--generalized", arguments->generalized,
                   "B of A x = lambda B x, symmetric positive definite: what MATRIX may be")
      ->type_name("B");
  auto* smallest = command->add_option("--smallest", arguments->smallest, "Only so many, the smallest");
  auto* largest = command->add_option("--largest", arguments->largest, "Only so many, the largest");
  auto* range = command->add_option("--range", arguments->range, "Only those from A to B")->type_name("A B");
  smallest->excludes(largest, range);
  largest->excludes(range);
  command->add_flag("--values-only", arguments->values_only, "No eigenvectors");
  command
      ->add_option("-o,--output", arguments->output,
                   "Write PREFIX.values.mtx and PREFIX.vectors.mtx (a column each)")
      ->type_name("PREFIX");
  command->add_option("--json", arguments->json, "Write the result here (schema ayatori.eigen/1)");
  auto* block =
      command
          ->add_option("--block", arguments->options.block, "Columns that are reduced and applied together")
          ->capture_default_str();
  command
      ->add_option("--reduction", arguments->options.reduction,
                   "To tridiagonal form: auto, one-stage, two-stage (by way of a band of BLOCK diagonals)")
      ->capture_default_str();
  command
      ->add_option(
          "--precision", arguments->precision,
          "double, float (half the memory traffic, 7 digits), or mixed: float, and all pairs refined "
          "to double")
      ->capture_default_str();
  command->add_option("--predict", arguments->machine.ranks,
                      "Numbers of ranks, such as 1,4,32: forecast the dense solver there, and do not solve");
  command
      ->add_option("--profile", arguments->machine.profile,
                   "Machine profile (see probe): none, auto, a file, or a published one. Forecasts go by it, "
                   "and choose grid and block")
      ->capture_default_str();
  command->add_option("--gflops", arguments->machine.gflops,
                      "Of a thread's matrix products, for forecasts; 0: measured here");
  command->add_option("--memory-bandwidth", arguments->machine.memory_bandwidth,
                      "GB/s of a node with all its ranks at work, for forecasts, instead of the profile's");
  command
      ->add_option("--ranks-per-node", arguments->machine.ranks_per_node, "Of --predict: ranks on each node")
      ->check(positive())
      ->capture_default_str();
  command
      ->add_option("--method", arguments->sparse.method,
                   "auto, dense, or, for a few pairs of a sparse matrix, davidson")
      ->capture_default_str();
  command
      ->add_option("--preconditioner", arguments->sparse.preconditioner,
                   "Of davidson: auto, or one of those of solve")
      ->capture_default_str();
  command
      ->add_option("--tolerance", arguments->sparse.tolerance,
                   "Of davidson: ||A v - lambda v|| / ||A||; 0: n eps, as of the dense solver")
      ->capture_default_str();
  command->add_option("--grid", arguments->grid, "auto, or ROWSxCOLUMNS of ranks")->capture_default_str();
  command
      ->add_option("--collectives", arguments->collectives,
                   "Tables of schedules (see collectives tune), separated by colons; none; auto: what "
                   "AYATORI_COLLECTIVES names")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads per rank; 0: all cores")
      ->check(non_negative())
      ->capture_default_str();
  command->add_flag("-q,--quiet", arguments->quiet, "Say nothing but errors");
  command->callback([=, &run] {
    using Kind = eigen::Selection::Kind;
    eigen::Selection& selection = arguments->options.selection;
    if (*smallest) selection = {Kind::smallest, arguments->smallest, 0, 0};
    if (*largest) selection = {Kind::largest, arguments->largest, 0, 0};
    if (*range) selection = {Kind::range, 0, arguments->range.first, arguments->range.second};
    arguments->options.vectors = !arguments->values_only;
    arguments->keep_block = static_cast<bool>(*block);
    run = [arguments](const comm::Comm& world) { return run_eigen(world, *arguments); };
  });
}

}  // namespace ayatori::cli
