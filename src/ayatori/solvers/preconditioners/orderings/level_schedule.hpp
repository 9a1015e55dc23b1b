#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_factors.hpp"

namespace ayatori::solvers {

/// Rows of a triangle by levels: those of one depend on rows of earlier levels only (Anderson & Saad 1989).
struct Levels {
  Array<std::int32_t> row;    ///< by level, ascending within
  Array<std::int32_t> start;  ///< level l is row[start[l], start[l + 1])

  std::int32_t count() const { return start.empty() ? 0 : static_cast<std::int32_t>(start.size()) - 1; }
};

/// Levels of a lower triangle, whose rows depend on earlier ones, or of an upper one.
Levels find_levels(std::int32_t rows, std::span<const std::int32_t> start,
                   std::span<const std::int32_t> column, bool is_lower);

/// L D U solved by several threads, level by level, with a barrier after each: the sums of a row are those of
/// TriangularFactors::solve(), in the same order. Where L = U^T the rows of L are stored beside U.
class LevelSchedule {
 public:
  /// Schedule of these factors, which it is used with.
  explicit LevelSchedule(const TriangularFactors<float>& factors);

  /// y = (L D U)^-1 x by this many threads, called outside parallel regions; the same vector or not
  /// overlapping.
  void solve(const TriangularFactors<float>& factors, std::span<const double> x, std::span<double> y,
             int threads) const;

  /// Threads, at most this many, that have enough rows of an average level to be worth a barrier.
  int worthwhile_threads(int most) const;
  std::int32_t levels() const { return lower_.count() + upper_.count(); }

 private:
  std::int32_t rows_;
  Levels lower_;
  Levels upper_;
  Triangle<float> transposed_;  ///< L of symmetric factors
};

}  // namespace ayatori::solvers
