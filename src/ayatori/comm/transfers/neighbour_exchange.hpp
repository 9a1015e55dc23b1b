#pragma once

#include <limits>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// An all-to-all among neighbours only (MPI neighbourhood collective), set up once and carried out many
/// times.
class NeighbourExchange {
 public:
  /// Collective. If this rank sends to another, that one receives as much from it. Throws EnvironmentError
  /// (agreed) where a position in a buffer is beyond `max_count`, since MPI cannot count further.
  NeighbourExchange(const Comm& comm, std::span<const Neighbour> send_to,
                    std::span<const Neighbour> receive_from,
                    std::int64_t max_count = std::numeric_limits<int>::max());

  /// Collective. Both buffers stay untouched until the request is done.
  template <class T>
  Request start(std::span<const T> data, std::span<T> received) const {
    static_assert(units_of<T>() == 1 && data_type_of<T>() != DataType::byte, "only the arithmetic DataTypes");
    return start(data.data(), received.data(), data_type_of<T>());
  }

 private:
  /// One side of the exchange, as MPI wants it.
  struct Side {
    std::vector<int> ranks;
    std::vector<int> counts;
    std::vector<int> displacements;
  };
  static Side side(std::span<const Neighbour> neighbours, std::int64_t max_count);

  Request start(const void* data, void* received, DataType type) const;

  Side send_;
  Side receive_;
  Comm graph_;
};

}  // namespace ayatori::comm
