#include "ayatori/session/eigen/sparse_eigen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/problem/problem.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/tuning/facts/facts.hpp"

namespace ayatori::session {

namespace {

bool is_end(const eigen::Selection& selection) {
  return selection.kind == eigen::Selection::Kind::smallest ||
         selection.kind == eigen::Selection::Kind::largest;
}

/// Bytes that Householder's reduction moves: half of its 4/3 n^3 operations read an element for every four,
/// the other half, matrix products, takes as long at most.
double dense_bytes(double n) {
  return 8.0 / 3 * n * n * n;
}

/// Bytes that a product costs with what follows from it: the matrix, and eight passes over the basis for
/// every block that joins it.
double bytes_of_product(const tuning::MatrixFacts& facts, std::int64_t count) {
  constexpr double passes = 8;
  const auto n = static_cast<double>(facts.rows);
  const auto block = static_cast<double>(eigen::block_size(facts.rows, count));
  return 12 * static_cast<double>(facts.nonzeros) +
         passes * 8 * n * static_cast<double>(eigen::basis_size(facts.rows, count)) / block;
}

bool fits_dense(const comm::Comm& comm, std::int64_t n, const eigen::EigenOptions& wanted) {
  try {
    eigen::check_memory(comm, n, wanted);
    return true;
  } catch (const EnvironmentError&) {
    return false;
  }
}

/// How many products a solve may take, 0: any number; or that there should be none.
struct Plan {
  bool iterates = true;
  std::int64_t max_products = 0;
  std::string why;
};

Plan plan_of(const comm::Comm& comm, const tuning::MatrixFacts& facts, const eigen::EigenOptions& wanted,
             const std::string& method) {
  if (method == "davidson") return {true, 0, "you forced it"};
  if (!fits_dense(comm, facts.rows, wanted))
    return {true, 0, "as a dense matrix it does not fit into memory"};
  const std::int64_t count = wanted.selection.count;
  const double affordable = dense_bytes(static_cast<double>(facts.rows)) / bytes_of_product(facts, count);
  if (affordable < 2 * static_cast<double>(eigen::basis_size(facts.rows, count)))
    return {false, 0, "the dense solver moves fewer bytes than two bases of vectors"};
  const auto products = static_cast<std::int64_t>(std::min(affordable, 1e15));
  return {true, products, fmt::format("up to {} products move fewer bytes than the dense solver", products)};
}

/// As good as dense solvers are, between what rounding leaves and what suffices for whatever matrix.
double tolerance_of(std::int64_t n, double asked) {
  const double n_eps = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  return asked > 0 ? asked : std::clamp(n_eps, 1e-13, 1e-10);
}

/// Collective. Brings the largest entry to [1, 2) by a power of two, as the dense solver does, so that no
/// norm, factor or residual leaves the range of doubles. Gives the exponent of what it took out.
int normalize(const comm::Comm& comm, sparse::RowBlock& block) {
  double largest = 0;
  for (const double value : block.value) largest = std::max(largest, std::abs(value));
  largest = comm.allreduce(largest, comm::ReduceOp::max);
  const int exponent = largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
  if (exponent != 0) {
    for (double& value : block.value) value = std::ldexp(value, -exponent);
  }
  return exponent;
}

/// Into the scale of the user's matrix.
void scale_back(std::vector<double>& values, int exponent) {
  for (double& value : values) {
    value = std::ldexp(value, exponent);
    if (!std::isfinite(value))
      throw_error(ErrorKind::bad_input,
                  "eigenvalues are beyond the range of doubles: divide the matrix by its order", true);
  }
}

struct Preconditioned {
  std::string name = "none";
  std::unique_ptr<sparse::LinearOperator> op;
};

/// Collective. For the smallest pairs of what looks positive definite, block-ilu0 if it can be built; for
/// others none, unless asked for.
Preconditioned make_preconditioner(const sparse::DistributedMatrix& matrix, const tuning::MatrixFacts& facts,
                                   const eigen::Selection& selection, const std::string& name) {
  const solvers::GlobalSum sum(matrix.comm());
  const auto make = [&](const std::string& chosen) {
    return Preconditioned{chosen, solvers::preconditioner(chosen).make(matrix, sum, {}).op};
  };
  if (name != "auto") return make(name);
  const bool helps = selection.kind == eigen::Selection::Kind::smallest && facts.looks_positive_definite();
  if (!helps) return {};
  try {
    return make("block-ilu0");
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    return {};
  }
}

/// Collective. Whole columns for each rank, from rows of all.
eigen::ColumnSpread spread_by_columns(const comm::Comm& comm, const Problem& problem,
                                      const eigen::ExtremePairs& pairs, std::int64_t n) {
  const auto count = static_cast<std::int64_t>(pairs.values.size());
  eigen::ColumnSpread spread{n, count, {}};
  const auto rows = static_cast<std::int64_t>(pairs.vectors.size()) / std::max<std::int64_t>(count, 1);
  for (int rank = 0; rank < comm.size(); ++rank) {
    const Range columns = split_evenly(count, comm.size(), rank);
    for (std::int64_t q = columns.begin; q < columns.end; ++q) {
      const auto column = std::span(pairs.vectors).subspan(q * rows, rows);
      const auto in_file = problem.to_file(comm, Array<double>(column.begin(), column.end()));
      const auto all = comm.gatherv(std::span<const double>(in_file), rank);
      spread.values.insert(spread.values.end(), all.values.begin(), all.values.end());
    }
  }
  return spread;
}

}  // namespace

bool SparseEigenResult::passed() const {
  // What is found is good to the tolerance as the iteration knows it; another product rounds differently.
  return pairs.converged && check.residual <= 2 * tolerance &&
         check.orthogonality <= eigen::largest_good_ratio;
}

std::optional<SparseEigenResult> solve_sparse(const comm::Comm& comm, const std::string& source,
                                              const io::LoadedMatrix& loaded, const EigenRequest& request,
                                              const std::function<bool()>& wants_stop) {
  const auto wanted = comm::agree(comm, [&] { return dense_options(request); });
  if (request.method == "dense" || !is_end(wanted.selection)) return {};
  SparseEigenResult result;
  Stopwatch watch;
  auto in_range = comm::agree(comm, [&] { return loaded; });
  const int exponent = normalize(comm, in_range.block);
  const auto problem = spread_problem(comm, std::move(in_range), PartitionKind::contiguous);
  const auto facts = tuning::examine(comm, *problem.parts);
  result.n = facts.rows;
  comm::agree(comm, [&] { eigen::check(wanted, facts.rows, comm.size()); });
  const auto plan = plan_of(comm, facts, wanted, request.method);
  if (!plan.iterates) return {};
  if (!facts.symmetric && plan.max_products > 0) return {};  // which says where it is not
  if (!facts.symmetric) {
    throw_error(
        ErrorKind::bad_input,
        fmt::format(
            "{}: not symmetric: elements differ from their mirror images by up to {:.3g} of the largest",
            source, facts.asymmetry),
        true);
  }
  result.why = plan.why;
  result.read_seconds = watch.seconds();

  watch.restart();
  const sparse::DistributedMatrix matrix(comm, problem.parts);
  const auto preconditioned = make_preconditioner(matrix, facts, wanted.selection, request.preconditioner);
  result.preconditioner = preconditioned.name;
  result.setup_seconds = watch.seconds();

  eigen::SymmetricOperator a{facts.rows,
                             problem.parts->partition.range(comm.rank()),
                             facts.norm_infinity,
                             [&](auto x, auto y) { matrix.apply(x, y); },
                             {}};
  if (preconditioned.op) a.precondition = [&](auto x, auto y) { preconditioned.op->apply(x, y); };
  result.tolerance = tolerance_of(facts.rows, request.tolerance);
  bool is_stopped = false;
  watch.restart();
  result.pairs = eigen::extreme_pairs(comm, a,
                                      {.count = wanted.selection.count,
                                       .largest = wanted.selection.kind == eigen::Selection::Kind::largest,
                                       .tolerance = result.tolerance,
                                       .max_products = plan.max_products,
                                       .wants_stop = [&] {
                                         is_stopped = is_stopped || (wants_stop && wants_stop());
                                         return is_stopped;
                                       }});
  result.seconds = watch.seconds();
  const bool interrupted = comm.any(is_stopped);
  if (!result.pairs.converged && plan.max_products > 0 && !interrupted) return {};

  watch.restart();
  result.check = eigen::check_pairs(
      comm, a, [&](auto x, auto y) { sparse::multiply_reference(comm, *problem.parts, x, y); }, result.pairs);
  result.verification_seconds = watch.seconds();
  scale_back(result.pairs.values, exponent);
  if (wanted.vectors) result.vectors = spread_by_columns(comm, problem, result.pairs, facts.rows);
  return result;
}

}  // namespace ayatori::session
