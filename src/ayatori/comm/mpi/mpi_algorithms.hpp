#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ayatori::comm {

/// One of the algorithms by which the MPI library can be made to do a collective operation, through its
/// control variables (MPI_T).
struct MpiAlgorithm {
  std::string name;                                    ///< the MPI's own, such as "scatter_ring_allgather"
  int number = 0;                                      ///< number of the algorithm, as the MPI counts
  int segment_bytes = 0;                               ///< 0: not cut into segments
  std::vector<std::pair<std::string, int>> variables;  ///< that make the MPI use it, and their values

  /// "pipeline, 64 KiB".
  std::string text() const;
  bool operator==(const MpiAlgorithm&) const = default;
};

/// To be called before MPI is started: Open MPI looks at the control variables only if it is told to by then.
/// What is not forced is done as ever.
void let_algorithms_be_forced();

/// Access to the MPI's control variables, from the first on for the rest of the process: to start it takes
/// Open MPI up to seconds, as it loads all that it has, and MPICH 4.0 has no variables left when it starts
/// again.
class MpiAlgorithms {
 public:
  /// Throws EnvironmentError if the MPI refuses.
  MpiAlgorithms();
  MpiAlgorithms(const MpiAlgorithms&) = delete;
  MpiAlgorithms& operator=(const MpiAlgorithms&) = delete;

  /// Those of the MPI in use for an operation ("broadcast", "reduce-scatter", ...); none where it cannot be
  /// forced. What Open MPI 4 and MPICH 4 have is known. Not all are good for all numbers of ranks: the MPI
  /// then answers with an error (on all ranks), or uses another.
  std::vector<MpiAlgorithm> of(std::string_view operation) const;
};

/// While it lives, the MPI uses the algorithm: Open MPI in communicators that are made meanwhile, for good;
/// MPICH in calls that are made meanwhile. Throws EnvironmentError if the MPI refuses.
class ForcedAlgorithm {
 public:
  /// `access` lives longer.
  ForcedAlgorithm(const MpiAlgorithms& access, const MpiAlgorithm& algorithm);
  ~ForcedAlgorithm();
  ForcedAlgorithm(const ForcedAlgorithm&) = delete;
  ForcedAlgorithm& operator=(const ForcedAlgorithm&) = delete;

 private:
  void restore() noexcept;

  std::vector<std::pair<std::string, int>> before_;
};

}  // namespace ayatori::comm
