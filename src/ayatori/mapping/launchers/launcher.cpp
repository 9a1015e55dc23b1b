#include "ayatori/mapping/launchers/launcher.hpp"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "ayatori/base/error.hpp"

namespace ayatori::mapping {

namespace {

/// How many ranks with lower numbers are on the same node, by rank.
std::vector<int> slots_of(const LaunchPlan& plan) {
  std::vector<int> used(plan.network.nodes(), 0);
  std::vector<int> slots;
  for (const int node : plan.node_of) slots.push_back(used[node]++);
  return slots;
}

/// Open MPI knows the nodes of a job by number, too.
std::string rankfile(const LaunchPlan& plan) {
  const auto slots = slots_of(plan);
  std::string text;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    const int node = plan.node_of[rank];
    text += fmt::format("rank {}={} slot={}\n", rank,
                        plan.hosts.empty() ? fmt::format("+n{}", node) : plan.hosts[node], slots[rank]);
  }
  return text;
}

std::string hosts_by_rank(const LaunchPlan& plan) {
  std::string text;
  for (const int node : plan.node_of) text += plan.hosts[node] + "\n";
  return text;
}

/// Hydra fills its hosts one after the other: neighbours on one host are one line.
std::string hydra_hosts(const LaunchPlan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < plan.node_of.size();) {
    std::size_t end = rank;
    while (end < plan.node_of.size() && plan.node_of[end] == plan.node_of[rank]) ++end;
    text += fmt::format("{}:{}\n", plan.hosts[plan.node_of[rank]], end - rank);
    rank = end;
  }
  return text;
}

/// Ranks in the order of the places that they take, one line for every node. The launcher deals out places in
/// blocks of as many each, and what is left to the last node.
std::string reorder_file(const LaunchPlan& plan) {
  std::vector<std::vector<std::size_t>> ranks_of(plan.network.nodes());
  for (std::size_t rank = 0; rank < plan.node_of.size(); ++rank) ranks_of[plan.node_of[rank]].push_back(rank);
  std::erase_if(ranks_of, [](const auto& ranks) { return ranks.empty(); });
  std::string text;
  for (const auto& ranks : ranks_of) {
    const bool is_last = &ranks == &ranks_of.back();
    const std::size_t block = ranks_of.front().size();
    if (is_last ? ranks.size() > block : ranks.size() != block)
      throw InputError(
          fmt::format("--launcher cray: a reorder file wants as many ranks on every node, but {} and {} are "
                      "there: --launcher slurm can do without",
                      block, ranks.size()));
    text += fmt::format("{}\n", fmt::join(ranks, ","));
  }
  return text;
}

/// Logical coordinates of the node of every rank.
std::string rank_map(const LaunchPlan& plan) {
  constexpr int most_dimensions = 3;
  const bool has_coordinates = !plan.network.is_nested();
  if (has_coordinates && plan.network.digits() > most_dimensions)
    throw InputError(fmt::format("--launcher fujitsu: rank maps have up to {} dimensions, the network has {}",
                                 most_dimensions, plan.network.digits()));
  std::string text;
  for (const int node : plan.node_of) {
    text += has_coordinates ? fmt::format("({})\n", fmt::join(plan.network.address(node), ","))
                            : fmt::format("({})\n", node);
  }
  return text;
}

}  // namespace

std::span<const Launcher> launchers() {
  static constexpr std::array list{
      Launcher{"openmpi4", "mpirun -n N --rankfile FILE PROGRAM", false, rankfile},
      Launcher{"openmpi5", "mpirun -n N --map-by rankfile:file=FILE PROGRAM", false, rankfile},
      Launcher{"mpich", "mpiexec -n N -f FILE PROGRAM", true, hydra_hosts},
      Launcher{"slurm", "SLURM_HOSTFILE=FILE srun -n N --distribution=arbitrary PROGRAM", true,
               hosts_by_rank},
      Launcher{
          "cray",
          "cp FILE MPICH_RANK_ORDER; MPICH_RANK_REORDER_METHOD=3 srun -n N --distribution=plane=K PROGRAM",
          false, reorder_file},
      Launcher{"fujitsu", "pjsub --mpi \"rank-map-hostfile=FILE\" JOB", false, rank_map}};
  return list;
}

}  // namespace ayatori::mapping
