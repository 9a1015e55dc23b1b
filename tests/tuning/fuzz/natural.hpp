#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ayatori::tuning {

/// A natural number of any size.
class Natural {
 public:
  Natural() = default;

  /// *this + value 2^shift
  void add(std::uint64_t value, int shift) {
    const auto first = static_cast<std::size_t>(shift / 32);
    for (std::size_t half = 0; half < 2; ++half) {
      const std::uint64_t shifted = (value >> (32 * half) & 0xffffffff) << (shift % 32);
      add_limb(first + half, static_cast<std::uint32_t>(shifted));
      add_limb(first + half + 1, static_cast<std::uint32_t>(shifted >> 32));
    }
  }
  /// *this + a b
  void add_product(const Natural& a, const Natural& b) {
    for (std::size_t i = 0; i < a.limbs_.size(); ++i)
      for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
        if (a.limbs_[i] == 0 || b.limbs_[j] == 0) continue;
        add(static_cast<std::uint64_t>(a.limbs_[i]) * b.limbs_[j], static_cast<int>(32 * (i + j)));
      }
  }
  /// |*this - other|
  Natural distance(const Natural& other) const {
    const Natural& larger = *this < other ? other : *this;
    const Natural& smaller = *this < other ? *this : other;
    Natural result;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < larger.limbs_.size(); ++i) {
      std::int64_t difference = std::int64_t{larger.limbs_[i]} - smaller.limb(i) - borrow;
      borrow = difference < 0 ? 1 : 0;
      result.add_limb(i, static_cast<std::uint32_t>(difference + (borrow << 32)));
    }
    return result;
  }
  bool operator<(const Natural& other) const {
    for (std::size_t i = std::max(limbs_.size(), other.limbs_.size()); i-- > 0;)
      if (limb(i) != other.limb(i)) return limb(i) < other.limb(i);
    return false;
  }

 private:
  std::uint32_t limb(std::size_t i) const { return i < limbs_.size() ? limbs_[i] : 0; }
  void add_limb(std::size_t i, std::uint32_t value) {
    for (std::uint64_t carry = value; carry != 0; ++i) {
      if (i >= limbs_.size()) limbs_.resize(i + 1, 0);
      carry += limbs_[i];
      limbs_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

  std::vector<std::uint32_t> limbs_;  ///< limbs of 32 bits, the lowest first
};

/// |value| in units of 2^-1074, of which every double is a multiple.
inline Natural natural(double value) {
  int exponent = 0;
  auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(value), &exponent), 53));
  int shift = exponent - 53 + 1074;
  if (shift < 0) {  // the digits that a subnormal number does not have
    digits >>= -shift;
    shift = 0;
  }
  Natural result;
  result.add(digits, shift);
  return result;
}

}  // namespace ayatori::tuning
