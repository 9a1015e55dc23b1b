#include "ayatori/session/eigen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "ayatori/session/eigen/eigen_forecast.hpp"

namespace ayatori::session {

namespace {

/// Collective. A matrix of the file's, or of a generator of sparse matrices, made dense.
eigen::DistributedDense spread_entries(const eigen::ProcessGrid& grid, const std::string& source,
                                       const io::LoadedMatrix& loaded) {
  const comm::Comm& comm = grid.all;
  const sparse::RowBlock& block = loaded.block;
  comm::agree(comm, [&] {
    if (block.global_rows == block.global_columns) return;
    throw InputError(fmt::format("{}: {} x {}, but eigenvalues want a square matrix", source,
                                 block.global_rows, block.global_columns));
  });
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

/// Collective. The matrix on the grid; its entries are given up.
eigen::DistributedDense make_dense(const eigen::ProcessGrid& grid, EigenMatrix matrix,
                                   const eigen::EigenOptions& options, eigen::ProblemKind kind) {
  eigen::check_memory(grid.all, matrix.rows, options, kind);
  if (matrix.loaded) return spread_entries(grid, matrix.name, *matrix.loaded);
  if (!matrix.element) return eigen::make_test_matrix(grid, eigen::parse_test_matrix(matrix.name));
  auto a = eigen::make_dense(grid, matrix.rows);
  fill(a, matrix.element);
  check_symmetric(a, matrix.name);
  return a;
}

/// Collective. By the dense solver, with the grid, block and reduction that the profile advises.
void solve_dense(const Session& session, EigenMatrix a, std::optional<EigenMatrix> b, EigenRun& run) {
  const auto& comm = session.comm;
  const auto kind = b ? eigen::ProblemKind::generalized : eigen::ProblemKind::standard;
  auto [options, shape] = comm::agree(comm, [&] {
    const auto wanted = dense_options(run.request);
    check(wanted, run.rows, comm.size());
    return std::pair(wanted, eigen::parse_grid_shape(run.request.grid));
  });
  if (shape.rows == 0 && run.request.profile != "none") {
    const auto question = question_of(run.request, run.rows, kind, session.threads);
    if (const auto chosen = choose_grid(session.world, question, run.request)) {
      shape = chosen->grid;
      options.block = chosen->block;
      options.reduction = chosen->reduction;
    }
  }
  const auto grid = make_grid(comm, shape);
  run.grid = grid.shape;
  run.block = options.block;
  const Stopwatch spreading;
  const std::string name = a.name;
  auto dense_a = make_dense(grid, std::move(a), options, kind);
  std::optional<eigen::DistributedDense> dense_b;
  if (b) {
    comm::agree(comm, [&] {
      if (b->rows == run.rows) return;
      throw InputError(fmt::format("{} has {} rows, {} has {}: A and B are of the same order", name, run.rows,
                                   b->name, b->rows));
    });
    dense_b = make_dense(grid, *std::move(b), options, kind);
  }
  run.read_seconds += spreading.seconds();
  run.dense = dense_b ? eigen::solve_generalized(std::move(dense_a), *std::move(dense_b), options)
                      : eigen::solve_symmetric(std::move(dense_a), options);
}

}  // namespace

EigenMatrix load_eigen_matrix(const comm::Comm& comm, const std::string& source) {
  if (eigen::is_test_matrix(source))
    return {source, comm::agree(comm, [&] { return eigen::parse_test_matrix(source).n; })};
  auto loaded = io::load_matrix(comm, source);
  comm::agree(comm, [&] {
    if (loaded.facts.is_complex)
      throw InputError(
          fmt::format("{}: eigenvalues of complex matrices are not found yet: those of a Hermitian A + i B "
                      "are those of the real matrix [A -B; B A], each twice",
                      source));
  });
  const auto rows = loaded.block.global_rows;
  return {source, rows, std::move(loaded)};
}

std::span<const double> EigenRun::values() const {
  return sparse ? std::span<const double>(sparse->pairs.values) : std::span<const double>(dense->values);
}

const eigen::ColumnSpread& EigenRun::vectors() const {
  return sparse ? sparse->vectors : dense->vectors;
}

bool EigenRun::passed() const {
  return sparse ? sparse->passed() : dense->check.passed();
}

EigenRun solve_eigen(const Session& session, EigenMatrix a, std::optional<EigenMatrix> b,
                     const EigenRequest& request, const std::function<bool()>& wants_stop) {
  const Stopwatch total;
  const auto kind = b ? eigen::ProblemKind::generalized : eigen::ProblemKind::standard;
  comm::agree(session.comm, [&] { check(request, kind); });
  EigenRun run{.request = request,
               .matrix = a.name,
               .generalized = b ? b->name : "",
               .rows = a.rows,
               .ranks = session.world.size(),
               .threads = session.threads,
               .sparse = {},
               .dense = {},
               .grid = {},
               .tables = session.collectives.files};
  if (a.loaded && !b && request.precision == "double")
    run.sparse = solve_sparse(session.comm, a.name, *a.loaded, request, wants_stop);
  if (!run.sparse) solve_dense(session, std::move(a), std::move(b), run);
  if (run.sparse) run.read_seconds = run.sparse->read_seconds;
  if (const auto& tables = session.collectives.scheduled)
    run.scheduled_calls = scheduled_calls(tables->uses());
  run.total_seconds = total.seconds();
  return run;
}

}  // namespace ayatori::session
