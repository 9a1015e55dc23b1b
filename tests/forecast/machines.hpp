#pragma once

#include "ayatori/machine/profile.hpp"

namespace ayatori::forecast {

/// Nodes of two ranks each: 1 us and 1 GB/s inside; 10 us and 100 MB/s between, shared by both ranks; a triad
/// of 1 GB/s with one thread of a node, 1.6 GB/s with two.
inline machine::Profile two_rank_nodes() {
  const auto exactly = [](double value) { return machine::Estimate{value, value, value, 9}; };
  machine::Profile profile;
  profile.ranks = 4;
  profile.threads = 1;
  profile.node_of_rank = {0, 0, 1, 1};
  for (const std::int64_t bytes : {1 << 16, 1 << 28}) {
    profile.memory.push_back({"triad", 1, bytes, false, exactly(1e9)});
    profile.memory.push_back({"triad", 2, bytes, false, exactly(1.6e9)});
  }
  machine::Level inside{"inside a node", {{0, 0, 1, 1}, 2, 1e-6, 1e-6, 1e-6}, 1, {}, {}};
  inside.curves = {{"one-way", 1, {}, {{{0, 1e-6, 1e-9}}, 0}}};
  machine::Level between{"between nodes", {{0, 0, 0, 0}, 1, 10e-6, 10e-6, 10e-6}, 2, {}, {}};
  between.curves = {{"one-way", 1, {}, {{{0, 10e-6, 1e-8}}, 0}}, {"one-way", 2, {}, {{{0, 10e-6, 2e-8}}, 0}}};
  for (auto* level : {&inside, &between}) {
    // Messages of one rank start as soon as the last has.
    level->curves.push_back({"burst", 1, {}, {{{0, 2 * level->curves.front().model.latency() / 64, 0}}, 0}});
    level->structure.typical_seconds = level->curves.front().model.seconds(8);
  }
  profile.levels = {inside, between};
  return profile;
}

}  // namespace ayatori::forecast
