#include "ayatori/network/fair_share.hpp"

#include <algorithm>

namespace ayatori::network {

namespace {

/// Rates that differ by rounding alone are the same.
constexpr double equal = 1 + 1e-9;

}  // namespace

FairShare::FairShare(std::span<const double> capacities)
    : share_(capacities.size()), waits_(capacities.size(), 0) {
  for (const double capacity : capacities) links_.push_back({capacity});
}

void FairShare::add(const Flow& flow) {
  for (const int l : flow.passed) {
    ++links_[l].flows;
    if (links_[l].is_used) continue;
    links_[l].is_used = true;
    used_.push_back(l);
  }
}

void FairShare::remove(const Flow& flow) {
  for (const int l : flow.passed) --links_[l].flows;
}

void FairShare::estimate(Flow& flow) const {
  flow.rate = flow.limit;
  for (const int l : flow.passed) flow.rate = std::min(flow.rate, links_[l].capacity / links_[l].flows);
}

void FairShare::assign(std::span<Flow> flows) {
  std::erase_if(used_, [&](int l) {
    Link& link = links_[l];
    link.is_used = link.flows > 0;
    link.open = link.flows;
    link.left = link.capacity;
    share_[l] = link.capacity / link.flows;
    waits_[l] = 0;
    return !link.is_used;
  });
  filling_ = used_;
  open_.clear();
  for (Flow& flow : flows) open_.push_back(&flow);
  while (true) {
    for (Flow* flow : open_) {
      double rate = flow->limit;
      for (const int l : flow->passed) rate = std::min(rate, share_[l]);
      flow->rate = rate;
      for (const int l : flow->passed) waits_[l] |= static_cast<char>(share_[l] > equal * rate);
    }
    const auto stopped = std::ranges::partition(open_, [&](const Flow* flow) { return !stops(*flow); });
    if (stopped.begin() == open_.begin()) return;
    for (const Flow* flow : stopped) {
      for (const int l : flow->passed) {
        links_[l].left -= flow->rate;
        --links_[l].open;
      }
    }
    open_.erase(stopped.begin(), open_.end());
    std::erase_if(filling_, [&](int l) {
      share_[l] = links_[l].left / links_[l].open;
      waits_[l] = 0;
      return links_[l].open == 0;
    });
  }
}

/// Whether it gets no more than it does now: it is at its limit, or a link that waits for no other one is
/// full.
bool FairShare::stops(const Flow& flow) const {
  return flow.limit <= equal * flow.rate || std::ranges::any_of(flow.passed, [&](int l) {
           return waits_[l] == 0 && share_[l] <= equal * flow.rate;
         });
}

}  // namespace ayatori::network
