#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::bench {

/// A part of a kernel's time.
struct GridPhase {
  std::string name;
  double seconds;  ///< mean of the ranks, or of the slowest
  bool is_communication;
};

/// A verified run of a kernel, as rank 0 knows it.
struct GridSample {
  double seconds = 0;
  double rate = 0;        ///< work per second, in the kernel's own unit
  double data_bytes = 0;  ///< that the kernel goes through again and again, all ranks together
  std::vector<GridPhase> phases;
  std::string note;  ///< what was chosen

  double communication_share() const;
};

/// A kernel on the ranks of a communicator, with the threads that are set. Collective.
using GridKernel = std::function<GridSample(const comm::Comm&)>;

struct GridOptions {
  std::vector<int> ranks;    ///< empty: 1, 2, 4, ... and all of the job
  std::vector<int> threads;  ///< per rank; empty: 1, 2, 4, ... and as many as its share of the cores
  std::int64_t stream_elements = 4'000'000;  ///< doubles per STREAM vector and rank
};

/// What was measured with this many ranks and threads.
struct GridPoint {
  int ranks;
  int threads;  ///< per rank
  int nodes;    ///< that the ranks are on
  GridSample sample;
  double triad;  ///< STREAM's, bytes per second, measured in the same moment

  int cores() const { return ranks * threads; }
};

/// Collective. Runs the kernel with every combination. Ranks are taken from the nodes in turn, as in the
/// measurements of Tanaka et al.: n nodes x t threads is n ranks. The others wait without using their cores.
/// Throws InputError for impossible options, and what a kernel throws, both agreed. The points are rank 0's.
std::vector<GridPoint> run_grid(const comm::Comm& world, const GridOptions& options,
                                const GridKernel& kernel);

/// How many times as fast as the point with the fewest cores, and that for each of its cores.
struct Scaling {
  double speed_up;
  double efficiency;
};
Scaling scaling(std::span<const GridPoint> points, const GridPoint& point);

/// Two figures of a noisy machine that differ by less than this factor are taken for the same.
inline constexpr double same_within = 1.1;

/// Whether a finding of a paper is seen in these points too.
struct Finding {
  std::string name;
  bool agrees;
  std::string sentence;  ///< with the figures
};

/// The findings of Tanaka et al. that these points can tell: "threads" (a kernel bound by memory gains no
/// more from threads than the memory does, until its data fits the cache), "cache" (which is when speed-ups
/// above the ideal occur), "hybrid" (fewer ranks with more threads against all-MPI on the same cores),
/// "share" (of communication, which grows with the threads). `cache_bytes`: last-level caches of a node.
std::vector<Finding> check_findings(std::span<const GridPoint> points, double cache_bytes);

/// Seconds, by forecast, of `bytes` that all ranks together send from all to all.
struct AllToAll {
  int nodes;
  double all_mpi;  ///< a rank on every core
  double hybrid;   ///< a rank on every node

  /// How many times as fast hybrid is.
  double gain() const { return all_mpi / hybrid; }
};
/// On 2, 4, ... 64 nodes of this many cores, by the machine's profile.
std::vector<AllToAll> forecast_all_to_all(const machine::Profile& profile, int cores, double bytes);

/// "all-to-all": hybrid beats all-MPI where all-to-all traffic meets many ranks, the more the more there are.
Finding all_to_all_finding(std::span<const AllToAll> forecasts, int cores, double bytes);

/// Speed-up over cores, a line for each number of threads, and the phases of every point, as SVG.
std::string draw_grid(std::span<const GridPoint> points, const std::string& title);

}  // namespace ayatori::bench
