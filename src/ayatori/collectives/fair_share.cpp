#include "ayatori/collectives/fair_share.hpp"

#include <algorithm>
#include <limits>

namespace ayatori::collectives {

FairShare::FairShare(std::span<const double> capacities) {
  for (const double capacity : capacities) links_.push_back({capacity});
}

void FairShare::add(const Flow& flow) {
  for (const int l : flow.passed) ++links_[l].flows;
}

void FairShare::remove(const Flow& flow) {
  for (const int l : flow.passed) --links_[l].flows;
}

void FairShare::estimate(Flow& flow) const {
  flow.rate = flow.limit;
  for (const int l : flow.passed) flow.rate = std::min(flow.rate, links_[l].capacity / links_[l].flows);
}

void FairShare::assign(std::span<Flow> flows) {
  used_.clear();
  open_.clear();
  for (Flow& flow : flows) {
    open_.push_back(&flow);
    for (const int l : flow.passed) {
      Link& link = links_[l];
      if (link.open > 0) continue;
      link.open = link.flows;
      link.left = link.capacity;
      link.is_full = false;
      used_.push_back(l);
    }
  }
  while (!open_.empty()) {
    double rate = std::numeric_limits<double>::infinity();
    for (const int l : used_) rate = std::min(rate, links_[l].left / links_[l].open);
    for (const Flow* flow : open_) rate = std::min(rate, flow->limit);
    constexpr double equal = 1 + 1e-9;
    std::erase_if(used_, [&](int l) {
      links_[l].is_full = links_[l].left <= equal * rate * links_[l].open;
      return links_[l].is_full;
    });
    std::erase_if(open_, [&](Flow* flow) {
      const auto is_full = [&](int l) { return links_[l].is_full; };
      if (flow->limit > equal * rate && std::ranges::none_of(flow->passed, is_full)) return false;
      flow->rate = rate;
      for (const int l : flow->passed) {
        links_[l].left -= rate;
        --links_[l].open;
      }
      return true;
    });
    std::erase_if(used_, [&](int l) { return links_[l].open == 0; });
  }
}

}  // namespace ayatori::collectives
