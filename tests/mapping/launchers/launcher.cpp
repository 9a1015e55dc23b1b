#include "ayatori/mapping/launchers/launcher.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"

namespace ayatori::mapping {
namespace {

const std::vector<int> node_of{1, 0, 0, 2, 1};

std::string file_of(std::string_view launcher, const std::vector<std::string>& hosts = {},
                    const char* network = "flat") {
  return find_named(launchers(), launcher, "launcher")
      .write({node_of, hosts, *network::make_network(network, 3)});
}

TEST(Launchers, FilesThatTheyRead) {
  const std::vector<std::string> hosts{"a", "b", "c"};
  for (const char* name : {"openmpi4", "openmpi5"}) {
    EXPECT_EQ(file_of(name, hosts),
              "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=a slot=1\nrank 3=c slot=0\nrank 4=b slot=1\n");
    EXPECT_EQ(file_of(name).substr(0, 16), "rank 0=+n1 slot=");
  }
  EXPECT_EQ(file_of("mpich", hosts), "b:1\na:2\nc:1\nb:1\n");
  EXPECT_EQ(file_of("slurm", hosts), "b\na\na\nc\nb\n");
  EXPECT_EQ(file_of("cray"), "1,2\n0,4\n3\n");
  EXPECT_EQ(file_of("fujitsu"), "(1)\n(0)\n(0)\n(2)\n(1)\n");
  EXPECT_EQ(file_of("fujitsu", {}, "torus:2x2"), "(1,0)\n(0,0)\n(0,0)\n(0,1)\n(1,0)\n");
  EXPECT_THROW(file_of("fujitsu", {}, "torus:2x2x2x2"), InputError);
}

TEST(Launchers, AReorderFileKnowsOnlyTheLastNodeToBeSmaller) {
  const auto& cray = find_named(launchers(), "cray", "launcher");
  const std::vector<std::string> no_names;
  const auto network = network::make_network("flat", 4);
  const auto write = [&](const std::vector<int>& node_of_rank) {
    return cray.write({node_of_rank, no_names, *network});
  };
  EXPECT_EQ(write({2, 0, 1, 0, 1}), "1,3\n2,4\n0\n");
  EXPECT_THROW(write({0, 1, 1}), InputError);
  EXPECT_THROW(write({0, 0, 1, 2, 2}), InputError);
}

}  // namespace
}  // namespace ayatori::mapping
