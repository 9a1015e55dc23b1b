#include "ayatori/comm/mpi/mpi_algorithms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {
namespace {

TEST(MpiAlgorithms, KnownOperationsOnly) {
  const MpiAlgorithms access;
  EXPECT_TRUE(access.of("allsend").empty());
  EXPECT_TRUE(access.of("scan").empty());
}

#ifndef AYATORI_SMPI

constexpr std::array operations{"broadcast", "reduce",    "allreduce", "gather",
                                "scatter",   "allgather", "alltoall",  "reduce-scatter"};

/// A control variable's value now.
int value_of(const std::string& name) {
  int index = 0;
  check_mpi(MPI_T_cvar_get_index(name.c_str(), &index), name.c_str());
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  check_mpi(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), "MPI_T_cvar_handle_alloc");
  int value = -1;
  check_mpi(MPI_T_cvar_read(handle, &value), "MPI_T_cvar_read");
  MPI_T_cvar_handle_free(&handle);
  return value;
}

TEST(MpiAlgorithms, AreForcedWhileAGuardLives) {
  const MpiAlgorithms access;
  for (const auto* operation : operations) {
    const auto algorithms = access.of(operation);
    EXPECT_GE(algorithms.size(), 2) << operation;
    for (const auto& algorithm : algorithms) {
      EXPECT_GT(algorithm.number, 0);
      {
        const ForcedAlgorithm forced(access, algorithm);
        for (const auto& [name, value] : algorithm.variables) EXPECT_EQ(value_of(name), value) << name;
      }
      for (const auto& [name, value] : algorithm.variables) EXPECT_EQ(value_of(name), 0) << name;
    }
  }
}

TEST(MpiAlgorithms, BroadcastByEachOfThem) {
  const Comm world = Comm::world();
  const MpiAlgorithms access;
  for (const auto& algorithm : access.of("broadcast")) {
    const ForcedAlgorithm forced(access, algorithm);
    const Comm comm = world.duplicate();
    std::vector<double> data(5000, world.rank() == 0 ? 7 : 0);
    comm.broadcast(std::span(data), 0);
    EXPECT_EQ(std::ranges::count(data, 7.0), 5000) << algorithm.text();
  }
}

TEST(MpiAlgorithms, WhatTheMpiTakesIsTheForcedOne) {
  const Comm world = Comm::world();
  if (std::string_view(mpi_version()).find("Open MPI") == std::string_view::npos || world.size() == 2)
    GTEST_SKIP() << "only Open MPI has an algorithm that refuses to be used";
  const MpiAlgorithms access;
  const auto algorithms = access.of("allgather");
  const auto two = std::ranges::find(algorithms, "two_proc", &MpiAlgorithm::name);
  ASSERT_NE(two, algorithms.end());
  std::vector<double> all(world.size());
  const auto allgather = [&](const Comm& comm) {
    const double mine = 1;
    comm.collectives().allgather(comm, &mine, 1, all.data(), DataType::float64);
  };
  const Comm forced = [&] {
    const ForcedAlgorithm guard(access, *two);
    return world.duplicate();
  }();
  if (world.size() > 2) {
    EXPECT_THROW(allgather(forced), EnvironmentError);
  }
  EXPECT_NO_THROW(allgather(world.duplicate()));
}

#endif

}  // namespace
}  // namespace ayatori::comm
