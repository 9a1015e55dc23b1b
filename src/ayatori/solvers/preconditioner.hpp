#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::solvers {

/// What the preconditioners can be told. Values out of range are InputErrors.
struct PreconditionerOptions {
  int blocks = 0;      ///< of block-ilu0 per rank; 0: one per thread
  int block_size = 0;  ///< rows of a block of block-jacobi, up to 64; 0: the nodes of the mesh, or 8 rows
  int degree = 4;      ///< of the polynomials, up to 100; odd ones have to be more careful about the spectrum
  /// Asked now and then during set-ups that may take long, by several threads at once: true on one rank
  /// abandons the set-up on all, with an EnvironmentError.
  std::function<bool()> gives_up = {};
};

/// A preconditioner ready for use, with what its set-up has to report ("shifted 12 pivots by 1e-8", ...).
struct BuiltPreconditioner {
  std::unique_ptr<sparse::LinearOperator> op;
  std::vector<std::string> notes;
};

/// An entry in the list of preconditioners. `make` is collective; it keeps a reference to the matrix. It
/// throws Error (agreed, of kind bad_input) when the matrix does not admit the preconditioner, saying why.
struct Preconditioner {
  std::string_view name;
  std::string_view description;
  bool symmetric;  ///< symmetric positive definite whenever A is
  /// What it is expected to cost before it is tried, in products with A: once to set up, and to apply.
  double setup_products;
  double apply_products;
  BuiltPreconditioner (*make)(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                              const PreconditionerOptions& options);
};

/// none, jacobi, block-jacobi, block-ilu0, neumann, chebyshev, amg. Adding one is a file in preconditioners/
/// and a line in its list.cpp.
std::span<const Preconditioner> preconditioners();

/// The one of this name. Throws InputError that lists the names.
const Preconditioner& preconditioner(std::string_view name);

}  // namespace ayatori::solvers
