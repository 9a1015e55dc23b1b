#include "ayatori/network/message_cost.hpp"

#include <algorithm>

namespace ayatori::network {

namespace {

void take_faster(MessageCost& cost, const machine::TransferModel& model) {
  const double latency = model.latency();
  if (cost.latency == 0 || latency < cost.latency) cost.latency = latency;
  cost.bandwidth = std::max(cost.bandwidth, model.bandwidth());
}

}  // namespace

MessageCost message_bound(const machine::Profile& profile) {
  MessageCost bound;
  for (const machine::Level& level : profile.levels) {
    for (const machine::TransferCurve& curve : level.curves) {
      if (curve.pairs != 1 || curve.model.pieces.empty()) continue;
      take_faster(bound, curve.model);
      for (const machine::TransferFigure& point : curve.points)
        bound.bandwidth = std::max(bound.bandwidth, static_cast<double>(point.bytes) / point.seconds.low);
    }
  }
  return bound;
}

MessageCost fastest_messages(const machine::Profile& profile) {
  MessageCost cost;
  for (const machine::Level& level : profile.levels) {
    for (const auto pattern : {std::string_view("one-way"), machine::one_way_through_memory}) {
      const auto* curve = level.curve(pattern, 1);
      if (curve != nullptr && !curve->model.pieces.empty()) take_faster(cost, curve->model);
    }
  }
  return cost;
}

machine::TransferCurve one_way(int pairs, double alpha, double beta) {
  return {"one-way", pairs, {}, {{{0, alpha, beta}}, 0}};
}

}  // namespace ayatori::network
