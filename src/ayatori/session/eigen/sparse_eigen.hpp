#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/davidson.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/eigen/eigen_request.hpp"

namespace ayatori::session {

/// A few pairs at an end of the spectrum of a sparse matrix.
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
  double seconds = 0;  ///< time of the iteration
  double verification_seconds = 0;

  bool passed() const;
};

/// Collective. Pairs at an end of the spectrum by products with the sparse matrix `loaded` from `source`;
/// nothing where making it dense is the better way: all eigenvalues of a matrix that fits into memory cost at
/// most what was spent here, so that by `auto` no solve takes more than twice as long as by the better way.
/// Throws InputError (agreed), also for a matrix that is not symmetric.
std::optional<SparseEigenResult> solve_sparse(const comm::Comm& comm, const std::string& source,
                                              const io::LoadedMatrix& loaded, const EigenRequest& request,
                                              const std::function<bool()>& wants_stop);

}  // namespace ayatori::session
