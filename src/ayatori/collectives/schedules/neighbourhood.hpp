#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/collectives/schedules/schedule.hpp"

namespace ayatori::collectives {

/// What an exchange among neighbours promises, such as the halo exchange before a matrix-vector product: a
/// vector is spread over the ranks, and each wants some elements of others. A schedule of it has one chunk
/// for every element, so that irregular messages need nothing of their own; its operation says nothing. What
/// sets such schedules up is the halo strategy itself (sparse::HaloExchange::messages()): it needs no more
/// than a rank knows, and collectives neither know matrices nor are known to them.
struct Neighbourhood {
  std::vector<int> starts;     ///< rank r owns elements [starts[r], starts[r + 1])
  std::vector<Chunks> wanted;  ///< by rank

  int ranks() const { return static_cast<int>(wanted.size()); }
  int elements() const { return starts.back(); }
  ChunkRange owned(int rank) const { return {starts[rank], starts[rank + 1]}; }
};

/// Elements that ascend, below 2^31, as ranges.
Chunks chunks_of(std::span<const std::int64_t> elements);

}  // namespace ayatori::collectives
