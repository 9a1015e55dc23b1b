#include "ayatori/collectives/pmpi/messages/tag_space.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ayatori/collectives/pmpi/messages/transport.hpp"

namespace ayatori::pmpi {

namespace {

constexpr int no_range = -1;

/// Of this process; never destroyed, since an MPI may free what programs have left when it ends.
struct TagRanges {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm own = MPI_COMM_NULL;
  std::vector<int> nodes;  ///< by rank: the first one there
  int most_tag = 0;
  std::mutex mutex;
  int begun = 0;          ///< ranges of tags that were ever in use
  std::vector<int> free;  ///< of these, those that are not
};

TagRanges& tag_ranges() {
  static auto* const the_ranges = new TagRanges;
  return *the_ranges;
}

/// The range of tags of a communicator, or no_range.
int take_range(int tags) {
  TagRanges& r = tag_ranges();
  const std::lock_guard lock(r.mutex);
  if (!r.free.empty()) {
    const int range = r.free.back();
    r.free.pop_back();
    return range;
  }
  return r.begun < r.most_tag / tags ? r.begun++ : no_range;
}

void give_back(int range) {
  if (range == no_range) return;
  const std::lock_guard lock(tag_ranges().mutex);
  tag_ranges().free.push_back(range);
}

/// Collective. No duplicate: that would call the program's functions that copy attributes.
MPI_Comm same_ranks(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_group(comm, &group);
  const int code = PMPI_Comm_create(comm, group, &made);
  PMPI_Group_free(&group);
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
  TagRanges& r = tag_ranges();
  MPI_Errhandler of_program = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_program);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  r.comm = same_ranks(MPI_COMM_WORLD);
  r.own = same_ranks(MPI_COMM_SELF);
  int is_there = r.comm != MPI_COMM_NULL && r.own != MPI_COMM_NULL ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, of_program);
  PMPI_Errhandler_free(&of_program);
  if (is_there == 0) {
    r.comm = r.own = MPI_COMM_NULL;
    return false;
  }
  int* most_tag = nullptr;
  int has_one = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&most_tag), &has_one);
  constexpr int least_allowed = 32767;
  r.most_tag = has_one != 0 ? *most_tag : least_allowed;
  r.nodes = find_nodes(r.comm);
  return true;
}

void end_private_comm() {
  if (tag_ranges().comm == MPI_COMM_NULL) return;
  PMPI_Comm_free(&tag_ranges().comm);
  PMPI_Comm_free(&tag_ranges().own);
}

MPI_Comm private_comm() {
  return tag_ranges().comm;
}

MPI_Comm own_comm() {
  return tag_ranges().own;
}

int first_of_node(int world_rank) {
  return tag_ranges().nodes[world_rank];
}

TagSpace::TagSpace(const CommFacts& facts)
    : rank_(facts.rank), world_ranks_(facts.world_ranks), ranges_(facts.world_ranks.size(), no_range) {
  ranges_[rank_] = take_range(tags);
}

std::optional<TagSpace> TagSpace::make(MPI_Comm comm, const CommFacts& facts) {
  TagSpace space(facts);
  check(PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, space.ranges_.data(), 1, MPI_INT, comm));
  if (!space.is_complete()) return std::nullopt;
  return space;
}

TagSpace TagSpace::begin(MPI_Comm comm, const CommFacts& facts) {
  TagSpace space(facts);
  check(PMPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, space.ranges_.data(), 1, MPI_INT, comm,
                        &space.coming_));
  return space;
}

bool TagSpace::has_come() {
  int has_come = 1;
  if (coming_ != MPI_REQUEST_NULL) check(PMPI_Test(&coming_, &has_come, MPI_STATUS_IGNORE));
  return has_come != 0;
}

bool TagSpace::is_complete() const {
  return std::ranges::min(ranges_) != no_range;
}

TagSpace::TagSpace(TagSpace&& other) noexcept
    : rank_(other.rank_),
      world_ranks_(std::move(other.world_ranks_)),
      ranges_(std::exchange(other.ranges_, {})),
      coming_(std::exchange(other.coming_, MPI_REQUEST_NULL)) {}

TagSpace::~TagSpace() {
  if (coming_ != MPI_REQUEST_NULL) PMPI_Wait(&coming_, MPI_STATUS_IGNORE);
  if (!ranges_.empty()) give_back(ranges_[rank_]);
}

}  // namespace ayatori::pmpi
