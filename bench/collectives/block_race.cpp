#include "bench/collectives/block_race.hpp"

#ifdef AYATORI_HAS_SHIM  // where there is none, nothing would use what is found out

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/collectives/pmpi/vector_calls.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/call_time.hpp"
#include "ayatori/machine/probes/turns.hpp"
#include "ayatori/machine/topology.hpp"

namespace ayatori::bench {

namespace {

/// Calls on a communicator before its ranks share memory.
constexpr int first_calls = 8;

}  // namespace

bool has_block_race(collectives::Operation operation) {
  return pmpi::VectorCalls::knows(operation);
}

std::vector<BlockTimes> time_blocks(const comm::Comm& comm, std::span<const BlockRace> races,
                                    double seconds) {
  if (races.empty() || comm.split_by_node().size() < comm.size()) return {};
  std::int64_t longest = 0;
  for (const BlockRace& race : races) longest = std::max(longest, race.block);
  std::vector<std::byte> sent;
  std::vector<std::byte> received;
  std::vector<std::byte> expected;
  comm::agree(comm, [&] {
    sent.resize(longest * comm.size());
    received.resize(sent.size());
    expected.resize(sent.size());
  });
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(31 * i + comm.rank());
  pmpi::VectorCalls calls(comm);
  for (const auto& [operation, block] : races) {
    std::ranges::fill(received, std::byte());
    std::ranges::fill(expected, std::byte());
    bool is_done = false;
    for (int i = 0; i < first_calls; ++i)
      is_done = calls.by_memory(operation, sent.data(), received.data(), block);
    if (comm.any(!is_done)) return {};
    calls.by_mpi(operation, sent.data(), expected.data(), block);
    if (comm.any(received != expected))
      throw EnvironmentError("a vector call through memory brings something else than the MPI's");
  }
  const int node = machine::find_nodes_of_ranks(comm)[comm.rank()];
  std::vector<double> roughly(2 * races.size());
  const auto call = [&](std::size_t i) {
    const auto& [operation, block] = races[i / 2];
    if (i % 2 == 0)
      calls.by_memory(operation, sent.data(), received.data(), block);
    else
      calls.by_mpi(operation, sent.data(), received.data(), block);
  };
  const auto measure = [&](int i, int repetitions) {
    if (roughly[i] > 0) return machine::time_calls(comm, node, repetitions, roughly[i], [&] { call(i); });
    return roughly[i] = machine::time_roughly(comm, [&] { call(i); });
  };
  machine::TurnLimits limits;
  limits.seconds = seconds;
  limits.most_repetitions = 20;
  const auto estimates = machine::measure_in_turns(static_cast<int>(roughly.size()), limits, measure,
                                                   [&] { return comm.broadcast(wall_time(), 0); });
  std::vector<BlockTimes> times;
  for (std::size_t i = 0; i < races.size(); ++i) times.push_back({estimates[2 * i], estimates[2 * i + 1]});
  return times;
}

}  // namespace ayatori::bench

#else

namespace ayatori::bench {

bool has_block_race(collectives::Operation) {
  return false;
}

std::vector<BlockTimes> time_blocks(const comm::Comm&, std::span<const BlockRace>, double) {
  return {};
}

}  // namespace ayatori::bench

#endif
