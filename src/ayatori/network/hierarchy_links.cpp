#include "ayatori/network/hierarchy_links.hpp"

#include <limits>

namespace ayatori::network {

/// For every owner a link out, one in, and one for both directions together.
int HierarchyLinks::add_owners(int owners, double capacity, double duplex) {
  const int first = static_cast<int>(capacities_.size());
  for (int owner = 0; owner < owners; ++owner) {
    capacities_.push_back(capacity);
    capacities_.push_back(capacity);
    capacities_.push_back(duplex * capacity);
  }
  return first;
}

HierarchyLinks::HierarchyLinks(const Hierarchy& hierarchy) : hierarchy_(hierarchy) {
  const int fastest = hierarchy.fastest();
  rank_links_ = add_owners(hierarchy.ranks(), hierarchy.lane(fastest), hierarchy.lane_duplex(fastest));
  for (int level = 0; level < hierarchy.levels(); ++level) {
    lanes_.push_back(add_owners(hierarchy.ranks(), hierarchy.lane(level), hierarchy.lane_duplex(level)));
    ports_.push_back(level == 0 ? -1
                                : add_owners(hierarchy.owners(level), hierarchy.port(level),
                                             hierarchy.port_duplex(level)));
  }
  const int rails = hierarchy.rails();
  if (rails == 1) return;
  const int level = hierarchy.rail_level();
  rail_ports_ =
      level == 0 ? add_owners(hierarchy.ranks() * rails, hierarchy.lane(0) / rails, hierarchy.lane_duplex(0))
                 : add_owners(hierarchy.owners(level) * rails, hierarchy.port(level) / rails,
                              hierarchy.port_duplex(level));
}

/// Appends those of an owner's three links that can hold a message up.
void HierarchyLinks::pass(int first, int out, int in, std::vector<int>& links) const {
  if (capacities_[first] == std::numeric_limits<double>::infinity()) return;
  const double duplex = capacities_[first + 2] / capacities_[first];
  if (duplex > 1) {
    links.push_back(first + 3 * out);
    links.push_back(first + 3 * in + 1);
  }
  if (duplex < 2) {
    links.push_back(first + 3 * out + 2);
    links.push_back(first + 3 * in + 2);
  }
}

void HierarchyLinks::route(int from, int to, int rail, std::vector<int>& links) const {
  const int meets_at = hierarchy_.level_of(from, to);
  pass(rank_links_, from, to, links);
  const int lane = lanes_[meets_at];
  if (capacities_[lane] < capacities_[rank_links_] || capacities_[lane + 2] < capacities_[rank_links_ + 2])
    pass(lane, from, to, links);
  for (int level = 1; level <= meets_at; ++level)
    pass(ports_[level], hierarchy_.owner(level, from), hierarchy_.owner(level, to), links);
  const int leaving = hierarchy_.rail_level();
  if (rail_ports_ >= 0 && rail != any_rail && meets_at >= leaving) {
    const int rails = hierarchy_.rails();
    pass(rail_ports_, hierarchy_.owner(leaving, from) * rails + rail % rails,
         hierarchy_.owner(leaving, to) * rails + rail % rails, links);
  }
}

}  // namespace ayatori::network
