#pragma once

#include <cstddef>
#include <cstdint>

#include "ayatori/collectives/pmpi/comm_schedules.hpp"
#include "ayatori/collectives/pmpi/data.hpp"

namespace ayatori::pmpi {

/// Who looks whether a type was committed: all MPIs, or not Open MPI, as where a gather or scatter receives.
/// A call that an MPI does nevertheless is done: one rank alone may have the type, and would wait for the
/// others.
enum class Checked { by_all, not_by_open_mpi };

/// Data of a program, and its layout.
struct Buffer {
  void* data;
  MPI_Count count;
  MPI_Datatype type;
  Layout layout;

  Buffer(const void* place, MPI_Count elements, MPI_Datatype of, Checked checked = Checked::by_all);
  std::byte* at(int block) const { return static_cast<std::byte*>(data) + block * count * layout.extent; }
  /// Part of a vector call's buffer: `elements` of them, `offset` elements behind the begin.
  Buffer part(MPI_Count elements, MPI_Count offset) const;
  MPI_Count bytes() const { return count * layout.size; }
  /// Where a program has data it has an address, but types with addresses of their own (MPI_BOTTOM).
  bool is_there() const { return data != MPI_IN_PLACE && (data != nullptr || !layout.is_contiguous); }
};

bool is_same_length(const Buffer& a, const Buffer& b);

/// Blocks of the buffer's count, one after the other. Where they have holes, by a message of this
/// communicator to oneself; null: by what waits for nothing.
void pack(const CommSchedules* s, const Buffer& from, int first, int blocks, std::byte* to);
void unpack(const CommSchedules* s, const std::byte* from, const Buffer& to, int first, int blocks);

}  // namespace ayatori::pmpi
