#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Memory of this rank that others write into (MPI one-sided communication). Only ranks that write to each
/// other wait for each other, as in MPI's general active target synchronisation, whose names the methods
/// have. In one exchange every rank calls, in this order:
///   post()      from here on others may write into this rank's memory; it does not touch that memory
///   start()     waits, if need be, until the targets have posted
///   put()...    the data stays untouched
///   complete()  this rank's puts have arrived: their data may change
///   wait()      everything that others put here has arrived
/// Each step is an MPI_Win_flush or an empty message, and not the MPI's call of the same name: MPICH 4.0 lets
/// MPI_Win_wait return before the data of long puts is there.
class Window {
 public:
  /// Collective. `origins` are the ranks that write into this one's memory, `targets` those that this rank
  /// writes into. Puts of more than `longest` elements are cut. Throws EnvironmentError (agreed) when there
  /// is no memory.
  Window(const Comm& comm, std::int64_t bytes, std::span<const int> origins, std::span<const int> targets,
         std::int64_t longest = max_message);
  Window(Window&&) noexcept;
  Window& operator=(Window&&) noexcept;
  /// Collective; but while an exception unwinds this rank, the others may never come here: then the window is
  /// left to MPI.
  ~Window();

  std::byte* data() const;

  void post();
  void start();
  /// `position`: the first element to write in the target's memory.
  template <class T>
  void put(std::span<const T> data, int target, std::int64_t position) {
    put(data.data(), static_cast<std::int64_t>(data.size()) * units_of<T>(), data_type_of<T>(), target,
        position * static_cast<std::int64_t>(sizeof(T)));
  }
  void complete();
  void wait();

 private:
  struct State;

  void put(const void* data, std::int64_t count, DataType type, int target, std::int64_t offset);

  std::unique_ptr<State> state_;
};

}  // namespace ayatori::comm
