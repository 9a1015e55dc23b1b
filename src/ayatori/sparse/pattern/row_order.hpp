#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"

namespace ayatori::sparse {

/// The order in which a product goes through the rows of a matrix. Short rows whose lengths cannot be
/// foreseen cost a mispredicted end each, about as much as their entries, unless there are so few that the
/// processor learns them all. Of such those of the same length come one after the other, in windows of as
/// many rows as leave vectors and matrix in the nearest cache: half to two thirds of the time. What a row
/// sums up to does not change.
class RowOrder {
 public:
  /// As they are stored.
  RowOrder() = default;
  /// Traffic: 12 bytes per row where they are put in order, next to none elsewhere.
  explicit RowOrder(std::span<const std::int64_t> row_start);

  bool is_as_stored() const { return order_.empty(); }
  std::int64_t bytes() const { return 4 * static_cast<std::int64_t>(order_.size()); }

  /// Calls f(row) for the rows at these places. Disjoint ranges of places have disjoint rows.
  template <class F>
  [[gnu::always_inline]] void for_each(Range places, F&& f) const {
    if (is_as_stored()) {
      for (std::int64_t i = places.begin; i < places.end; ++i) f(i);
    } else {
      for (std::int64_t k = places.begin; k < places.end; ++k) f(std::int64_t{order_[k]});
    }
  }

 private:
  Array<std::int32_t> order_;
};

}  // namespace ayatori::sparse
