#include "ayatori/comm/transfers/neighbour_exchange.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ayatori/base/error.hpp"

#ifndef AYATORI_SMPI  // which has no neighbourhood collectives

namespace ayatori::comm {
namespace {

/// Rank r sends r + 1 elements to the next rank and, unless that is the same, 2 to rank 0.
struct Exchange {
  const Comm comm = Comm::world();
  std::vector<Neighbour> send_to;
  std::vector<Neighbour> receive_from;

  static std::vector<Neighbour> sends(int rank, int size) {
    const int next = (rank + 1) % size;
    if (size == 1) return {};
    if (next == 0 || rank == 0) return {{next, 0, rank + 1}};
    return {{0, 0, 2}, {next, 2, rank + 3}};
  }
  Exchange() : send_to(sends(comm.rank(), comm.size())) {
    for (int r = 0; r < comm.size(); ++r) {
      for (const auto& to : sends(r, comm.size())) {
        if (to.rank != comm.rank()) continue;
        const std::int64_t begin = receive_from.empty() ? 0 : receive_from.back().end;
        receive_from.push_back({r, begin, begin + to.end - to.begin});
      }
    }
  }
};

TEST(NeighbourExchange, BringsWhatNeighboursSend) {
  const Exchange e;
  const NeighbourExchange exchange(e.comm, e.send_to, e.receive_from);
  std::vector<double> data(e.send_to.empty() ? 0 : e.send_to.back().end);
  std::vector<double> received(e.receive_from.empty() ? 0 : e.receive_from.back().end);
  for (int round = 0; round < 3; ++round) {
    for (const auto& to : e.send_to) {
      for (auto i = to.begin; i < to.end; ++i)
        data[i] = 100 * e.comm.rank() + 10 * to.rank + round + 0.5 * static_cast<double>(i - to.begin);
    }
    exchange.start(std::span<const double>(data), std::span(received)).wait();
    for (const auto& from : e.receive_from) {
      for (auto i = from.begin; i < from.end; ++i) {
        EXPECT_EQ(received[i],
                  100 * from.rank + 10 * e.comm.rank() + round + 0.5 * static_cast<double>(i - from.begin));
      }
    }
  }
}

TEST(NeighbourExchange, NoNeighboursAreFine) {
  const NeighbourExchange exchange(Comm::world(), {}, {});
  exchange.start(std::span<const double>(), std::span<double>()).wait();
}

TEST(NeighbourExchange, WhatCannotBeCountedOnOneRankIsAnErrorOnAll) {
  const Exchange e;
  const auto counted = static_cast<std::int64_t>(e.comm.size());  // one less than rank size - 2 sends in all
  if (e.comm.size() < 3) GTEST_SKIP() << "every rank sends as much";
  try {
    const NeighbourExchange exchange(e.comm, e.send_to, e.receive_from, counted);
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_TRUE(error.agreed());
  }
  const NeighbourExchange exchange(e.comm, e.send_to, e.receive_from, 4 * counted);
}

}  // namespace
}  // namespace ayatori::comm

#endif
