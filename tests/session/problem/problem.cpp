#include "ayatori/mapping/part_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/session/problem/problem.hpp"

namespace ayatori::mapping {
namespace {

std::unique_ptr<network::Network> one_switch(int nodes) {
  return network::make_network("flat", nodes);
}

const Objective& by_messages() {
  return find_named(objectives(), "messages", "objective");
}

/// As if ranks were dealt round this many nodes.
std::vector<int> dealt(int ranks, int nodes) {
  std::vector<int> node_of;
  for (int rank = 0; rank < ranks; ++rank) node_of.push_back(rank % nodes);
  return node_of;
}

/// Each part sends 8 bytes to the one before and the one behind it.
std::vector<PairVolume> chain(const comm::Comm& comm) {
  std::vector<PairVolume> sent;
  for (const int other : {comm.rank() - 1, comm.rank() + 1}) {
    if (other >= 0 && other < comm.size()) sent.push_back({comm.rank(), other, 1, 8});
  }
  return sent;
}

std::vector<int> in_their_order(int ranks) {
  std::vector<int> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(NodeOfRanks, TestsRunOnOneNode) {
  const auto world = comm::Comm::world();
  EXPECT_EQ(node_of_ranks(world), std::vector<int>(world.size(), 0));
}

TEST(OrderParts, AChainDealtRoundTwoNodesIsCutInTwo) {
  const auto world = comm::Comm::world();
  const int ranks = world.size();
  const auto node_of_rank = dealt(ranks, std::min(ranks, 2));
  const auto order =
      order_parts(world, chain(world), node_of_rank, one_switch, network::CostModel(), by_messages());
  auto sorted = order.rank_of_part;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, in_their_order(ranks));
  EXPECT_EQ(order.before.total.messages, 2 * (ranks - 1));
  if (ranks < 3) {  // nothing to be gained
    EXPECT_TRUE(order.is_kept);
    EXPECT_EQ(order.rank_of_part, sorted);
    return;
  }
  EXPECT_FALSE(order.is_kept);
  EXPECT_EQ(order.nodes, 2);
  EXPECT_EQ(order.before.inside.messages, 0);
  EXPECT_EQ(order.after.inside.messages, 2 * (ranks - 2));
  int inside = 0;
  for (int part = 0; part + 1 < ranks; ++part) {
    const auto node = [&](int p) { return node_of_rank[order.rank_of_part[p]]; };
    inside += node(part) == node(part + 1) ? 1 : 0;
  }
  EXPECT_EQ(inside, ranks - 2);
}

TEST(OrderParts, AnErrorOfRankZeroIsEveryones) {
  const auto world = comm::Comm::world();
  const auto none = [](int) -> std::unique_ptr<network::Network> { throw InputError("no network"); };
  EXPECT_THROW(
      order_parts(world, chain(world), dealt(world.size(), 1), none, network::CostModel(), by_messages()),
      InputError);
}

/// What a matrix of the file's numbering gives, in the file's numbering.
std::vector<double> product(const comm::Comm& comm, const session::Problem& problem) {
  const Range mine = problem.file_rows.range(comm.rank());
  Array<double> x(mine.size());
  for (std::int64_t i = 0; i < mine.size(); ++i) x[i] = static_cast<double>((mine.begin + i) * 7 % 19);
  const auto of_solver = problem.to_solver(comm, std::move(x));
  Array<double> y(of_solver.size());
  sparse::multiply_reference(comm, *problem.parts, of_solver, y);
  const auto of_file = problem.to_file(comm, std::move(y));
  return comm.allgatherv(std::span<const double>(of_file)).values;
}

std::int64_t messages_between(const comm::Comm& comm, const sparse::HaloPlan& plan,
                              std::span<const int> node_of_rank) {
  const auto between = std::ranges::count_if(plan.send_to, [&](const auto& neighbour) {
    return node_of_rank[neighbour.rank] != node_of_rank[comm.rank()];
  });
  return comm.allreduce(static_cast<std::int64_t>(between), comm::ReduceOp::sum);
}

TEST(OrderParts, OfAMatrixThatIsReadAndMovedOnce) {
  const auto world = comm::Comm::world();
  const auto node_of_rank = dealt(world.size(), std::min(world.size(), 2));
  for (const auto kind : {session::PartitionKind::contiguous, session::PartitionKind::graph}) {
    const auto plain = session::load_problem(world, "convection2d:n=12", kind);
    PartOrder found;
    const auto placed =
        session::load_problem(world, "convection2d:n=12", kind, [&](const sparse::SplitMatrix& parts) {
          std::vector<PairVolume> sent;
          for (const auto& neighbour : parts.plan.send_to)
            sent.push_back({world.rank(), neighbour.rank, 1, 8 * (neighbour.end - neighbour.begin)});
          found = order_parts(world, sent, node_of_rank, one_switch, network::CostModel(), by_messages());
          return found.is_kept ? std::nullopt : std::optional(found.rank_of_part);
        });
    EXPECT_EQ(found.is_kept, found.before.inside.messages == found.after.inside.messages);
    if (kind ==
        session::PartitionKind::contiguous) {  // three parts of the other kind are neighbours of each other
      EXPECT_EQ(found.is_kept, world.size() < 3);
    }
    EXPECT_EQ(messages_between(world, plain.parts->plan, node_of_rank),
              found.before.total.messages - found.before.inside.messages);
    EXPECT_EQ(messages_between(world, placed.parts->plan, node_of_rank),
              found.after.total.messages - found.after.inside.messages);
    const auto got = product(world, placed);
    const auto wanted = product(world, plain);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-10) << i;
  }
}

}  // namespace
}  // namespace ayatori::mapping
