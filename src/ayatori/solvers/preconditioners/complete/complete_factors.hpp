#pragma once

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

namespace ayatori::solvers {

/// Entries of a square matrix by row and column from 1, in any order, each place once. Complete factors take
/// the matrix in one piece: they permute large entries to the diagonal, without which zero diagonals fill the
/// factors, and the entries are fewer than those of the factors.
struct GatheredMatrix {
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  bool symmetric = false;   ///< known to be
  std::vector<int> row;     ///< on rank 0; empty on the others
  std::vector<int> column;  ///< the same
  std::vector<double> value;
};

/// Complete factors of a matrix. Collective: made, applied and destroyed by all ranks together.
class CompleteFactors {
 public:
  CompleteFactors() = default;
  virtual ~CompleteFactors() = default;
  CompleteFactors(const CompleteFactors&) = delete;
  CompleteFactors& operator=(const CompleteFactors&) = delete;

  /// Collective. b on rank 0 becomes A^-1 b; the other ranks have none.
  virtual void solve(std::span<double> b) const = 0;
};

/// Those that a library has made, with what it has to report.
struct BuiltFactors {
  std::unique_ptr<CompleteFactors> factors;
  std::vector<std::string> notes;
  bool reproducible = true;      ///< to the bit
  std::int64_t zero_pivots = 0;  ///< to working precision
};

/// An entry in the list of libraries that factor. `make` is collective. It gives nothing where the library is
/// not the one for the matrix and `is_last` is false; then the next in the list is asked. It may take the
/// entries of the matrix. Throws Error, agreed, where the factors would take more memory or time than there
/// is.
struct FactorLibrary {
  std::string_view name;
  std::optional<BuiltFactors> (*make)(const comm::Comm& comm, GatheredMatrix& matrix, bool is_last,
                                      const PreconditionerOptions& options);
};

/// In the order in which they are asked. Adding one is a file in this folder and a line in direct.cpp.
std::span<const FactorLibrary> factor_libraries();

extern const FactorLibrary klu_factors;    ///< where the build has KLU
extern const FactorLibrary mumps_factors;  ///< where the build has MUMPS

/// Fewer rows than these cost nothing, and pivots that are the largest of their columns do not grow as Frank
/// matrices make smaller ones do.
constexpr std::int64_t few_rows = 1000;

/// What factors with zero pivots have to report.
std::string singular_words(std::int64_t zero_pivots);

/// While a product with the matrix does one operation, a factorization of so many by dense blocks does this
/// many: products are bound by memory, and blocks do many operations with what they load, the more the larger
/// they are. Fitted to factorizations of 1e8 to 1e11 operations.
double operations_of_dense_blocks(double operations);

/// Collective. Throws where a factorization of so many operations would not end in time. `rate`, collective,
/// gives the operations in a second that it does not exceed; it is asked where not any processor would do.
void check_time(const comm::Comm& comm, double operations, const std::function<double()>& rate,
                double seconds_left);

/// Collective. Throws where the factors would not fit into what the node has left.
void check_memory(const comm::Comm& comm, std::int64_t bytes_of_rank);

/// Collective. Asks PreconditionerOptions::may_take; throws where the answer is no.
void ask_price(const comm::Comm& comm, double products, const PreconditionerOptions& options);

}  // namespace ayatori::solvers
