#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ayatori/network/networks/networks.hpp"
#include "ayatori/network/networks/parse.hpp"

namespace ayatori::network {

namespace {

/// Groups of routers, each with a link to every other of its group; every two groups have one link, dealt
/// round the routers of both (Kim, Dally, Scott & Abts, ISCA 2008). Routes are minimal: at most one link
/// inside the group, one between groups, one inside the other.
class Dragonfly : public Network {
 public:
  Dragonfly(int groups, int routers, int nodes_per_router)
      : Network(groups * routers * nodes_per_router, 3, true),
        groups_(groups),
        routers_(routers),
        nodes_per_router_(nodes_per_router),
        local_(2 * nodes()),
        global_(local_ + groups * routers * (routers - 1)) {
    for (int node = 0; node < nodes(); ++node) {
      const int router = node / nodes_per_router;
      set_address(node, 0, router / routers);
      set_address(node, 1, router % routers);
      set_address(node, 2, node % nodes_per_router);
      links_.push_back({node, nodes() + router});
      links_.push_back({nodes() + router, node});
    }
    for (int group = 0; group < groups; ++group) {
      for (int a = 0; a < routers; ++a) {
        for (int b = 0; b < routers; ++b) {
          if (a != b) links_.push_back({vertex(group, a), vertex(group, b)});
        }
      }
    }
    for (int a = 0; a < groups; ++a) {
      for (int k = 0; k < groups - 1; ++k) {
        const int b = (a + 1 + k) % groups;
        links_.push_back({vertex(a, gateway(a, b)), vertex(b, gateway(b, a))});
      }
    }
    place();
  }

  int hops(int from, int to) const override {
    if (from == to) return 0;
    const auto a = address(from);
    const auto b = address(to);
    if (a[0] == b[0]) return a[1] == b[1] ? 2 : 3;
    return 3 + (a[1] != gateway(a[0], b[0]) ? 1 : 0) + (b[1] != gateway(b[0], a[0]) ? 1 : 0);
  }

  void route(int from, int to, std::vector<int>& links) const override {
    if (from == to) return;
    const auto a = address(from);
    const auto b = address(to);
    const auto inside = [&](int group, int router, int other) {
      if (router == other) return;
      links.push_back(local_ + (group * routers_ + router) * (routers_ - 1) +
                      (other < router ? other : other - 1));
    };
    links.push_back(2 * from);
    if (a[0] == b[0]) {
      inside(a[0], a[1], b[1]);
    } else {
      inside(a[0], a[1], gateway(a[0], b[0]));
      links.push_back(global_ + a[0] * (groups_ - 1) + link_number(a[0], b[0]));
      inside(b[0], gateway(b[0], a[0]), b[1]);
    }
    links.push_back(2 * to + 1);
  }

 private:
  int vertex(int group, int router) const { return nodes() + group * routers_ + router; }
  int link_number(int group, int other) const { return (other - group - 1 + groups_) % groups_; }
  /// The router of a group that has the link to another one.
  int gateway(int group, int other) const { return link_number(group, other) % routers_; }

  void place() {
    const auto around = [](Point centre, double radius, double share) {
      const double angle = 2 * std::numbers::pi * share;
      return Point{centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)};
    };
    const auto place_of = [&](int group, double router, double radius) {
      const Point centre = around({0.5, 0.5}, 0.36, static_cast<double>(group) / groups_);
      return around(centre, radius * std::min(1.0, 8.0 / groups_), router / routers_);
    };
    for (int node = 0; node < nodes(); ++node) {
      const auto at = address(node);
      positions_.push_back(place_of(at[0], at[1] + (at[2] + 0.5) / nodes_per_router_ - 0.5, 0.12));
    }
    for (int router = 0; router < groups_ * routers_; ++router)
      positions_.push_back(place_of(router / routers_, router % routers_, 0.09));
  }

  int groups_;
  int routers_;
  int nodes_per_router_;
  int local_;   ///< number of the first link inside a group
  int global_;  ///< and of the first between groups
};

std::unique_ptr<Network> make(const std::string& arguments, int) {
  const auto sizes = parse_sizes(dragonfly, arguments);
  if (sizes.size() != 3) refuse(dragonfly, arguments);
  for (const Size& size : sizes) {
    if (!size.suffix.empty()) refuse(dragonfly, arguments);
  }
  const auto [groups, routers, nodes] = std::array{sizes[0].value, sizes[1].value, sizes[2].value};
  const double links =
      2.0 * groups * routers * nodes + 1.0 * groups * routers * routers + 1.0 * groups * groups;
  if (links > static_cast<double>(most_nodes) * 8) refuse(dragonfly, arguments);
  return std::make_unique<Dragonfly>(groups, routers, nodes);
}

}  // namespace

const NetworkType dragonfly{"dragonfly", "dragonfly:9x4x2: 9 groups of 4 routers with 2 nodes each",
                            "groups of routers, one link between every two groups", make};

}  // namespace ayatori::network
