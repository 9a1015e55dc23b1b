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
/// A communicator of this rank alone, for messages that end a request; it returns errors. Made where it is of
/// use: some MPIs have hardly 2000. False if this one has none left.
bool begin_own_comm();
void end_own_comm();
MPI_Comm own_comm();
/// The first rank of MPI_COMM_WORLD on the node of another.
int first_of_node(int world_rank);

/// Whether the MPI has enough tags for calls that go on while others do, on this rank. Their tags then are no
/// longer those of others: to be asked before all else, and everywhere if on one rank.
bool has_pending_tags();
void set_pending_tags_aside();

struct TagRanges;

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
  static constexpr int of_schedules = 4;  ///< tag of the first segment

  /// Collective over `comm`, a communicator within MPI_COMM_WORLD whose facts these are. Nothing, on all
  /// ranks, if one of them has no tags left. Throws MpiError.
  static std::optional<TagSpace> make(MPI_Comm comm, const CommFacts& facts);

  /// Likewise pending_tags of them for calls that go on while others do. It waits for nobody: to be used once
  /// has_come() has said so. Of these there are more than an MPI has communicators.
  static TagSpace begin(MPI_Comm comm, const CommFacts& facts);
  static constexpr int pending_tags = 64;
  /// Whether the others' choices have come; by one thread at a time. Throws MpiError, also if one of them has
  /// no tags left.
  bool has_come();
  void wait();

  TagSpace(TagSpace&& other) noexcept;
  TagSpace& operator=(TagSpace&&) = delete;
  /// Gives the tags back: all that was sent to this rank has come. Waits for what begin() has begun.
  ~TagSpace();

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(world_ranks_.size()); }
  /// In the private communicator.
  int target(int rank) const { return world_ranks_[rank]; }
  int tag_to(int rank, int tag) const { return first_tags_[rank] + tag; }
  int tag_from_any(int tag) const { return tag_to(rank_, tag); }

 private:
  TagSpace(TagRanges& ranges, const CommFacts& facts);
  void check_complete() const;

  TagRanges* ranges_;
  int rank_;
  std::vector<int> world_ranks_;
  std::vector<int> first_tags_;  ///< by the rank that receives
  MPI_Request coming_ = MPI_REQUEST_NULL;
};

}  // namespace ayatori::pmpi
