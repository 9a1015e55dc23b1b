#include <algorithm>
#include <cstdlib>

#include "ayatori/network/networks/networks.hpp"
#include "ayatori/network/networks/parse.hpp"

namespace ayatori::network {

namespace {

struct Dimension {
  int size;
  bool wraps;
};

/// A k-D mesh or torus, or a product of both: each node has a link to its neighbours in every dimension.
/// Messages go dimension by dimension, the shorter way round; where both are as long, nodes of even and odd
/// coordinate go different ways. The first dimension varies fastest from node to node.
class Torus : public Network {
 public:
  Torus(int nodes, const std::vector<Dimension>& dimensions)
      : Network(nodes, static_cast<int>(dimensions.size()), false), dimensions_(dimensions) {
    for (int node = 0; node < nodes; ++node) {
      int rest = node;
      for (int d = 0; d < digits(); ++d) {
        set_address(node, d, rest % dimensions_[d].size);
        rest /= dimensions_[d].size;
      }
    }
    link_of_.assign(static_cast<std::size_t>(nodes) * digits() * 2, -1);
    for (int node = 0; node < nodes; ++node) {
      for (int d = 0, stride = 1; d < digits(); stride *= dimensions_[d++].size) {
        for (const int step : {1, -1}) add_link(node, d, stride, step);
      }
    }
    place();
  }

  int hops(int from, int to) const override {
    int sum = 0;
    const auto a = address(from);
    const auto b = address(to);
    for (int d = 0; d < digits(); ++d) {
      const int apart = std::abs(a[d] - b[d]);
      sum += dimensions_[d].wraps ? std::min(apart, dimensions_[d].size - apart) : apart;
    }
    return sum;
  }

  void route(int from, int to, std::vector<int>& links) const override {
    const auto target = address(to);
    for (int d = 0; d < digits(); ++d) {
      const int start = address(from)[d];
      const int step = direction(d, start, target[d]);
      while (address(from)[d] != target[d]) {
        const int link = link_of_[index(from, d, step)];
        links.push_back(link);
        from = links_[link].to;
      }
    }
  }

 private:
  std::size_t index(int node, int d, int step) const {
    return (static_cast<std::size_t>(node) * digits() + d) * 2 + (step > 0 ? 0 : 1);
  }

  void add_link(int node, int d, int stride, int step) {
    const auto [size, wraps] = dimensions_[d];
    const int here = address(node)[d];
    int there = here + step;
    if (wraps) there = (there + size) % size;
    if (there < 0 || there >= size) return;
    link_of_[index(node, d, step)] = static_cast<int>(links_.size());
    links_.push_back({node, node + (there - here) * stride});
  }

  int direction(int d, int from, int to) const {
    const auto [size, wraps] = dimensions_[d];
    if (!wraps) return to > from ? 1 : -1;
    const int forward = (to - from + size) % size;
    if (2 * forward == size) return from % 2 == 0 ? 1 : -1;
    return 2 * forward < size ? 1 : -1;
  }

  /// Dimensions take turns to run to the right and downwards; the later ones repeat the earlier ones'
  /// picture.
  void place() {
    for (int node = 0; node < nodes(); ++node) {
      double at[2] = {0.5, 0.5};
      double span[2] = {1, 1};
      for (int d = 0; d < digits(); ++d) {
        at[d % 2] += span[d % 2] * address(node)[d];
        span[d % 2] = span[d % 2] * dimensions_[d].size + 1;
      }
      positions_.push_back({at[0] / span[0], at[1] / span[1]});
    }
  }

  std::vector<Dimension> dimensions_;
  std::vector<int> link_of_;
};

std::unique_ptr<Network> make(const NetworkType& type, const std::string& arguments, bool is_torus) {
  std::vector<Dimension> dimensions;
  constexpr std::int64_t longest_way = 1000;  // 2^53 bytes times that many hops are a 64-bit number
  std::int64_t nodes = 1;
  std::int64_t edges = 0;
  for (const auto& [size, suffix] : parse_sizes(type, arguments)) {
    if (!suffix.empty() && !(is_torus && suffix == "m")) refuse(type, arguments);
    // A ring of two has one link, not two.
    dimensions.push_back({size, is_torus && suffix.empty() && size > 2});
    nodes *= size;
    edges += size;
    if (nodes > most_nodes || edges > longest_way) refuse(type, arguments);
  }
  return std::make_unique<Torus>(static_cast<int>(nodes), dimensions);
}

}  // namespace

const NetworkType mesh{"mesh", "mesh:4x6x4", "k-D mesh; the first dimension varies fastest",
                       [](const std::string& arguments, int) { return make(mesh, arguments, false); }};

const NetworkType torus{"torus", "torus:4x6x4, or with dimensions that end, as Tofu has: torus:4x6x4x2mx3x2m",
                        "k-D torus; the first dimension varies fastest",
                        [](const std::string& arguments, int) { return make(torus, arguments, true); }};

}  // namespace ayatori::network
