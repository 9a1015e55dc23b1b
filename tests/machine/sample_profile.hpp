#pragma once

#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

inline Estimate exactly(double value) {
  return {value, value, value, 9};
}

/// Two nodes of two ranks, healthy.
inline Profile sample_profile() {
  Profile profile;
  profile.source = "measured";
  profile.mpi = "Some MPI 1.0";
  profile.ranks = 4;
  profile.threads = 2;
  profile.measuring_seconds = 1.5;
  profile.node = {
      "host", "Some \"CPU\"", 1, 1, 4, 8, std::int64_t{1} << 34, {{1, 32768, 2}, {3, 1 << 25, 8}}};
  profile.node_of_rank = {0, 0, 1, 1};
  profile.memory = {{"triad", 1, 1 << 28, false, exactly(20e9)},
                    {"triad", 4, 1 << 28, false, exactly(60e9)},
                    {"triad", 4, 1 << 26, true, exactly(55e9)}};
  profile.numa = {{0, 0, 2, exactly(20e9)}};
  profile.barriers = {{"openmp", 2, exactly(400e-9)}, {"flags", 2, exactly(200e-9)}};
  Level inside{"inside a node", {{0, 0, 1, 1}, 2, 0.4e-6, 0.5e-6, 0.6e-6}, 1, {}, {}};
  inside.curves.push_back(
      {"one-way", 1, {{8, exactly(0.5e-6)}, {1 << 20, exactly(100e-6)}}, {{{0, 0.5e-6, 1e-10}}, 0.02}});
  Level between{"between nodes", {{0, 0, 0, 0}, 1, 20e-6, 21e-6, 22e-6}, 2, {}, {}};
  between.curves.push_back({"one-way", 1, {{1 << 20, exactly(1e-3)}}, {{{0, 20e-6, 1e-9}}, 0.01}});
  between.curves.push_back({"one-way", 2, {{1 << 20, exactly(2e-3)}}, {{{0, 21e-6, 2e-9}}, 0.01}});
  between.overlap = {{1 << 20, exactly(1e-3), exactly(1e-3), exactly(1.2e-3)}};
  between.fan = {2, 1 << 18, exactly(1e-3)};
  profile.pairs = {{0, 1, 0.5e-6}, {1, 3, 22e-6}};
  profile.levels = {inside, between};
  profile.ports = {{"eth0", 1.25e9, 1 << 30}, {"eth1", 1.25e9, 1 << 29}};
  profile.reduction = {{{8, exactly(20e-9)}}, {{{0, 20e-9, 1e-11}}, 0.1}};
  profile.collectives = {{"barrier", 2, 4, 0, exactly(20e-6)},    {"broadcast", 2, 4, 8, exactly(20e-6)},
                         {"broadcast", 2, 4, 64, exactly(22e-6)}, {"reduce", 2, 4, 8, exactly(21e-6)},
                         {"allreduce", 2, 4, 8, exactly(40e-6)},  {"gather", 2, 4, 8, exactly(20e-6)},
                         {"allgather", 2, 4, 8, exactly(30e-6)},  {"alltoall", 2, 4, 8, exactly(30.5e-6)}};
  profile.device = {"Some GPU", 0.25, 3e12, 50e9, 45e9, 2e-6, 9e-6};
  profile.left_out = {"transfers by put: the MPI refuses"};
  return profile;
}

}  // namespace ayatori::machine
