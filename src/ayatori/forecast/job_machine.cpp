#include "ayatori/forecast/job_machine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/mapping/objectives/evaluation.hpp"
#include "ayatori/mapping/placement.hpp"
#include "ayatori/network/load.hpp"

namespace ayatori::forecast {

namespace {

constexpr std::string_view between_nodes = "between nodes";

/// Whether the first ranks of the profile are on nodes as those of the job, and it knows all levels.
bool is_measured_as(const machine::Profile& profile, const JobShape& shape) {
  if (profile.ranks < shape.ranks() || profile.levels.empty()) return false;
  const auto order = mapping::in_order(shape.ranks(), shape.ranks_per_node);
  const bool same_nodes = std::equal(order.begin(), order.end(), profile.node_of_rank.begin());
  const bool no_more_here = profile.ranks == shape.ranks() ||
                            profile.node_of_rank[shape.ranks()] != profile.node_of_rank[shape.ranks() - 1];
  return same_nodes && no_more_here;
}

/// A machine of one node whose ranks stand for the nodes of the job.
bool is_shared_memory(const machine::Profile& profile, const JobShape& shape) {
  return profile.nodes() == 1 && shape.nodes > 1 && profile.ranks >= shape.ranks() && !profile.levels.empty();
}

const machine::Level* first_level(const machine::Profile& profile, bool is_between) {
  for (const auto& level : profile.levels) {
    const auto* curve = level.curve("one-way", 1);
    if ((level.name == between_nodes) == is_between && curve != nullptr && !curve->model.pieces.empty())
      return &level;
  }
  return nullptr;
}

/// The curve of this many at once that share what is as fast as `sharing` says.
machine::TransferCurve shared(const machine::TransferCurve& alone, int pairs, double slower) {
  machine::TransferCurve curve{alone.pattern, pairs, {}, alone.model};
  for (auto& piece : curve.model.pieces) piece.beta *= slower;
  return curve;
}

bool knows_sharing(const machine::Level& level) {
  return std::ranges::any_of(level.curves, [&](const auto& curve) {
    return curve.pattern == "one-way" && curve.pairs > 1 && curve.pairs <= level.sharing_pairs;
  });
}

}  // namespace

JobMachine::JobMachine(const machine::Profile& profile, const std::string& name, const JobShape& shape,
                       std::optional<double> memory_bandwidth)
    : shape_(shape), hierarchy_(job_profile(profile), shape.ranks()) {
  if (memory_bandwidth)
    memory_ = {{0, *memory_bandwidth}};
  else
    find_memory(profile, name);
}

void JobMachine::find_memory(const machine::Profile& profile, const std::string& name) {
  constexpr std::array kernels{"triad", "copy", "memcpy", "read"};
  const auto is_known = [&](std::string_view kernel) {
    return std::ranges::any_of(profile.memory, [&](const machine::MemoryFigure& figure) {
      return figure.kernel == kernel && !figure.touched_by_one;
    });
  };
  const auto* kernel = std::ranges::find_if(kernels, is_known);
  if (kernel == kernels.end())
    throw InputError(fmt::format(
        "{}: the profile does not tell how fast memory is: give --memory-bandwidth, in GB/s of a node",
        name));
  const int wanted = shape_.ranks_per_node * shape_.threads;
  int threads = 0;  // the most that are not more than wanted, or else the fewest
  for (const auto& figure : profile.memory) {
    if (figure.kernel != *kernel || figure.touched_by_one) continue;
    const bool fits = figure.threads <= wanted;
    const bool is_better = threads == 0 || (fits ? threads > wanted || figure.threads > threads
                                                 : threads > wanted && figure.threads < threads);
    if (is_better) threads = figure.threads;
  }
  if (threads < wanted)
    assumptions_.push_back(
        fmt::format("{} threads of a node get what {} were measured to get from memory", wanted, threads));
  if (threads > wanted)
    assumptions_.push_back(
        fmt::format("{} of {} measured threads of a node get their share of the memory", wanted, threads));
  const double share = std::min(1.0, static_cast<double>(wanted) / threads);
  const double ranks_measured =
      std::max(1.0, static_cast<double>(profile.ranks) / std::max(profile.nodes(), 1));
  for (const auto& figure : profile.memory) {
    if (figure.kernel == *kernel && !figure.touched_by_one && figure.threads == threads)
      memory_.push_back(
          {static_cast<double>(figure.bytes) * ranks_measured, share * figure.bytes_per_second.median});
  }
  std::ranges::sort(memory_, {}, &MemoryPoint::node_bytes);
  if (memory_.size() == 1)
    assumptions_.emplace_back("caches are as slow as memory: the profile knows one working set");
}

double JobMachine::memory_rate(double working_set) const {
  const double bytes = working_set * shape_.ranks_per_node;
  const auto after = std::ranges::upper_bound(memory_, bytes, {}, &MemoryPoint::node_bytes);
  double rate = 0;
  if (after == memory_.begin()) {
    rate = after->rate;
  } else if (after == memory_.end()) {
    rate = memory_.back().rate;
  } else {
    const auto& [from, slow] = *(after - 1);
    const double way = std::log(bytes / from) / std::log(after->node_bytes / from);
    rate = slow * std::pow(after->rate / slow, way);
  }
  return rate / shape_.ranks_per_node;
}

machine::Level JobMachine::inside_level(const machine::Profile& profile) {
  const auto* known = first_level(profile, false);
  if (known == nullptr) {
    known = first_level(profile, true);
    assumptions_.emplace_back("messages inside a node take what those between nodes take");
  }
  if (known == nullptr) {
    const network::CostModel guess;
    assumptions_.push_back(fmt::format("messages inside a node take {:.3g} us, and {:.3g} GB/s",
                                       1e6 * guess.inside.latency, 1e-9 * guess.inside.bandwidth));
    machine::Level level;
    level.curves = {network::one_way(1, guess.inside.latency, 1 / guess.inside.bandwidth)};
    return level;
  }
  machine::Level level = *known;
  std::erase_if(level.curves, [&](const auto& curve) {
    return level.name == between_nodes && curve.pairs > 1;  // they share a port
  });
  level.sharing_pairs = 1;
  return level;
}

machine::Level JobMachine::between_level(const machine::Profile& profile) {
  const auto* nearest = first_level(profile, true);
  machine::Level level;
  machine::LinkSharing sharing;
  if (nearest == nullptr) {
    const network::CostModel guess;
    assumptions_.push_back(fmt::format(
        "messages between nodes take {:.3g} us, and {:.3g} GB/s: the profile is one of a single node",
        1e6 * guess.between_latency, 1e-9 * guess.link_bandwidth));
    level.curves = {network::one_way(1, guess.between_latency, 1 / guess.link_bandwidth)};
    sharing = {guess.link_bandwidth, guess.port_bandwidth, true};
  } else {
    level = profile.levels.back();
    sharing = machine::link_sharing(*nearest);
    if (!knows_sharing(*nearest)) {
      sharing.is_limited = true;
      if (shape_.ranks_per_node > 1)
        assumptions_.emplace_back("ranks of a node share one port, as fast as a single message");
    }
    std::erase_if(level.curves, [](const auto& curve) { return curve.pairs > 1; });
  }
  const int pairs = level.sharing_pairs = shape_.ranks_per_node;
  if (pairs > 1 && sharing.bandwidth(pairs) > 0) {
    const auto curves = level.curves;
    for (const auto& curve : curves) {
      if (curve.pattern == "one-way" || curve.pattern == "both-ways")
        level.curves.push_back(shared(curve, pairs, sharing.one_flow / sharing.bandwidth(pairs)));
    }
  }
  return level;
}

machine::Profile JobMachine::job_profile(const machine::Profile& profile) {
  if (is_measured_as(profile, shape_)) return profile;
  if (is_shared_memory(profile, shape_)) {
    assumptions_.emplace_back("the machine is one node: its processors count as nodes, in their order");
    return profile;
  }
  const int ranks = shape_.ranks();
  machine::Profile job;
  job.ranks = ranks;
  job.node_of_rank = mapping::in_order(ranks, shape_.ranks_per_node);
  job.reduction = profile.reduction;
  const auto add = [&](machine::Level level, std::string_view name, int size) {
    level.name = name;
    level.structure.group_of = mapping::in_order(ranks, size);
    level.structure.groups = (ranks + size - 1) / size;
    job.levels.push_back(std::move(level));
  };
  if (shape_.ranks_per_node > 1) add(inside_level(profile), "inside a node", shape_.ranks_per_node);
  if (shape_.nodes > 1) add(between_level(profile), between_nodes, ranks);
  return job;
}

ExchangeSeconds JobMachine::exchange(std::span<const mapping::PairVolume> messages,
                                     const network::Network* network) const {
  if (messages.empty()) return {};
  std::vector<network::Message> flows;
  flows.reserve(messages.size());
  for (const auto& message : messages)
    flows.push_back({message.from, message.to, static_cast<double>(message.bytes), false});
  const auto load = network::load_of(flows, hierarchy_);
  ExchangeSeconds seconds;
  seconds.latency = network::predict_seconds(load, hierarchy_, 0);
  seconds.bandwidth = network::predict_seconds(load, hierarchy_, 1) - seconds.latency;
  if (network == nullptr || shape_.nodes == 1) return seconds;
  network::CostModel model;
  model.link_bandwidth = model.port_bandwidth = hierarchy_.lane(hierarchy_.levels() - 1);
  const mapping::CommGraph graph(shape_.ranks(), messages);
  const auto placed = mapping::in_order(shape_.ranks(), shape_.ranks_per_node);
  const auto metrics = mapping::Evaluation(graph, *network, model, placed).metrics();
  seconds.latency += model.hop_latency * std::max(0, metrics.most_hops - network->hops(0, 1));
  seconds.bandwidth = std::max(seconds.bandwidth, metrics.link_seconds);
  return seconds;
}

double JobMachine::allreduce_seconds(double bytes) const {
  const auto ranks = static_cast<unsigned>(shape_.ranks());
  const unsigned power = std::bit_floor(ranks);
  std::vector<network::Message> stage;
  double seconds = 0;
  const auto end_stage = [&] {
    if (!stage.empty())
      seconds += network::predict_seconds(network::load_of(stage, hierarchy_), hierarchy_, bytes);
    stage.clear();
  };
  const auto message = [](unsigned from, unsigned to, bool is_reduced) {
    return network::Message{static_cast<int>(from), static_cast<int>(to), 1, is_reduced};
  };
  for (unsigned rank = power; rank < ranks; ++rank) stage.push_back(message(rank, rank - power, true));
  end_stage();
  for (unsigned distance = 1; distance < power; distance *= 2) {
    for (unsigned rank = 0; rank < power; ++rank) stage.push_back(message(rank, rank ^ distance, true));
    end_stage();
  }
  for (unsigned rank = power; rank < ranks; ++rank) stage.push_back(message(rank - power, rank, false));
  end_stage();
  return seconds;
}

}  // namespace ayatori::forecast
