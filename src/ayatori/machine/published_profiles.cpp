#include "ayatori/machine/published_profiles.hpp"

#include <algorithm>
#include <array>

namespace ayatori::machine {

namespace {

constexpr double micro = 1e-6;
constexpr double mega = 1e6;

Estimate published(double value) {
  return {value, value, value, 1};
}

Profile machine_of(const char* name, const char* source, int nodes, int ranks_per_node, int threads) {
  Profile profile;
  profile.source = source;
  profile.mpi = "as published";
  profile.ranks = nodes * ranks_per_node;
  profile.threads = threads;
  profile.node.hostname = name;
  profile.node.packages = profile.node.cores = profile.node.processing_units = ranks_per_node * threads;
  profile.node.numa_nodes = 1;
  for (int rank = 0; rank < profile.ranks; ++rank) profile.node_of_rank.push_back(rank / ranks_per_node);
  return profile;
}

TransferCurve curve(const char* pattern, int pairs, double alpha, double beta) {
  return {pattern, pairs, {}, {{{0, alpha, beta}}, 0}};
}

/// alpha in microseconds and beta in microseconds per word of 8 bytes, as Imamura gives them.
TransferCurve in_words(const char* pattern, int pairs, double alpha, double beta) {
  return curve(pattern, pairs, alpha * micro, beta * micro / 8);
}

/// Groups of this many neighbouring ranks; a group of the level below has `below` of them.
Level level(const char* name, int ranks, int group, int below, std::vector<TransferCurve> curves) {
  Level level;
  level.name = name;
  for (int rank = 0; rank < ranks; ++rank) level.structure.group_of.push_back(rank / group);
  level.structure.groups = (ranks + group - 1) / group;
  const double seconds = curves.front().model.seconds(8);
  level.structure.least_seconds = level.structure.typical_seconds = level.structure.most_seconds = seconds;
  level.sharing_pairs = below;
  level.curves = std::move(curves);
  return level;
}

/// Imamura, table 3. The distances 2^d of the hypercube: d = 0 is within a SHUB, 0 < d <= 2 within a brick.
Profile altix_3700_bx2() {
  constexpr int ranks = 256;
  constexpr int pairs = ranks / 2;
  constexpr int shub = 2;
  constexpr int brick = 8;
  auto profile = machine_of("altix3700bx2", "Imamura, table 3: SGI Altix 3700 Bx2", 1, ranks, 1);
  profile.levels = {level("inside a node", ranks, shub, 1,
                          {in_words("one-way", 1, 2.77, 4.79e-3), in_words("one-way", pairs, 2.91, 4.60e-3),
                           in_words("both-ways", pairs, 3.34, 8.71e-3)}),
                    level("inside a node", ranks, brick, shub,
                          {in_words("one-way", 1, 4.05, 7.61e-3), in_words("one-way", pairs, 3.92, 9.96e-3),
                           in_words("both-ways", pairs, 5.43, 13.08e-3)}),
                    level("inside a node", ranks, ranks, brick,
                          {in_words("one-way", 1, 4.46, 8.37e-3), in_words("one-way", pairs, 3.92, 22.13e-3),
                           in_words("both-ways", pairs, 5.88, 26.89e-3)})};
  return profile;
}

/// Imamura, table 3: 4 nodes of 2 processors on Gigabit Ethernet, MPICH 1.2.7.
Profile pc_cluster_gbe() {
  constexpr int nodes = 4;
  constexpr int per_node = 2;
  constexpr int ranks = nodes * per_node;
  constexpr int pairs = ranks / 2;
  auto profile = machine_of("pc-cluster-gbe", "Imamura, table 3: PC cluster, Gigabit Ethernet, MPICH 1.2.7",
                            nodes, per_node, 1);
  profile.levels = {level("inside a node", ranks, per_node, 1,
                          {in_words("one-way", 1, 25.4, 26.5e-3), in_words("one-way", pairs, 35.0, 24.32e-3),
                           in_words("both-ways", pairs, 26.8, 41.2e-3)}),
                    level("between nodes", ranks, ranks, per_node,
                          {in_words("one-way", 1, 111, 103e-3), in_words("one-way", pairs, 111, 164e-3),
                           in_words("both-ways", pairs, 63.6, 294e-3)})};
  return profile;
}

/// Nishida's cluster, one process of two threads a node: 8 nodes of 2 Opteron 246. He states the least
/// latency and the greatest bandwidth of both directions together; each direction is taken for half of that.
Profile opteron_cluster(const char* name, const char* source, double latency, double both_directions) {
  constexpr int nodes = 8;
  constexpr int processors = 2;
  constexpr std::int64_t working_set = std::int64_t{3} * 8 * 4'000'000;
  auto profile = machine_of(name, source, nodes, 1, processors);
  profile.node.processor = "Opteron 246, 2.0 GHz";
  profile.node.numa_nodes = processors;
  for (int threads = 1; threads <= processors; ++threads)
    profile.memory.push_back({"triad", threads, working_set, false, published(threads * 2500 * mega)});
  const double beta = 2 / both_directions;
  profile.levels = {level("between nodes", nodes, nodes, 1,
                          {curve("one-way", 1, latency, beta), curve("both-ways", 1, latency, beta)})};
  return profile;
}

Profile infiniband_2005() {
  return opteron_cluster("infiniband-2005",
                         "Nishida, section 3: InfiniHost HCA on PCI Express, 2 ports, MVAPICH 0.9.5",
                         3.99 * micro, 2907 * mega);
}

Profile infiniband_2005_one_port() {
  return opteron_cluster("infiniband-2005-1port",
                         "Nishida, section 3: the same latency, and half the bandwidth with 1 port",
                         3.99 * micro, 2907 * mega / 2);
}

Profile gbe_2005() {
  return opteron_cluster("gbe-2005", "Nishida, section 3: Gigabit Ethernet, MPICH 1.2.7", 28.71 * micro,
                         58 * mega);
}

/// Tanaka et al.: 8 nodes of 4 Pentium Pro, Myrinet with NICAM; tables 1 and 3, figure 2.
Profile compas_1998() {
  constexpr int nodes = 8;
  constexpr int processors = 4;
  constexpr std::int64_t beyond_cache = 8 << 20;
  auto profile = machine_of("compas-1998", "Tanaka et al.: COMPaS, Myrinet, NICAM", nodes, 1, processors);
  profile.node.processor = "Pentium Pro, 200 MHz";
  struct Bus {
    const char* kernel;
    std::array<double, processors> megabytes;  // per second, by threads
  };
  constexpr std::array<Bus, 4> table{
      Bus{"read", {360.0, 258.2, 251.7, 250.3}}, Bus{"write", {91.1, 106.6, 106.6, 99.7}},
      Bus{"copy", {66.5, 70.6, 70.1, 70.7}}, Bus{"memcpy", {85.6, 88.9, 87.7, 88.3}}};
  for (const Bus& bus : table) {
    for (int threads = 1; threads <= processors; ++threads)
      profile.memory.push_back(
          {bus.kernel, threads, beyond_cache, false, published(bus.megabytes[threads - 1] * mega)});
  }
  profile.barriers = {{"flags", 2, published(1.222 * micro)},
                      {"flags", 3, published(1.761 * micro)},
                      {"flags", 4, published(1.960 * micro)}};
  profile.levels = {level(
      "between nodes", nodes, nodes, 1,
      {curve("one-way", 1, 16 * micro, 1 / (82.5 * mega)), curve("put", 1, 16 * micro, 1 / (82.5 * mega))})};
  profile.collectives = {{"barrier", 1, 2, 0, published(23.79 * micro)},
                         {"barrier", 1, 4, 0, published(31.45 * micro)},
                         {"barrier", 1, 8, 0, published(38.67 * micro)}};
  return profile;
}

}  // namespace

std::span<const PublishedProfile> published_profiles() {
  static constexpr std::array list{PublishedProfile{"altix3700bx2", altix_3700_bx2},
                                   PublishedProfile{"pc-cluster-gbe", pc_cluster_gbe},
                                   PublishedProfile{"infiniband-2005", infiniband_2005},
                                   PublishedProfile{"infiniband-2005-1port", infiniband_2005_one_port},
                                   PublishedProfile{"gbe-2005", gbe_2005},
                                   PublishedProfile{"compas-1998", compas_1998}};
  return list;
}

}  // namespace ayatori::machine
