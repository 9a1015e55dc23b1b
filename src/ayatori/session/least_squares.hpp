#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/session.hpp"
#include "ayatori/session/solve/solve_request.hpp"
#include "ayatori/solvers/certified_norm.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"
#include "ayatori/sparse/products/transposed_product.hpp"

namespace ayatori::session {

/// What --least-squares has found: min ||b - A x||^2 + damp^2 ||x||^2 of a matrix of any shape; the x of
/// least norm unless a preconditioner was asked for. With damp, r and A stand for those of [A; damp I] and
/// [b; 0].
struct LeastSquaresRun {
  io::SourceFacts source;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  std::string rhs;
  double damp = 0;
  std::string preconditioner = "none";  ///< one for A^T A
  std::vector<std::string> notes;       ///< notes of its set-up
  double setup_seconds = 0;
  double rtol = 0;
  solvers::LeastSquaresResult last;  ///< as the last iteration ended
  int rounds = 0;                    ///< rounds of iterations, each on what the one before had left
  std::int64_t iterations = 0;
  double b_norm = 0;
  double x_norm = 0;
  double matrix_norm = 0;         ///< a lower bound of ||A||
  solvers::CertifiedNorm r;       ///< ||b - A x||, with a bound of its rounding
  solvers::CertifiedNorm normal;  ///< ||A^T (b - A x)||, the same
  bool solves = false;            ///< ||r|| <= rtol ||b|| is proved
  bool is_least_squares = false;  ///< ||A^T r|| <= rtol ||A|| ||r|| is proved
  Array<double> x;                ///< this rank's elements ...
  sparse::RowPartition x_rows = sparse::RowPartition::even(0, 1);  ///< ... and how they are spread
  int ranks = 1;
  double read_seconds = 0;
  double seconds = 0;  ///< time of iterations and verification
  double total_seconds = 0;
  std::string output;

  bool passed() const { return solves || is_least_squares; }
  /// ||A^T r|| / (||A|| ||r||); 0 where A^T r is 0.
  double relative_normal() const;
};

/// A of any shape and A^T as operators between vectors that are spread as the rows of A are: zero rows or
/// columns behind A make it square.
class LeastSquaresOperators {
 public:
  /// Collective. With M near (A^T A)^-1 where the request names a preconditioner. Throws InputError, agreed.
  LeastSquaresOperators(const comm::Comm& comm, sparse::RowBlock rows, const SolveRequest& request);

  const comm::Comm& comm() const { return comm_; }
  const sparse::LinearOperator& a() const { return *a_; }
  const sparse::LinearOperator& transposed() const { return *transposed_; }
  const sparse::LinearOperator* preconditioner() const { return preconditioner_.get(); }  ///< null without
  std::int64_t local_size() const { return a_->local_size(); }   ///< vectors' elements, zeros included
  std::int64_t local_columns() const { return local_columns_; }  ///< elements of x among these

 private:
  comm::Comm comm_;
  solvers::GlobalSum sum_;
  std::int64_t local_columns_ = 0;
  std::optional<sparse::DistributedMatrix> a_;
  std::optional<sparse::TransposedProduct> transposed_;
  std::unique_ptr<sparse::DistributedMatrix> normal_;  ///< A^T A
  std::unique_ptr<sparse::LinearOperator> preconditioner_;
};

/// Throws InputError for what a request asks of a solve, and least squares have no use for. Called on one
/// rank. Options are called by their names on the command line.
void check_least_squares(const SolveRequest& request);

/// Collective. Reads A and b (as --rhs names it), and finds x by LSMR, on products with A and A^T alone. A is
/// spread by rows; zero rows or columns make it square, so that halo exchanges and products are those of
/// every other solve. What is claimed of x is proved, with bounds of all rounding. Obeys rtol, time_limit,
/// max_iterations, and preconditioner with its options: then A^T A is formed, and of several least-squares
/// solutions any is found. Throws InputError, agreed.
LeastSquaresRun solve_least_squares(const Session& session, const std::string& matrix, const std::string& rhs,
                                    const SolveRequest& request, double damp = 0,
                                    const std::function<bool()>& wants_stop = {});

/// The summary for people.
std::string summary(const LeastSquaresRun& run);

/// What was computed, how, and what is proved of it.
std::string explanation(const LeastSquaresRun& run);

/// Schema "ayatori.least-squares/1".
nlohmann::ordered_json to_json(const LeastSquaresRun& run);

}  // namespace ayatori::session
