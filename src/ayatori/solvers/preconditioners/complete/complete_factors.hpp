#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/complete/matrix_entries.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

/// Complete factors of a matrix. Collective: made, applied and destroyed by all ranks together.
class CompleteFactors {
 public:
  CompleteFactors() = default;
  virtual ~CompleteFactors() = default;
  CompleteFactors(const CompleteFactors&) = delete;
  CompleteFactors& operator=(const CompleteFactors&) = delete;

  /// Collective. y = A^-1 x, of each rank its rows.
  virtual void solve(std::span<const double> x, std::span<double> y) const = 0;
  /// Collective. y = A^-T x, of each rank its rows.
  virtual void solve_transposed(std::span<const double> x, std::span<double> y) const = 0;

  /// How often the library has looked for an order of the rows, and factored; on a rank that computes.
  struct Work {
    int analyses = 0;
    int factorizations = 0;
  };
  virtual Work work() const = 0;
};

/// Those that a library has made, with what it has to report.
struct BuiltFactors {
  std::unique_ptr<CompleteFactors> factors;
  std::vector<std::string> notes;
  bool reproducible = true;       ///< to the bit
  bool reduced_accuracy = false;  ///< as BuiltPreconditioner::reduced_accuracy
  std::int64_t zero_pivots = 0;   ///< to working precision
};

/// An entry in the list of libraries that factor. `make` is collective. It gives nothing where the library is
/// not the one for the matrix and `is_last` is false; then the next in the list is asked. `earlier`: factors
/// of other values, or none; where this library made them for the same pattern, their analysis serves again.
/// Throws Error, agreed, where the factors would take more memory or time than there is.
struct FactorLibrary {
  std::string_view name;
  std::optional<BuiltFactors> (*make)(MatrixToFactor& matrix, bool is_last,
                                      const PreconditionerOptions& options,
                                      std::unique_ptr<CompleteFactors> earlier);
};

/// In the order in which they are asked. Adding one is a file in this folder and a line in direct.cpp.
std::span<const FactorLibrary> factor_libraries();

extern const FactorLibrary klu_factors;    ///< where the build has KLU
extern const FactorLibrary mumps_factors;  ///< where the build has MUMPS

/// Fewer rows than these cost nothing, and pivots that are the largest of their columns do not grow as Frank
/// matrices make smaller ones do.
constexpr std::int64_t few_rows = 1000;

/// Collective. Whether what is factored is equal to its transpose: the matrix, or the complex one that it is
/// the real form of.
inline bool equals_transpose(const MatrixToFactor& matrix, const PreconditionerOptions& options) {
  return options.matrix_is_complex ? options.matrix_is_complex_symmetric : matrix.is_symmetric();
}

/// The transpose of a real form is the real form of the conjugate transpose. A^H y = x is A^T conj(y) =
/// conj(x): y becomes conj(A^-T conj(x)), where `solve` replaces y by A^-T y. Of real numbers it is A^-T x.
template <class Scalar, class Solve>
void solve_adjoint_by_transpose(std::span<const double> x, std::span<double> y, Solve&& solve) {
  const auto conjugate_all = [&] {
    for (Scalar& number : as<Scalar>(y)) number = conjugate(number);
  };
  std::ranges::copy(x, y.begin());
  conjugate_all();
  solve();
  conjugate_all();
}

/// What factors with zero pivots have to report.
std::string singular_words(std::int64_t zero_pivots);

/// While a product with the matrix does one operation, a factorization of this many by dense blocks does this
/// many: products are bound by memory, and blocks do many operations with what they load, the more the larger
/// they are. Fitted to factorizations of 1e8 to 1e11 operations.
double operations_of_dense_blocks(double operations);

/// Collective. Throws where a factorization of this many operations would not end in time. `rate`,
/// collective, gives the operations in a second that it does not exceed; it is asked where not any processor
/// would do.
void check_time(const comm::Comm& comm, double operations, const std::function<double()>& rate,
                double seconds_left);

/// Collective. Throws where the factors would not fit into what the node has left.
void check_memory(const comm::Comm& comm, std::int64_t bytes_of_rank);

/// Collective. Asks PreconditionerOptions::may_take; throws where the answer is no.
void ask_price(const comm::Comm& comm, double products, const PreconditionerOptions& options);

/// Collective. Vectors pass through rank 0: `solve` turns all of x into all of y there.
template <class Real>
void solve_on_rank_zero(const comm::Comm& comm, const sparse::RowPartition& partition, std::span<Real> mine,
                        const std::function<void(std::span<Real>)>& solve) {
  if (comm.size() == 1) return solve(mine);
  auto all = comm.gatherv(std::span<const Real>(mine), 0);
  if (comm.rank() == 0) solve(all.values);
  const std::vector<std::int64_t> nothing(partition.starts().size(), 0);
  const auto back =
      comm.alltoallv(std::span<const Real>(all.values), comm.rank() == 0 ? partition.starts() : nothing);
  std::ranges::copy(back.values, mine.begin());
}

}  // namespace ayatori::solvers
