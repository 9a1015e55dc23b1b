#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/network/cost_model.hpp"
#include "ayatori/network/networks/networks.hpp"
#include "ayatori/network/networks/parse.hpp"

namespace ayatori::network {

namespace {

/// The switches of a level, nearest to the nodes first.
struct SwitchLevel {
  std::vector<int> group_of;  ///< by node: its switch
  int groups = 0;
  double width = 1;  ///< width of each link that leads to this level from below
};

/// Nodes on switches, those on further switches, up to a single one. The several roots of a real fat tree
/// count as one, with the sum of their bandwidths: what routing makes of them is not known here.
class Tree : public Network {
 public:
  Tree(int nodes, std::vector<SwitchLevel> levels)
      : Network(nodes, static_cast<int>(levels.size()), true), levels_(std::move(levels)) {
    int vertices = nodes;
    for (const SwitchLevel& level : levels_) {
      first_.push_back(vertices);
      vertices += level.groups;
    }
    std::vector<int> parent(vertices, -1);
    std::vector<double> width(vertices, 1);
    for (int node = 0; node < nodes; ++node) {
      int below = node;
      for (std::size_t l = 0; l < levels_.size(); ++l) {
        parent[below] = switch_of(l, node);
        width[below] = levels_[l].width;
        below = parent[below];
      }
      for (int digit = 0; digit < digits(); ++digit) {
        const int level = digits() - 2 - digit;  // the root is everyone's, and a node its own
        set_address(node, digit, level < 0 ? node : levels_[level].group_of[node]);
      }
    }
    // A vertex has its way up at twice its number, its way down behind it; the root is the last vertex.
    for (int vertex = 0; vertex < vertices - 1; ++vertex) {
      links_.push_back({vertex, parent[vertex], width[vertex]});
      links_.push_back({parent[vertex], vertex, width[vertex]});
    }
    place(vertices);
  }

  int hops(int from, int to) const override { return 2 * meeting(from, to); }

  void route(int from, int to, std::vector<int>& links) const override {
    const int levels = meeting(from, to);
    for (int l = 0; l < levels; ++l) links.push_back(2 * below(l, from));
    for (int l = levels - 1; l >= 0; --l) links.push_back(2 * below(l, to) + 1);
  }

 private:
  int switch_of(std::size_t level, int node) const { return first_[level] + levels_[level].group_of[node]; }
  /// The vertex below a node's switch of this level.
  int below(int level, int node) const { return level == 0 ? node : switch_of(level - 1, node); }

  /// Links that lead up from a node to the first switch that it shares with the other.
  int meeting(int from, int to) const {
    if (from == to) return 0;
    int l = 0;
    while (levels_[l].group_of[from] != levels_[l].group_of[to]) ++l;
    return l + 1;
  }

  void place(int vertices) {
    positions_.assign(vertices, {});
    std::vector<int> counted(vertices, 0);
    const double rows = digits() + 1.0;
    for (int node = 0; node < nodes(); ++node) {
      const double x = (node + 0.5) / nodes();
      positions_[node] = {x, 1 - 0.5 / rows};
      for (std::size_t l = 0; l < levels_.size(); ++l) {
        Point& point = positions_[switch_of(l, node)];
        const int known = counted[switch_of(l, node)]++;
        point = {(point.x * known + x) / (known + 1), 1 - (static_cast<double>(l) + 1.5) / rows};
      }
    }
  }

  std::vector<SwitchLevel> levels_;
  std::vector<int> first_;  ///< vertex of the first switch, by level
};

/// Switches with this many children each, level by level, and a root. `narrowing`: how many times the links
/// into a switch from below are as wide as those above it; 0 where all links are alike.
std::unique_ptr<Network> make_regular(const NetworkType& type, const std::string& arguments, int nodes,
                                      const std::string& sizes, double narrowing) {
  std::vector<SwitchLevel> levels;
  std::int64_t group = 1;
  double width = 1;
  for (const auto& [children, suffix] : sizes.empty() ? std::vector<Size>() : parse_sizes(type, sizes)) {
    if (!suffix.empty()) refuse(type, arguments);
    group *= children;
    if (group > most_nodes) refuse(type, arguments);
    SwitchLevel level{{}, 0, width};
    for (int node = 0; node < nodes; ++node) level.group_of.push_back(static_cast<int>(node / group));
    level.groups = level.group_of.back() + 1;
    levels.push_back(std::move(level));
    if (narrowing > 0) width *= children / narrowing;
  }
  if (levels.empty() || levels.back().groups > 1) levels.push_back({std::vector<int>(nodes, 0), 1, width});
  return std::make_unique<Tree>(nodes, std::move(levels));
}

std::unique_ptr<Network> make_flat(const std::string& arguments, int nodes) {
  if (!arguments.empty()) refuse(flat, arguments);
  return make_regular(flat, arguments, nodes, "", 0);
}

std::unique_ptr<Network> make_tree(const std::string& arguments, int nodes) {
  if (arguments.empty()) refuse(tree, arguments);
  return make_regular(tree, arguments, nodes, arguments, 0);
}

std::unique_ptr<Network> make_fat_tree(const std::string& arguments, int nodes) {
  const auto colon = arguments.find(':');
  double narrowing = 1;
  if (colon != std::string::npos) {
    const auto given = number_in<double>(std::string_view(arguments).substr(colon + 1));
    if (!given || !(*given >= 1 && *given <= 1e3)) refuse(fat_tree, arguments);
    narrowing = *given;
  }
  if (arguments.empty() || colon == 0) refuse(fat_tree, arguments);
  return make_regular(fat_tree, arguments, nodes, arguments.substr(0, colon), narrowing);
}

std::unique_ptr<Network> make_measured(const std::string& path, int) {
  if (path.empty()) refuse(measured, path);
  return measured_network(machine::load_profile(path), path);
}

}  // namespace

std::unique_ptr<Network> measured_network(const machine::Profile& profile, const std::string& name) {
  const double link = cost_model(profile, name).link_bandwidth;
  const int nodes = profile.nodes();
  std::vector<SwitchLevel> levels;
  for (const machine::Level& level : profile.levels) {
    SwitchLevel switches{std::vector<int>(nodes, -1), level.structure.groups, 1};
    bool splits_nodes = false;
    for (int rank = 0; rank < profile.ranks; ++rank) {
      int& group = switches.group_of[profile.node_of_rank[rank]];
      splits_nodes |= group >= 0 && group != level.structure.group_of[rank];
      group = level.structure.group_of[rank];
    }
    if (splits_nodes || switches.groups >= nodes) continue;  // a level inside nodes
    const double capacity = machine::link_sharing(level).capacity;
    if (capacity > 0) switches.width = capacity / link;
    levels.push_back(std::move(switches));
  }
  if (levels.empty() || levels.back().groups > 1)
    throw InputError(fmt::format("{}: the profile has no level that joins all nodes", name));
  return std::make_unique<Tree>(nodes, std::move(levels));
}

const NetworkType flat{"flat", "flat", "all nodes on one switch", make_flat};

const NetworkType tree{"tree",
                       "tree:16x8: 16 nodes on a switch, 8 switches on one above, as many of those as needed",
                       "switches with one link up", make_tree};

const NetworkType fat_tree{
    "fat-tree",
    "fat-tree:24x12:2: 24 nodes on a switch, 12 switches on one above, the links up half as "
    "wide as all those below (without :2 just as wide)",
    "a tree whose links get wider upwards", make_fat_tree};

const NetworkType measured{"measured", "measured:PROFILE, a file of `ayatori probe` or a published machine",
                           "the levels that a machine profile has found", make_measured};

}  // namespace ayatori::network
