#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// The entries of a square matrix that its diagonal blocks leave out. Empty where one block has all rows.
class BetweenBlocks {
 public:
  /// `blocks`: their rows, ascending and without gaps.
  BetweenBlocks(const sparse::Csr& matrix, const std::vector<Range>& blocks);

  /// y += these entries times x. Traffic: 12 bytes per entry, 24 per row that has some.
  void add_product(std::span<const double> x, std::span<double> y) const;

 private:
  Array<std::int32_t> row_;    ///< rows with such entries
  Array<std::int32_t> start_;  ///< begin of each of these rows among the entries, and the end of all
  Array<std::int32_t> column_;
  Array<double> value_;
};

}  // namespace ayatori::solvers
