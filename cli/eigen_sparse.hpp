#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/davidson.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/session/problem.hpp"

namespace ayatori::cli {

/// How a few pairs at an end of the spectrum of a sparse matrix are asked for.
struct SparseEigenOptions {
  std::string method = "auto";  ///< auto, dense or davidson
  std::string preconditioner = "auto";
  double tolerance = 0;  ///< of ||A v - lambda v||_2 / ||A||_1; 0: n eps, as good as dense solvers are
};

/// What came of it.
struct SparseEigenResult {
  std::int64_t n = 0;
  std::string preconditioner;
  std::string why;       ///< this way and not the other
  double tolerance = 0;  ///< that was asked of the residuals
  eigen::ExtremePairs pairs;
  eigen::ExtremeCheck check;
  eigen::ColumnSpread vectors;  ///< in the numbering of the file
  double read_seconds = 0;
  double setup_seconds = 0;
  double seconds = 0;  ///< of the iteration
  double verification_seconds = 0;

  bool passed() const;
};

/// Throws InputError for names and numbers that make no sense with this selection.
void check(const SparseEigenOptions& options, const eigen::Selection& selection);

/// Collective. Pairs at an end of the spectrum by products with the sparse matrix `loaded` from `source`;
/// nothing where making it dense is the better way: all eigenvalues of a matrix that fits into memory cost at
/// most what was spent here, so that by `auto` no solve takes more than twice as long as by the better way.
/// Throws InputError (agreed), also for a matrix that is not symmetric.
std::optional<SparseEigenResult> solve_sparse(const comm::Comm& comm, const std::string& source,
                                              const io::LoadedMatrix& loaded,
                                              const eigen::EigenOptions& wanted,
                                              const SparseEigenOptions& options);

}  // namespace ayatori::cli
