#include "ayatori/session/least_squares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/problem/problem.hpp"
#include "ayatori/session/solve/same_request.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/residual.hpp"

namespace ayatori::session {

namespace {

constexpr double u = std::numeric_limits<double>::epsilon() / 2;

/// A square matrix with rows or columns of zeros behind those of A.
void make_square(const comm::Comm& comm, sparse::RowBlock& block) {
  const std::int64_t n = std::max(block.global_rows, block.global_columns);
  comm::agree(comm, [&] {
    if (comm.rank() == comm.size() - 1) {
      const auto missing = static_cast<std::size_t>(n - block.global_rows);
      block.row_start.resize(block.row_start.size() + missing, block.row_start.back());
    }
  });
  block.global_rows = block.global_columns = n;
}

/// Collective. damp I below A, on the last rank.
void append_damping(const comm::Comm& comm, sparse::RowBlock& block, double damp) {
  const std::int64_t columns = block.global_columns;
  comm::agree(comm, [&] {
    if (comm.rank() != comm.size() - 1) return;
    for (std::int64_t j = 0; j < columns; ++j) {
      block.column.push_back(j);
      block.value.push_back(damp);
      block.row_start.push_back(block.row_start.back() + 1);
    }
  });
  block.global_rows += columns;
}

/// Collective. A^T A, spread as A is, with ones on the diagonal where columns are zeros.
sparse::RowBlock normal_matrix(const comm::Comm& comm, const sparse::RowBlock& block) {
  const auto partition = sparse::partition_of(comm, block);
  const Range mine = partition.range(comm.rank());
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    const std::int64_t length = block.row_start[i + 1] - block.row_start[i];
    pairs += length * length;
  }
  const std::int64_t all_pairs = comm.allreduce(pairs, comm::ReduceOp::sum);
  const std::int64_t entries = comm.allreduce(block.nonzeros(), comm::ReduceOp::sum);
  constexpr std::int64_t most = 200;  // as many times the memory of A: rows that full want no A^T A
  if (all_pairs > most * (entries + block.global_rows))
    throw InputError(fmt::format(
        "A has rows that are too full for a preconditioner, which needs A^T A: {} entries come from {}",
        all_pairs, entries));
  std::vector<Array<sparse::Entry>> batches(1);
  comm::agree(comm, [&] {
    batches[0].reserve(static_cast<std::size_t>(pairs + mine.size()));
    for (std::int64_t i = 0; i < block.rows(); ++i) {
      for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k)
        for (std::int64_t l = block.row_start[i]; l < block.row_start[i + 1]; ++l)
          batches[0].push_back({block.column[k], block.column[l], block.value[k] * block.value[l]});
    }
    for (std::int64_t j = mine.begin; j < mine.end; ++j) batches[0].push_back({j, j, 0});
  });
  auto normal = sparse::assemble(comm, partition, block.global_columns, std::move(batches));
  for (std::int64_t i = 0; i < normal.rows(); ++i) {
    for (std::int64_t k = normal.row_start[i]; k < normal.row_start[i + 1]; ++k)
      if (normal.column[k] == mine.begin + i && normal.value[k] == 0) normal.value[k] = 1;
  }
  return normal;
}

bool wants_preconditioner(const SolveRequest& request) {
  return request.preconditioner != "auto" && request.preconditioner != "none";
}

/// M near (A^T A)^-1, with the matrix that it was made of.
struct NormalPreconditioner {
  std::unique_ptr<sparse::DistributedMatrix> matrix;
  std::unique_ptr<sparse::LinearOperator> op;
};

/// Collective. The one that is asked for, of A^T A spread as x is. `notes`: of its set-up.
NormalPreconditioner make_preconditioner(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                                         const sparse::RowBlock& normal, const SolveRequest& request,
                                         const solvers::GlobalSum& sum, std::vector<std::string>& notes) {
  auto split = std::make_shared<const sparse::SplitMatrix>(
      sparse::split(comm, sparse::redistribute(comm, normal, parts.partition)));
  NormalPreconditioner made{std::make_unique<sparse::DistributedMatrix>(comm, std::move(split)), nullptr};
  auto options = tuning_options(request).preconditioner;
  options.matrix_is_symmetric = true;
  auto built = solvers::preconditioner(request.preconditioner).make(*made.matrix, sum, options);
  made.op = std::move(built.op);
  notes = std::move(built.notes);
  return made;
}

