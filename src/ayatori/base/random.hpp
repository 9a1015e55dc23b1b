#pragma once

#include <cstdint>

namespace ayatori {

/// A hash of (seed, index) with every bit mixed (SplitMix64, Steele, Lea & Flood 2014). Being a function of
/// the index, it gives the same random object however its elements are spread over ranks and threads.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95U + (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// A hash of two words of which one is random already: the halves of their product, one upon the other. It
/// takes a third of the time of random_bits.
inline std::uint64_t fold_product(std::uint64_t random, std::uint64_t word) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(random) * (word ^ 0xe7037ed1a0b428dbU);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// Uniform in [0, 1), with 53 random bits.
inline double random_uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(random_bits(seed, index) >> 11U) * 0x1.0p-53;
}

}  // namespace ayatori
