#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "bench/papers/grid.hpp"

namespace ayatori::bench {

namespace {

using Points = std::span<const GridPoint>;

constexpr double tolerance = same_within;

std::string name_of(const GridPoint& point) {
  return fmt::format("{} x {}", point.ranks, point.threads);
}

double node_bytes(const GridPoint& point) {
  return point.sample.data_bytes / point.nodes;
}

std::string megabytes(double bytes) {
  return fmt::format("{:.3g} MB", 1e-6 * bytes);
}

/// With these ranks, the points of the fewest and the most threads, where these differ.
struct ThreadPair {
  const GridPoint* few;
  const GridPoint* many;
};
std::optional<ThreadPair> thread_pair(Points points, int ranks) {
  ThreadPair pair{nullptr, nullptr};
  for (const GridPoint& point : points) {
    if (point.ranks != ranks) continue;
    if (pair.few == nullptr || point.threads < pair.few->threads) pair.few = &point;
    if (pair.many == nullptr || point.threads > pair.many->threads) pair.many = &point;
  }
  if (pair.few == pair.many) return std::nullopt;
  return pair;
}

/// Numbers of ranks, ascending.
std::vector<int> ranks_of(Points points) {
  std::vector<int> ranks;
  for (const GridPoint& point : points) ranks.push_back(point.ranks);
  std::ranges::sort(ranks);
  const auto repeated = std::ranges::unique(ranks);
  ranks.erase(repeated.begin(), repeated.end());
  return ranks;
}

/// A kernel bound by memory gains from threads what the memory gains, until its data fits the cache.
std::optional<Finding> threads_finding(Points points, double cache_bytes) {
  for (const int ranks : ranks_of(points)) {
    const auto pair = thread_pair(points, ranks);
    if (!pair) continue;
    const double gain = pair->few->sample.seconds / pair->many->sample.seconds;
    const double memory_gain = pair->many->triad / pair->few->triad;
    const double bytes = node_bytes(*pair->many);
    const bool fits = bytes <= cache_bytes;
    const bool agrees = fits ? gain * tolerance >= memory_gain : gain <= memory_gain * tolerance;
    return Finding{
        "threads", agrees,
        fmt::format("{} is {:.2f} times as fast as {}, while the memory (STREAM triad) gains {:.2f} times; "
                    "{} of data on a node {} the cache of {}",
                    name_of(*pair->many), gain, name_of(*pair->few), memory_gain, megabytes(bytes),
                    fits ? "fit" : "exceed", megabytes(cache_bytes))};
  }
  return std::nullopt;
}

/// Speed-up above the ideal, where the data of a node comes to fit the cache.
std::optional<Finding> cache_finding(Points points, double cache_bytes) {
  const GridPoint& least = *std::ranges::min_element(points, {}, &GridPoint::cores);
  const auto efficiency = [&](const GridPoint& point) { return scaling(points, point).efficiency; };
  const GridPoint* best = nullptr;
  for (const GridPoint& point : points) {
    if (point.cores() > least.cores() && (best == nullptr || efficiency(point) > efficiency(*best)))
      best = &point;
  }
  if (best == nullptr) return std::nullopt;
  const bool comes_to_fit = node_bytes(least) > cache_bytes && node_bytes(*best) <= cache_bytes;
  const bool above = efficiency(*best) > tolerance;
  return Finding{
      "cache", above == comes_to_fit,
      fmt::format("the highest efficiency is that of {}, {:.2f}: {} the ideal; data of a node: {}, "
                  "and {} with {}; its cache: {}",
                  name_of(*best), efficiency(*best), above ? "above" : "not above",
                  megabytes(node_bytes(*best)), megabytes(node_bytes(least)), name_of(least),
                  megabytes(cache_bytes))};
}

/// All-MPI against fewer ranks with more threads, on the most cores that have both.
std::optional<Finding> hybrid_finding(Points points) {
  const GridPoint* all_mpi = nullptr;
  const GridPoint* hybrid = nullptr;
  for (const GridPoint& flat : points) {
    if (flat.threads != 1 || flat.ranks == 1 || (all_mpi != nullptr && flat.ranks <= all_mpi->ranks))
      continue;
    const GridPoint* best = nullptr;
    for (const GridPoint& point : points) {
      if (point.cores() != flat.cores() || point.threads == 1) continue;
      if (best == nullptr || point.sample.seconds < best->sample.seconds) best = &point;
    }
    if (best == nullptr) continue;
    all_mpi = &flat;
    hybrid = best;
  }
  if (hybrid == nullptr) return std::nullopt;
  const double ratio = all_mpi->sample.seconds / hybrid->sample.seconds;
  return Finding{
      "hybrid", ratio > tolerance,
      fmt::format("on {} cores the best hybrid, {}, takes {:.3g} s and all-MPI, {}, {:.3g} s: hybrid is "
                  "{:.2f} times as fast; communication is {:.1f} % and {:.1f} % of the time",
                  hybrid->cores(), name_of(*hybrid), hybrid->sample.seconds, name_of(*all_mpi),
                  all_mpi->sample.seconds, ratio, 100 * hybrid->sample.communication_share(),
                  100 * all_mpi->sample.communication_share())};
}

/// Communication keeps its time as threads are added, and so takes a growing share (4.6 to 15.7 % in the
/// paper).
std::optional<Finding> share_finding(Points points) {
  const auto ranks = ranks_of(points);
  for (auto r = ranks.rbegin(); r != ranks.rend() && *r > 1; ++r) {
    const auto pair = thread_pair(points, *r);
    if (!pair) continue;
    const double few = pair->few->sample.communication_share();
    const double many = pair->many->sample.communication_share();
    return Finding{"share", many > tolerance * few,
                   fmt::format("communication takes {:.1f} % of the time of {} and {:.1f} % of that of {}",
                               100 * few, name_of(*pair->few), 100 * many, name_of(*pair->many))};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> check_findings(Points points, double cache_bytes) {
  std::vector<Finding> findings;
  if (points.empty()) return findings;
  for (auto& finding : {threads_finding(points, cache_bytes), cache_finding(points, cache_bytes),
                        hybrid_finding(points), share_finding(points)}) {
    if (finding) findings.push_back(*finding);
  }
  return findings;
}

}  // namespace ayatori::bench