/// The same ranks with the first n rows.
sparse::RowPartition first_rows(const sparse::RowPartition& partition, std::int64_t n) {
  auto starts = partition.starts();
  for (auto& start : starts) start = std::min(start, n);
  return sparse::RowPartition(std::move(starts));
}

/// Collective. b with zeros behind it.
Array<double> load_right_hand_side(const comm::Comm& comm, const Problem& problem, std::int64_t rows,
                                   const std::string& spec) {
  const auto partition = first_rows(problem.file_rows, rows);
  const auto here = static_cast<std::size_t>(partition.range(comm.rank()).size());
  const bool is_made = spec == "ones" || spec.starts_with("random:") || spec.starts_with("solution-random:");
  auto b = is_made ? make_right_hand_side(comm, problem, spec).b
                   : io::load_vector(comm, spec, partition, problem.source.is_complex);
  b.resize(here);
  b.resize(problem.file_rows.range(comm.rank()).size(), 0.0);
  return b;
}

/// Collective. Entries in the fullest column.
double longest_column(const comm::Comm& comm, const sparse::SplitMatrix& parts) {
  auto ones = std::make_shared<sparse::SplitMatrix>(parts);
  std::ranges::fill(ones->interior.value, 1.0);
  std::ranges::fill(ones->halo.value, 1.0);
  const sparse::TransposedProduct counts(comm, ones);
  const Array<double> all(parts.plan.local_size, 1.0);
  Array<double> count(all.size());
  counts.apply(all, count);
  return comm.allreduce(solvers::local_max_abs(count), comm::ReduceOp::max);
}

/// A system that is iterated on until what is claimed of its x is proved.
class Iteration {
 public:
  Iteration(const comm::Comm& comm, const Problem& problem, const Array<double>& b,
            const SolveRequest& request, const solvers::GlobalSum& sum,
            const sparse::LinearOperator* preconditioner, LeastSquaresRun& run)
      : comm_(comm),
        parts_(*problem.parts),
        b_(b),
        request_(request),
        sum_(sum),
        preconditioner_(preconditioner),
        run_(run),
        a_(comm, problem.parts),
        transposed_(comm, problem.parts),
        longest_column_(longest_column(comm, parts_)) {
    comm::agree(comm, [&] {
      for (auto* vector : {&x_, &r_, &correction_}) vector->resize(b.size());
    });
    solvers::fill(x_, 0);
    double square = 0;
    double largest = 0;
    for (const auto* values : {&parts_.interior.value, &parts_.halo.value}) {
      for (const double value : *values) {
        square += value * value;
        largest = std::max(largest, std::abs(value));
      }
    }
    frobenius_norm_ = std::sqrt(sum(square));
    run_.matrix_norm = std::max(comm.allreduce(largest, comm::ReduceOp::max), norm_from_below());
  }

  Array<double> solve() {
    run_.b_norm = solvers::norm(sum_, b_);
    verify();
    constexpr int most_rounds = 5;
    double atol = request_.rtol / 2;
    while (!run_.passed() && run_.rounds < most_rounds && iterations_left() > 0) {
      iterate(atol);
      verify();
      atol /= 10;
      const auto stop = run_.last.stop;
      if (stop == solvers::LeastSquaresStop::interrupted || stop == solvers::LeastSquaresStop::not_finite ||
          stop == solvers::LeastSquaresStop::condition)
        break;
    }
    run_.x_norm = solvers::norm(sum_, x_);
    return std::move(x_);
  }

 private:
  std::int64_t iterations_left() const {
    const std::int64_t enough = 1000 + 10 * std::min(run_.rows, run_.columns);
    return (request_.max_iterations > 0 ? request_.max_iterations : enough) - run_.iterations;
  }

