#include "ayatori/collectives/schedules/neighbourhood.hpp"

namespace ayatori::collectives {

Chunks chunks_of(std::span<const std::int64_t> elements) {
  Chunks chunks;
  for (const std::int64_t element : elements) {
    const int chunk = static_cast<int>(element);
    if (chunks.empty() || chunks.back().end != chunk) chunks.push_back({chunk, chunk});
    ++chunks.back().end;
  }
  return chunks;
}

}  // namespace ayatori::collectives
