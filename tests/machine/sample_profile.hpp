#pragma once

#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

inline Estimate exactly(double value) {
  return {value, value, value, 9};
}

/// Two nodes of two ranks, healthy.
inline Profile sample_profile() {
  Profile profile;
  profile.mpi = "Some MPI 1.0";
  profile.ranks = 4;
  profile.threads = 2;
  profile.measuring_seconds = 1.5;
  profile.node = {
      "host", "Some \"CPU\"", 1, 1, 4, 8, std::int64_t{1} << 34, {{1, 32768, 2}, {3, 1 << 25, 8}}};
  profile.node_of_rank = {0, 0, 1, 1};
  profile.memory = {{"triad", 1, 1 << 28, exactly(20e9)}, {"triad", 4, 1 << 28, exactly(60e9)}};
  profile.barriers = {{"openmp", 2, exactly(400e-9)}, {"flags", 2, exactly(200e-9)}};
  Level inside{"inside a node", {{0, 0, 1, 1}, 2, 0.4e-6, 0.5e-6, 0.6e-6}, {}};
  inside.curves.push_back(
      {"one-way", 1, {{8, exactly(0.5e-6)}, {1 << 20, exactly(100e-6)}}, {{{0, 0.5e-6, 1e-10}}, 0.02}});
  Level between{"between nodes", {{0, 0, 0, 0}, 1, 20e-6, 21e-6, 22e-6}, {}};
  profile.levels = {inside, between};
  profile.collectives = {{"barrier", 0, exactly(20e-6)},
                         {"broadcast", 8, exactly(20e-6)},
                         {"allreduce", 8, exactly(40e-6)},
                         {"allgather", 8, exactly(30e-6)},
                         {"alltoall", 8, exactly(30.5e-6)}};
  return profile;
}

}  // namespace ayatori::machine