  /// ||A v|| / ||v|| after some steps of the power method, less what rounding may have added.
  double norm_from_below() {
    constexpr int steps = 4;
    const Range mine = parts_.partition.range(comm_.rank());
    const solvers::Vector v = correction_;
    const solvers::Vector image = r_;
    for (std::int64_t i = 0; i < mine.size(); ++i) v[i] = random_uniform(1, mine.begin + i) - 0.5;
    double found = 0;
    for (int step = 0; step < steps; ++step) {
      const double size = solvers::norm(sum_, v);
      if (!(size > 0 && std::isfinite(size))) break;
      solvers::scale(1 / size, v);
      a_.apply(v, image);
      found = solvers::norm(sum_, image);
      transposed_.apply(image, v);
    }
    const double of_sums = (longest_row() + 8) * u * frobenius_norm_;
    const double of_norms = 4 * (static_cast<double>(parts_.partition.rows()) + 8) * u * found;
    return std::max(found - of_sums - of_norms, 0.0);
  }
  double longest_row() const {
    std::int64_t entries = 0;
    for (const auto* part : {&parts_.interior, &parts_.halo}) {
      std::int64_t longest = 0;
      for (std::size_t i = 0; i + 1 < part->row_start.size(); ++i)
        longest = std::max<std::int64_t>(longest, part->row_start[i + 1] - part->row_start[i]);
      entries += longest;
    }
    return static_cast<double>(comm_.allreduce(entries, comm::ReduceOp::max));
  }

  /// x becomes better by what LSMR makes of the residual: of all corrections, the one of least norm.
  void iterate(double atol) {
    solvers::LeastSquaresOptions options;
    options.target = request_.rtol * run_.b_norm / 2;
    options.atol = std::max(atol, 1e-14);
    if (preconditioner_ == nullptr) options.matrix_norm = run_.matrix_norm;
    options.max_iterations =
        static_cast<int>(std::min<std::int64_t>(iterations_left(), std::numeric_limits<int>::max()));
    run_.last = solvers::least_squares(
        {.a = a_, .transposed = transposed_, .b = r_, .sum = sum_, .preconditioner = preconditioner_},
        correction_, options);
    ++run_.rounds;
    run_.iterations += run_.last.iterations;
    if (!comm_.any(!std::isfinite(solvers::local_max_abs(correction_)))) solvers::axpy(1, correction_, x_);
  }

  /// Norms of r and A^T r of the x that there is, with bounds of their rounding. What is wrong with r,
  /// A^T multiplies by no more than the Frobenius norm; what is lost in the product is at most u times the
  /// entries of a column in |A^T| |r|.
  void verify() {
    const auto sums = sparse::residual(comm_, parts_, x_, b_, r_, sparse::Summation::doubled)[0];
    double all[2] = {sums.squares, sums.error_squares};
    comm_.allreduce(std::span<double>(all), comm::ReduceOp::sum);
    const auto n = static_cast<std::int64_t>(parts_.partition.rows());
    run_.r = solvers::certified_norm({.squares = all[0], .error_squares = all[1]}, n);
    transposed_.apply(r_, correction_);
    run_.normal.value = solvers::norm(sum_, correction_);
    const double of_sums = (longest_column_ + 2) * u * run_.r.value;
    const double of_norm = (static_cast<double>(n) + 8) * u * run_.normal.value;
    run_.normal.error_bound = frobenius_norm_ * (run_.r.error_bound + of_sums) * (1 + 1e-6) + of_norm;
    const bool is_trivial = run_.b_norm == 0 && run_.rounds == 0;  // x = 0, of which nothing is rounded
    run_.solves =
        is_trivial || run_.r.is_at_most(request_.rtol * solvers::lower_bound_of_norm(run_.b_norm, n));
    const double least = run_.matrix_norm * (run_.r.value - run_.r.error_bound);
    constexpr double too_small = 1e-280;  // products may underflow, of which the bounds know nothing
    const bool is_known = least > too_small || run_.matrix_norm == 0;
    run_.is_least_squares = is_known && run_.normal.is_at_most(request_.rtol * least);
  }

  const comm::Comm& comm_;
  const sparse::SplitMatrix& parts_;
  const Array<double>& b_;
  const SolveRequest& request_;
  const solvers::GlobalSum& sum_;
  const sparse::LinearOperator* preconditioner_;
  LeastSquaresRun& run_;
  sparse::DistributedMatrix a_;
  sparse::TransposedProduct transposed_;
  double longest_column_;
  double frobenius_norm_ = 0;
  Array<double> x_;
  Array<double> r_;
  Array<double> correction_;
};

}  // namespace

