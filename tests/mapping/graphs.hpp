#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/mapping/graph/comm_graph.hpp"

namespace ayatori::mapping {

/// A random order of this many things, the same for the same seed.
inline std::vector<int> shuffled(int count, std::uint64_t seed) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (int i = count - 1; i > 0; --i) std::swap(order[i], order[random_bits(seed, i) % (i + 1)]);
  return order;
}

/// Each point of a grid sends a message to each of its neighbours right, left, above and below (across the
/// edges, if it wraps); the rank of point (x, y) is name[x + width * y].
inline std::vector<PairVolume> grid_messages(int width, int height, bool wraps, const std::vector<int>& name,
                                             std::int64_t bytes = 8) {
  std::vector<PairVolume> messages;
  const auto connect = [&](int a, int b) {
    messages.push_back({name[a], name[b], 1, bytes});
    messages.push_back({name[b], name[a], 1, bytes});
  };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (x + 1 < width || wraps) connect(x + width * y, (x + 1) % width + width * y);
      if (y + 1 < height || wraps) connect(x + width * y, x + width * ((y + 1) % height));
    }
  }
  return messages;
}

/// Ranks that send different amounts to a few others anywhere.
inline std::vector<PairVolume> random_messages(int ranks, int count, std::uint64_t seed) {
  std::vector<PairVolume> messages;
  for (int k = 0; k < count; ++k) {
    const auto draw = [&](int what, int below) {
      return static_cast<int>(random_bits(seed + what, k) % below);
    };
    messages.push_back({draw(1, ranks), draw(2, ranks), 1 + draw(3, 4), draw(4, 100'000)});
  }
  return messages;
}

}  // namespace ayatori::mapping
