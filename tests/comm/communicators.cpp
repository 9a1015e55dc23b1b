#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/environment.hpp"

namespace ayatori::comm {
namespace {

const auto world = [] { return Comm::world(); };

TEST(Communicators, SelfIsAlone) {
  const Comm self = Comm::self();
  EXPECT_EQ(self.rank(), 0);
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.allreduce(world().rank(), ReduceOp::sum), world().rank());
}

TEST(Communicators, SplitByColorOrderedByKey) {
  const Comm all = world();
  const Comm part = all.split(all.rank() % 2, -all.rank());  // highest first
  const std::vector<std::int32_t> members = part.allgather<std::int32_t>(all.rank());
  ASSERT_EQ(part.size(), (all.size() + 1 - all.rank() % 2) / 2);
  EXPECT_EQ(members[part.rank()], all.rank());
  for (int r = 0; r < part.size(); ++r) EXPECT_EQ(members[r] % 2, all.rank() % 2);
  for (int r = 1; r < part.size(); ++r) EXPECT_LT(members[r], members[r - 1]);
}

TEST(Communicators, SplitIntoSingles) {
  EXPECT_EQ(world().split(world().rank(), 0).size(), 1);
}

TEST(Communicators, NodeHoldsEveryRankOfOneMachine) {
  // All ranks of a real run of these tests share the machine; simulated ranks have a host each.
  const Comm node = world().split_by_node();
#ifdef AYATORI_SMPI
  EXPECT_LE(node.size(), world().size());
#else
  EXPECT_EQ(node.size(), world().size());
  EXPECT_EQ(node.rank(), world().rank());
#endif
}

TEST(Communicators, CopiesShareDuplicatesDoNot) {
  const Comm all = world();
  const Comm copy = all;
  EXPECT_EQ(&copy.handle(), &all.handle());
  const Comm other = all.duplicate();
  EXPECT_EQ(other.rank(), all.rank());
  EXPECT_EQ(other.size(), all.size());

  // Same tag and partner: the communicator alone tells the messages apart.
  const int next = (all.rank() + 1) % all.size();
  const int previous = (all.rank() + all.size() - 1) % all.size();
  const std::vector<double> one{1.0};
  const std::vector<double> two{2.0};
  std::vector<double> from_all(1);
  std::vector<double> from_other(1);
  std::vector<Request> requests;
  requests.push_back(other.irecv(std::span(from_other), previous, 5));
  requests.push_back(all.irecv(std::span(from_all), previous, 5));
  requests.push_back(all.isend(std::span(one), next, 5));
  requests.push_back(other.isend(std::span(two), next, 5));
  wait_all(requests);
  EXPECT_EQ(from_all, one);
  EXPECT_EQ(from_other, two);
}

TEST(Communicators, ManyComeAndGo) {  // an MPI has a few thousand at most: they must be freed
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(Comm::self().duplicate().size(), 1);
}

TEST(Environment, NestsAndNamesTheLibrary) {
  int argc = 0;
  char** argv = nullptr;
  { const Environment inner(argc, argv); }  // does not finalize what main() began
  world().barrier();
  const std::string version = mpi_version();
  EXPECT_FALSE(version.empty());
  EXPECT_EQ(version.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace ayatori::comm
