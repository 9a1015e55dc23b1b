#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_factors.hpp"
#include "ayatori/solvers/preconditioners/orderings/level_schedule.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// Which incomplete factorization, and of what fill.
struct FactorOptions {
  enum class Kind { ic, ilu, ilut } kind = Kind::ilu;
  int fill = 0;               ///< levels of ic and ilu; of ilut: see DropRule::extra
  double drop_tolerance = 0;  ///< tolerance of ilut, relative to the row
  enum class Ordering { automatic, natural, rcm } ordering = Ordering::automatic;
  std::function<bool()> gives_up = {};  ///< asked now and then; true ends the set-up
};

/// The ordering of this name: auto, natural, rcm. Throws InputError for another.
FactorOptions::Ordering factor_ordering(std::string_view name);

/// What became of a factorization.
struct FactorReport {
  std::int32_t inserted_diagonals = 0;  ///< rows without a stored diagonal entry
  std::int32_t zero_rows = 0;           ///< their pivot is the block's scale
  std::int32_t rejected_row = -1;       ///< row of the block where the unshifted factorization failed
  double shift = 0;                     ///< s of A + s diag(d) that was factored
  bool diagonal_only = false;           ///< no shift helped: L = U = I
  bool matched = false;                 ///< columns permuted and scaled by a maximum-product matching
  std::int32_t unmatched = 0;           ///< rows that the matching found no entry for
  bool reordered = false;               ///< by reverse Cuthill-McKee
};

/// An incomplete factorization R A C ~ P (L D U) Q with row and column scalings by powers of 2 and
/// permutations: what is factored has a diagonal near 1. Off the diagonal the factors are kept in single
/// precision, as solve() is bound by memory. The scalings are multiplied into the factors where these then
/// still are in the range of single precision.
struct FactoredBlock {
  TriangularFactors<float> factors;
  Array<std::int32_t> row_order;     ///< row i of the factors is row row_order[i] of the block; empty: i
  Array<std::int32_t> column_order;  ///< likewise
  Array<double> row_scale;           ///< scales of the factors' rows; empty: 1
  Array<double> column_scale;
  FactorReport report;
  std::optional<LevelSchedule> schedule;  ///< levels of the factors, for several threads

  /// y = M x on the calling thread, or by those that the schedule is worth, with `work` of as many elements;
  /// none overlaps another.
  void solve(std::span<const double> x, std::span<double> y, std::span<double> work) const;
};

/// Factors a square block, on the calling thread and in memory that it touches first. Where pivots are not
/// acceptable (Pivots), ilu and ilut try again with a maximum-product matching; where that does not help
/// either, A + s diag(d) is factored with growing s. Reverse Cuthill-McKee comes first if asked for, or if
/// there is fill to save and the profile becomes smaller. `name_row` is called for messages: "ilu: row 5: ".
/// Throws InputError for an entry that is not finite or a diagonal whose inverse is not; EnvironmentError if
/// the factors have 2^31 entries or more, or once gives_up is true.
FactoredBlock factor_block(const sparse::Csr& block, const FactorOptions& options,
                           const std::function<std::string(std::int32_t)>& name_row);

}  // namespace ayatori::solvers