LeastSquaresOperators::LeastSquaresOperators(const comm::Comm& comm, sparse::RowBlock rows,
                                             const SolveRequest& request)
    : comm_(comm), sum_(comm) {
  comm::agree(comm, [&] {
    check(request);
    check_least_squares(request);
  });
  check_same(comm, request);
  const std::int64_t columns = rows.global_columns;
  make_square(comm, rows);
  local_columns_ = first_rows(sparse::partition_of(comm, rows), columns).range(comm.rank()).size();
  const auto parts = std::make_shared<const sparse::SplitMatrix>(sparse::split(comm, rows));
  a_.emplace(comm, parts);
  transposed_.emplace(comm, parts);
  if (!wants_preconditioner(request)) return;
  std::vector<std::string> notes;
  auto made = make_preconditioner(comm, *parts, normal_matrix(comm, rows), request, sum_, notes);
  normal_ = std::move(made.matrix);
  preconditioner_ = std::move(made.op);
}

double LeastSquaresRun::relative_normal() const {
  return normal.value > 0 ? normal.value / (matrix_norm * r.value) : 0;
}

void check_least_squares(const SolveRequest& request) {
  const SolveRequest usual;
  const std::pair<const char*, bool> others[] = {
      {"--method", request.method != usual.method},
      {"--partition", request.partition != usual.partition},
      {"--placement", request.placement != usual.placement},
      {"--coordinates", !request.coordinates.empty()},
      {"--fields", !request.fields.empty()},
      {"--checkpoint", !request.checkpoint.empty()},
      {"--resume", !request.resume.empty()},
      {"--replay", !request.replay.empty()},
      {"--device", request.device != usual.device && request.device != "none"},
  };
  for (const auto& [option, is_given] : others) {
    if (is_given)
      throw InputError(
          fmt::format("{} has no meaning with --least-squares, which is LSMR on rows as they are", option));
  }
  // Complete factors are as symmetric as the matrix.
  const auto fits = [](const solvers::Preconditioner& one) {
    return one.symmetric || one.obeys.complete_factors;
  };
  if (!wants_preconditioner(request) || fits(solvers::preconditioner(request.preconditioner))) return;
  std::string fitting;
  for (const auto& one : solvers::preconditioners())
    if (fits(one)) fitting += fmt::format("{}{}", fitting.empty() ? "" : ", ", one.name);
  throw InputError(
      fmt::format("--preconditioner {} is not symmetric, as --least-squares needs it: choose one of {}",
                  request.preconditioner, fitting));
}

LeastSquaresRun solve_least_squares(const Session& session, const std::string& matrix, const std::string& rhs,
                                    const SolveRequest& request, double damp,
                                    const std::function<bool()>& wants_stop) {
  const comm::Comm& comm = session.comm;
  LeastSquaresRun run;
  Stopwatch watch;
  auto loaded = io::load_matrix(comm, matrix);
  const std::int64_t rows = loaded.block.global_rows;
  const std::int64_t columns = loaded.block.global_columns;
  const std::int64_t parts = loaded.facts.is_complex ? 2 : 1;  // parts of a number, in the real form
  run.rows = rows / parts;
  run.columns = columns / parts;
  run.nonzeros = comm.allreduce(loaded.block.nonzeros(), comm::ReduceOp::sum) / (parts * parts);
  run.source = loaded.facts;
  run.rhs = rhs;
  run.damp = damp;
  run.rtol = request.rtol;
  run.ranks = comm.size();
  if (damp > 0) append_damping(comm, loaded.block, damp);
  make_square(comm, loaded.block);
  std::optional<sparse::RowBlock> normal;
  if (wants_preconditioner(request)) normal = normal_matrix(comm, loaded.block);
  const auto problem = spread_problem(comm, std::move(loaded), PartitionKind::contiguous);
  const auto b = load_right_hand_side(comm, problem, rows, rhs);
  run.read_seconds = watch.seconds();

  watch.restart();
  const solvers::GlobalSum sum(comm, [&] {
    return (wants_stop && wants_stop()) || (request.time_limit > 0 && watch.seconds() > request.time_limit);
  });
  NormalPreconditioner preconditioner;
  if (normal) {
    preconditioner = make_preconditioner(comm, *problem.parts, *normal, request, sum, run.notes);
    run.preconditioner = request.preconditioner;
    run.setup_seconds = watch.seconds();
  }
  run.x = Iteration(comm, problem, b, request, sum, preconditioner.op.get(), run).solve();
  run.x_rows = first_rows(problem.file_rows, columns);
  run.x.resize(run.x_rows.range(comm.rank()).size());
  run.seconds = watch.seconds();
  return run;
}

}  // namespace ayatori::session
