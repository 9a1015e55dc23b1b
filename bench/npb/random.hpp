#pragma once

#include <cstdint>

namespace ayatori::bench {

/// The pseudo-random numbers of the NAS parallel benchmarks (Bailey et al. 1991, section 2.3): the linear
/// congruential sequence x_{k+1} = a x_k mod 2^46, of which 2^-46 x_k is given. The benchmarks' own `randlc`
/// computes the same in pieces of 23 bits of doubles; both are exact, and so bitwise the same.
class NpbRandom {
 public:
  static constexpr std::uint64_t usual_seed = 314159265;
  static constexpr std::uint64_t usual_multiplier = 1220703125;  ///< 5^13

  /// Both below 2^46.
  explicit NpbRandom(std::uint64_t seed = usual_seed, std::uint64_t multiplier = usual_multiplier)
      : x_(seed), a_(multiplier) {}

  /// Uniform in (0, 1): the number after x, which becomes x.
  double next() {
    x_ = product(a_, x_);
    return static_cast<double>(x_) * 0x1.0p-46;
  }

  /// As if next() had been called `count` times, in log2(count) steps.
  void skip(std::uint64_t count) { x_ = product(power(a_, count), x_); }

  std::uint64_t state() const { return x_; }

  /// a b mod 2^46. The product modulo 2^64 has its low 46 bits.
  static std::uint64_t product(std::uint64_t a, std::uint64_t b) { return a * b & mask; }
  /// a^exponent mod 2^46.
  static std::uint64_t power(std::uint64_t a, std::uint64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent > 0; exponent >>= 1U, a = product(a, a)) {
      if ((exponent & 1U) != 0) result = product(result, a);
    }
    return result;
  }

 private:
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 46U) - 1;
  std::uint64_t x_;
  std::uint64_t a_;
};

}  // namespace ayatori::bench
