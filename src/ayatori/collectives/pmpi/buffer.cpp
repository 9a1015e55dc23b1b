#include "ayatori/collectives/pmpi/buffer.hpp"

#include <cstring>

namespace ayatori::pmpi {

namespace {

/// A message to oneself, since MPI_Pack refuses MPI_BOTTOM in MPICH 4.0.
void copy_by_mpi(const CommSchedules& s, const void* from, std::int64_t count, MPI_Datatype type, void* to,
                 std::int64_t to_count, MPI_Datatype to_type) {
  const int own = s.space().target(s.rank());
  const int tag = s.space().tag_from_any(TagSpace::to_itself);
  check(PMPI_Sendrecv(from, static_cast<int>(count), type, own, tag, to, static_cast<int>(to_count), to_type,
                      own, tag, private_comm(), MPI_STATUS_IGNORE));
}

}  // namespace

Buffer::Buffer(const void* place, MPI_Count elements, MPI_Datatype of, Checked checked)
    : data(const_cast<void*>(place)), count(elements), type(of) {
  if (type == MPI_DATATYPE_NULL) return;
  layout = checked == Checked::by_all || !is_open_mpi() ? layout_of(type) : layout_of_any(type);
}

Buffer Buffer::part(MPI_Count elements, MPI_Count offset) const {
  Buffer part = *this;
  part.data = static_cast<std::byte*>(data) + offset * layout.extent;
  part.count = elements;
  return part;
}

bool is_same_length(const Buffer& a, const Buffer& b) {
  return a.bytes() == b.bytes();
}

void pack(const CommSchedules* s, const Buffer& from, int first, int blocks, std::byte* to) {
  const std::int64_t bytes = from.bytes() * blocks;
  if (bytes == 0) return;  // in vector calls: where nothing is, there may be no address
  int position = 0;
  if (from.layout.is_contiguous)
    std::memmove(to, from.at(first), bytes);
  else if (s != nullptr)
    copy_by_mpi(*s, from.at(first), from.count * blocks, from.type, to, bytes, MPI_PACKED);
  else
    check(PMPI_Pack(from.at(first), static_cast<int>(from.count * blocks), from.type, to,
                    static_cast<int>(bytes), &position, private_comm()));
}

void unpack(const CommSchedules* s, const std::byte* from, const Buffer& to, int first, int blocks) {
  const std::int64_t bytes = to.bytes() * blocks;
  if (bytes == 0) return;
  int position = 0;
  if (to.layout.is_contiguous)
    std::memmove(to.at(first), from, bytes);
  else if (s != nullptr)
    copy_by_mpi(*s, from, bytes, MPI_PACKED, to.at(first), to.count * blocks, to.type);
  else
    check(PMPI_Unpack(from, static_cast<int>(bytes), &position, to.at(first),
                      static_cast<int>(to.count * blocks), to.type, private_comm()));
}

}  // namespace ayatori::pmpi
