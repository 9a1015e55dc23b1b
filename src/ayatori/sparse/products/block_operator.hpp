#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace ayatori::sparse {

/// Vectors that one block holds at most: this many sums of a row, and Gram matrices of that order, stay in
/// registers.
inline constexpr int max_block_width = 8;

/// A linear map on `width` distributed vectors at once, up to max_block_width. They are interleaved: element
/// i of vector c is x[i * width + c], so that a row of a sparse matrix finds them beside each other.
class BlockOperator {
 public:
  virtual ~BlockOperator() = default;

  /// This rank's part of Y = A X. Collective. X and Y do not overlap.
  virtual void apply_block(std::span<const double> x, std::span<double> y, int width) const = 0;
};

/// f(std::integral_constant<int, width>) for a width from 1 to max_block_width.
template <class F>
decltype(auto) with_width(int width, F&& f) {
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    case 7:
      return f(std::integral_constant<int, 7>());
    default:
      return f(std::integral_constant<int, max_block_width>());
  }
}

}  // namespace ayatori::sparse
