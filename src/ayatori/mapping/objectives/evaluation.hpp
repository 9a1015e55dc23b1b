#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/mapping/graph/comm_graph.hpp"
#include "ayatori/network/cost_model.hpp"
#include "ayatori/network/network.hpp"

namespace ayatori::mapping {

/// What a placement costs.
struct Metrics {
  Volume total;
  Volume inside;               ///< what stays inside nodes
  std::int64_t hop_bytes = 0;  ///< bytes times the links that they pass
  double mean_hops = 0;        ///< links that a message between nodes passes, on average
  int most_hops = 0;
  double link_seconds = 0;  ///< that the busiest link, or port of a node, takes for its bytes
  double rank_seconds = 0;  ///< that the busiest rank takes for its messages
  double seconds = 0;       ///< predicted for the exchange: both, and the links of the longest way
};

/// A placement under change: knows all costs at any time, and what an exchange of two ranks makes of them.
/// All sums are of integers, so that they do not drift.
///
/// The prediction: a rank handles its messages one by one, sent and received ones at the same time; a message
/// inside a node takes it latency and bytes / bandwidth, one between nodes its latency. Every link carries
/// its bytes at its bandwidth, and so does the port of a node in each direction. An exchange takes as long as
/// the busiest rank, and the busiest link, and the latency of the longest way.
class Evaluation {
 public:
  /// Refers to graph and network.
  Evaluation(const CommGraph& graph, const network::Network& network, const network::CostModel& model,
             std::span<const int> node_of);

  /// Two ranks change places; done twice, nothing has changed.
  void swap(int a, int b);

  int node_of(int rank) const { return node_of_[rank]; }
  const std::vector<int>& placement() const { return node_of_; }
  const CommGraph& graph() const { return graph_; }
  const network::Network& network() const { return network_; }
  const network::CostModel& model() const { return model_; }

  /// In time linear in ranks and links.
  Metrics metrics() const;
  /// Links first, then the ports out of all nodes, then those into them.
  const std::vector<std::int64_t>& link_bytes() const { return link_bytes_; }
  double link_seconds(int link) const {
    return static_cast<double>(link_bytes_[link]) * seconds_per_byte_[link];
  }
  /// See network::seconds_per_byte().
  const std::vector<double>& seconds_per_byte() const { return seconds_per_byte_; }
  /// The link, or port, that takes longest; the first of several.
  int busiest_link() const;
  int busiest_rank() const;

 private:
  /// What a rank handles, in one direction.
  struct Handled {
    Volume inside;
    std::int64_t between = 0;
  };
  void account(int rank, const CommGraph::Talk& talk, int sign);
  void account(int from, int to, const Volume& volume, int sign);
  void account_all(int rank, int but, int sign);
  double rank_seconds(int rank) const;

  const CommGraph& graph_;
  const network::Network& network_;
  network::CostModel model_;
  std::vector<int> node_of_;
  std::vector<double> seconds_per_byte_;
  std::vector<std::int64_t> link_bytes_;
  std::vector<Handled> sent_;
  std::vector<Handled> received_;
  Volume inside_;
  std::int64_t hop_bytes_ = 0;
  std::vector<std::int64_t> messages_by_hops_;  ///< those that leave a node
  std::vector<int> way_;
};

}  // namespace ayatori::mapping
