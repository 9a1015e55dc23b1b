#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ayatori/eigen/solve.hpp"

namespace ayatori::eigen {

/// The ranks of a collective operation: all, or those of a row or column of the grid.
enum class Scope { all, along_row, along_column };

/// Calls of one kind, as TimedCollectives counts them: on one rank, where its group has several ranks. Of
/// "message", which are not collective: what a rank sends to a neighbour.
struct Traffic {
  std::string_view operation;
  Scope scope;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
};

/// What a phase asks of one rank.
struct PhaseWork {
  std::string_view phase;     ///< as the member of EigenTimes
  double product_flops = 0;   ///< matrix products, and what is as fast
  double streamed_bytes = 0;  ///< matrices that are read for one operation or two per element
  double cached_flops = 0;    ///< a band's chase: vectors that stay in cache; of the pipeline's busiest
  std::vector<Traffic> traffic;
};

/// What solve_symmetric() or solve_generalized() asks of rank `rank` of a grid that need not be there, phase
/// by phase. Calls and bytes are those of the code for every phase but "tridiagonal_solve", for which they
/// are those without deflation, and flops at most what they can be: they depend on the eigenvalues. Of mixed
/// precision, what is in floats.
/// Precondition: options that check() passes, a shape of ranks > 0.
std::vector<PhaseWork> work_of(std::int64_t n, GridShape shape, int rank, const EigenOptions& options,
                               ProblemKind kind);

}  // namespace ayatori::eigen
