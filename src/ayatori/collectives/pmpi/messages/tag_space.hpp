#pragma once

#include <optional>
#include <vector>

#include "ayatori/collectives/execution/executor.hpp"
#include "ayatori/collectives/pmpi/library.hpp"

namespace ayatori::pmpi {

/// Collective over MPI_COMM_WORLD: makes the one communicator by which this library sends. False, on all
/// ranks, if the MPI has none.
bool begin_private_comm();
/// Collective over MPI_COMM_WORLD.
void end_private_comm();
/// That communicator, of all ranks; it returns errors.
MPI_Comm private_comm();
/// The first rank of MPI_COMM_WORLD on the node of another.
int first_of_node(int world_rank);

/// Messages between the ranks of a communicator of the program. They go by the private communicator: another
/// one for each of the program's would take as many of the MPI's as the program has itself, and an MPI has
/// 2000, or some ten thousand. What belongs to which is told by tags: every rank chooses those of what is
/// sent to it, and tells the others.
class TagSpace {
 public:
  // Tags of this library's messages.
  static constexpr int to_itself = 0;
  static constexpr int never_sent = 1;  ///< for probes
  static constexpr int of_pairs = 2;
  static constexpr int on_node = 3;
  static constexpr int of_schedules = 4;  ///< of the first segment

  /// Collective over `comm`, a communicator within MPI_COMM_WORLD whose facts these are. Nothing, on all
  /// ranks, if one of them has no tags left. Throws MpiError.
  static std::optional<TagSpace> make(MPI_Comm comm, const CommFacts& facts);

  TagSpace(TagSpace&& other) noexcept;
  TagSpace& operator=(TagSpace&&) = delete;
  /// Gives the tags back: all that was sent to this rank has come.
  ~TagSpace();

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(world_ranks_.size()); }
  /// In the private communicator.
  int target(int rank) const { return world_ranks_[rank]; }
  int tag_to(int rank, int tag) const { return ranges_[rank] * tags + tag; }
  int tag_from_any(int tag) const { return tag_to(rank_, tag); }

 private:
  static constexpr int tags = of_schedules + collectives::Executor::tags;  ///< of a range

  TagSpace(int rank, std::vector<int> world_ranks, std::vector<int> ranges)
      : rank_(rank), world_ranks_(std::move(world_ranks)), ranges_(std::move(ranges)) {}

  int rank_;
  std::vector<int> world_ranks_;
  std::vector<int> ranges_;  ///< of tags, by the rank that receives
};

}  // namespace ayatori::pmpi
