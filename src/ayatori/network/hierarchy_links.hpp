#pragma once

#include <vector>

#include "ayatori/network/hierarchy.hpp"

namespace ayatori::network {

/// The lanes, ports and rails of a hierarchy as links: what messages pass that are under way together.
class HierarchyLinks {
 public:
  /// Refers to the hierarchy.
  explicit HierarchyLinks(const Hierarchy& hierarchy);

  /// Bytes per second, by link.
  const std::vector<double>& capacities() const { return capacities_; }
  /// Appends the links that can hold a message up. `rail`: see any_rail.
  void route(int from, int to, int rail, std::vector<int>& links) const;

 private:
  int add_owners(int owners, double capacity, double duplex);
  void pass(int first, int out, int in, std::vector<int>& links) const;

  const Hierarchy& hierarchy_;
  std::vector<double> capacities_;
  int rank_links_ = 0;      ///< the first of what a rank's messages of all levels pass
  std::vector<int> lanes_;  ///< by level: the first
  std::vector<int> ports_;
  int rail_ports_ = -1;  ///< the first of those of single rails; -1 where there is one
};

}  // namespace ayatori::network
