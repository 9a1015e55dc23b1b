#include "ayatori/collectives/pmpi/messages/tag_space.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ayatori/collectives/pmpi/messages/transport.hpp"

namespace ayatori::pmpi {

/// Tags of the private communicator that are given away in ranges.
struct TagRanges {
  int first = 0;
  int tags = 0;  ///< length of a range
  int number = 0;
  std::mutex mutex = {};
  int begun = 0;               ///< ranges that were ever in use
  std::vector<int> free = {};  ///< first tags of the begun ranges that are not in use
};

namespace {

constexpr int none = -1;

/// State of this process; never destroyed, since an MPI may free what programs have left when it ends.
struct PrivateComm {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm own = MPI_COMM_NULL;
  std::vector<int> nodes;  ///< by rank: the first one there
  TagRanges ranges;        ///< ranges of calls that block
  TagRanges pending_ranges;
};

PrivateComm& private_parts() {
  static auto* const the_parts = new PrivateComm;
  return *the_parts;
}

/// The first tag of a range, or none.
int take_range(TagRanges& r) {
  const std::lock_guard lock(r.mutex);
  if (!r.free.empty()) {
    const int first = r.free.back();
    r.free.pop_back();
    return first;
  }
  return r.begun < r.number ? r.first + r.begun++ * r.tags : none;
}

void give_back(TagRanges& r, int first) {
  if (first == none) return;
  const std::lock_guard lock(r.mutex);
  r.free.push_back(first);
}

void divide(TagRanges& r, int first, int end, int tags) {
  r.first = first;
  r.tags = tags;
  r.number = (end - first) / tags;
}

constexpr int tags_of_range = TagSpace::of_schedules + collectives::Executor::tags;

/// Calls that go on while others do get this part of all tags.
constexpr int pending_part = 8;
/// And not so few: no call fails for want of them.
constexpr int least_pending_ranges = 10000;

/// Collective. No duplicate: that would call the program's functions that copy attributes.
MPI_Comm same_ranks(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Errhandler of_program = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &of_program);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  PMPI_Comm_group(comm, &group);
  const int code = PMPI_Comm_create(comm, group, &made);
  PMPI_Group_free(&group);
  PMPI_Comm_set_errhandler(comm, of_program);
  PMPI_Errhandler_free(&of_program);
  if (code != MPI_SUCCESS) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

/// Collective: the first rank of every rank's node. Where the MPI cannot tell, everyone is alone.
std::vector<int> find_nodes(MPI_Comm comm) {
  int own = world_rank();
  MPI_Comm node = MPI_COMM_NULL;
  if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
    PMPI_Bcast(&own, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
  }
  std::vector<int> nodes(world_size());
  PMPI_Allgather(&own, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm);
  return nodes;
}

}  // namespace

bool begin_private_comm() {
  PrivateComm& r = private_parts();
  r.comm = same_ranks(MPI_COMM_WORLD);
  int is_there = r.comm != MPI_COMM_NULL ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (is_there == 0) {
    r.comm = MPI_COMM_NULL;
    return false;
  }
  int* most_tag = nullptr;
  int has_one = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most_tag), &has_one);
  constexpr int least_allowed = 32767;
  divide(r.ranges, 0, has_one != 0 ? *most_tag : least_allowed, tags_of_range);
  r.nodes = find_nodes(r.comm);
  return true;
}

void end_private_comm() {
  if (private_parts().comm == MPI_COMM_NULL) return;
  PMPI_Comm_free(&private_parts().comm);
}

bool has_pending_tags() {
  const TagRanges& r = private_parts().ranges;
  return r.number * std::int64_t{r.tags} / pending_part / TagSpace::pending_tags >= least_pending_ranges;
}

void set_pending_tags_aside() {
  PrivateComm& r = private_parts();
  const int end = r.ranges.number * r.ranges.tags;
  const int begin = end - end / pending_part;
  divide(r.ranges, 0, begin, tags_of_range);
  divide(r.pending_ranges, begin, end, TagSpace::pending_tags);
}

MPI_Comm private_comm() {
  return private_parts().comm;
}

bool begin_own_comm() {
  private_parts().own = same_ranks(MPI_COMM_SELF);
  return own_comm() != MPI_COMM_NULL;
}

void end_own_comm() {
  if (own_comm() != MPI_COMM_NULL) PMPI_Comm_free(&private_parts().own);
}

MPI_Comm own_comm() {
  return private_parts().own;
}

int first_of_node(int world_rank) {
  return private_parts().nodes[world_rank];
}

TagSpace::TagSpace(TagRanges& ranges, const CommFacts& facts)
    : ranges_(&ranges),
      rank_(facts.rank),
      world_ranks_(facts.world_ranks),
      first_tags_(facts.world_ranks.size(), none) {
  first_tags_[rank_] = take_range(ranges);
}

std::optional<TagSpace> TagSpace::make(MPI_Comm comm, const CommFacts& facts) {
  TagSpace space(private_parts().ranges, facts);
  check(PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, space.first_tags_.data(), 1, MPI_INT, comm));
  if (std::ranges::min(space.first_tags_) == none) return std::nullopt;
  return space;
}

TagSpace TagSpace::begin(MPI_Comm comm, const CommFacts& facts) {
  TagSpace space(private_parts().pending_ranges, facts);
  check(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, space.first_tags_.data(), 1, MPI_INT, comm,
                        &space.coming_));
  return space;
}

bool TagSpace::has_come() {
  if (coming_ == MPI_REQUEST_NULL) return true;
  int has_come = 0;
  check(PMPI_Test(&coming_, &has_come, MPI_STATUS_IGNORE));
  if (has_come != 0) check_complete();
  return has_come != 0;
}

void TagSpace::wait() {
  check(PMPI_Wait(&coming_, MPI_STATUS_IGNORE));
  check_complete();
}

void TagSpace::check_complete() const {
  if (std::ranges::min(first_tags_) == none) throw MpiError(MPI_ERR_TAG);
}

TagSpace::TagSpace(TagSpace&& other) noexcept
    : ranges_(other.ranges_),
      rank_(other.rank_),
      world_ranks_(std::move(other.world_ranks_)),
      first_tags_(std::exchange(other.first_tags_, {})),
      coming_(std::exchange(other.coming_, MPI_REQUEST_NULL)) {}

TagSpace::~TagSpace() {
  if (coming_ != MPI_REQUEST_NULL) PMPI_Wait(&coming_, MPI_STATUS_IGNORE);
  if (!first_tags_.empty()) give_back(*ranges_, first_tags_[rank_]);
}

}  // namespace ayatori::pmpi
