#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::bench {

/// Where the keys of a part begin in the sorted order of all: behind the keys that are less than `key`, and
/// behind `equal` of this rank's keys that are equal to it.
template <class Key>
struct Splitter {
  Key key = 0;
  std::int64_t equal = 0;
};

/// Collective. The beginnings of all parts but the first, where the keys of every rank are cut into as many
/// parts: ranks have as many keys each, to a hundredth, and so have parts of a rank, to a hundredth of a
/// rank's. Histograms of one digit after the other, most significant first, of those keys alone among which a
/// splitter still can be; the last splits equal keys by rank.
template <class Key>
std::vector<Splitter<Key>> find_splitters(const comm::Comm& comm, std::span<const Key> mine, int parts,
                                          int digit_bits);

}  // namespace ayatori::bench
