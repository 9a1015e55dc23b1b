#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::bench {

/// Where the keys of a rank begin in the sorted order of all: behind the keys that are less than `key`, and
/// behind `equal` of this rank's keys that are equal to it.
template <class Key>
struct Splitter {
  Key key = 0;
  std::int64_t equal = 0;
};

/// Collective. The beginnings of ranks 1, 2, ... such that all have as many keys, to a hundredth. Histograms
/// of one digit after the other, most significant first, of those keys alone among which a splitter still
/// can be; the last splits equal keys by rank.
template <class Key>
std::vector<Splitter<Key>> find_splitters(const comm::Comm& comm, std::span<const Key> mine, int digit_bits);

}  // namespace ayatori::bench
