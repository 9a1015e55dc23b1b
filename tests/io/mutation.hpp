#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/io/byte_source.hpp"

namespace ayatori::io {

/// One of the files with a few small damages: bits, bytes of `likely`, insertions, deletions, ends.
inline std::string damaged(const std::vector<std::string>& files, const std::string& likely,
                           std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random_bits(seed, index++) % n); };
  std::string bytes = files[below(files.size())];
  for (std::size_t damages = below(4) + 1; damages > 0 && !bytes.empty(); --damages) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = likely[below(likely.size())];
        break;
      case 2:
        bytes.insert(at, below(4) + 1, likely[below(likely.size())]);
        break;
      case 3:
        bytes.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 4:
        bytes.erase(at, below(4) + 1);
        break;
      default:
        if (below(4) == 0) bytes.resize(at);
        break;
    }
  }
  return bytes;
}

/// Reads damaged files: every rank gets either a matrix or the same InputError of one line.
template <class Read>
void expect_parsed_or_refused(const std::vector<std::string>& files, const std::string& likely, int mutations,
                              Read&& read) {
  int refused = 0;
  for (int m = 0; m < mutations; ++m) {
    const std::string bytes = damaged(files, likely, static_cast<std::uint64_t>(m));
    try {
      read(MemoryBytes(bytes, "A"));
    } catch (const InputError& error) {
      EXPECT_TRUE(error.agreed());
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, mutations / 4);
  EXPECT_LT(refused, mutations);
}

}  // namespace ayatori::io
