#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ayatori::machine {
struct Profile;
}

namespace ayatori::network {

/// A link in one direction, between two vertices of the network: nodes come first, then switches.
struct Link {
  int from;
  int to;
  double width = 1;  ///< bandwidth as a multiple of an ordinary link's
};

/// Where a vertex stands in a picture, both in [0, 1].
struct Point {
  double x = 0;
  double y = 0;
};

/// Nodes, the links between them, and the one route that messages take from each node to each other.
class Network {
 public:
  virtual ~Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  int nodes() const { return nodes_; }
  const std::vector<Link>& links() const { return links_; }

  /// Links that a message between two nodes passes; the same both ways, 0 from a node to itself.
  virtual int hops(int from, int to) const = 0;
  /// Appends the numbers of these links, in order.
  virtual void route(int from, int to, std::vector<int>& links) const = 0;

  /// A node's address, outermost digit first: neighbours have addresses that differ little.
  std::span<const int> address(int node) const {
    return {addresses_.data() + static_cast<std::size_t>(node) * digits_, static_cast<std::size_t>(digits_)};
  }
  int digits() const { return digits_; }
  /// Whether the first digit that differs decides how far two nodes are from each other (a tree), rather than
  /// all digits together (a torus).
  bool is_nested() const { return nested_; }
  /// Position of a vertex, for pictures.
  Point position(int vertex) const { return positions_[vertex]; }

 protected:
  Network(int nodes, int digits, bool nested)
      : nodes_(nodes),
        digits_(digits),
        nested_(nested),
        addresses_(static_cast<std::size_t>(nodes) * digits) {}
  void set_address(int node, int digit, int value) {
    addresses_[static_cast<std::size_t>(node) * digits_ + digit] = value;
  }

  std::vector<Link> links_;
  std::vector<Point> positions_;  ///< positions of all vertices

 private:
  int nodes_;
  int digits_;
  bool nested_;
  std::vector<int> addresses_;
};

/// An entry in the list of networks. `make` gets what stands behind the name and its colon, and how many
/// nodes are needed at least; it throws InputError.
struct NetworkType {
  std::string_view name;
  std::string_view syntax;
  std::string_view description;
  std::unique_ptr<Network> (*make)(const std::string& arguments, int nodes);
};

/// Every network. Adding one is a file in networks/ and a line in networks/list.cpp.
std::span<const NetworkType> network_types();

/// The network of a spec such as "torus:4x6x4", with this many nodes at least. Throws InputError.
std::unique_ptr<Network> make_network(const std::string& spec, int nodes);

/// The nodes of a profile below the levels that infer_levels() has found above them. `name` is what to call
/// the profile in errors. Throws InputError if it knows of one node only, or no costs of both levels.
std::unique_ptr<Network> measured_network(const machine::Profile& profile, const std::string& name);

}  // namespace ayatori::network
