#include "ayatori/mapping/graph/comm_graph.hpp"

#include <algorithm>
#include <numeric>

#include "ayatori/base/error.hpp"

namespace ayatori::mapping {

namespace {

constexpr std::int64_t most = std::int64_t{1} << 53;

void check(const PairVolume& message, int ranks) {
  for (const int rank : {message.from, message.to}) {
    if (rank < 0 || rank >= ranks)
      throw InputError(fmt::format("a message between {} and {}: there are ranks 0 to {}", message.from,
                                   message.to, ranks - 1));
  }
  if (message.messages < 0 || message.bytes < 0)
    throw InputError(
        fmt::format("a message between {} and {}: a count is negative", message.from, message.to));
}

void add_exactly(std::int64_t& sum, std::int64_t more) {
  if (more > most - sum) throw InputError("all messages together are more than 2^53 messages or bytes");
  sum += more;
}

}  // namespace

CommGraph::CommGraph(int ranks, std::span<const PairVolume> messages) : start_(ranks + 1, 0) {
  for (const PairVolume& message : messages) {
    check(message, ranks);
    add_exactly(total_.messages, message.messages);
    add_exactly(total_.bytes, message.bytes);
    if (message.from == message.to) {
      total_ += {-message.messages, -message.bytes};
      continue;
    }
    ++start_[message.from + 1];
    ++start_[message.to + 1];
  }
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  talks_.resize(start_.back());
  std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
  for (const PairVolume& message : messages) {
    if (message.from == message.to) continue;
    const Volume volume{message.messages, message.bytes};
    talks_[next[message.from]++] = {message.to, volume, {}};
    talks_[next[message.to]++] = {message.from, {}, volume};
  }

  // Each pair once: sorted by peer, and what belongs together added up in place.
  std::int64_t kept = 0;
  std::int64_t begin = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t end = start_[rank + 1];
    std::sort(talks_.begin() + begin, talks_.begin() + end,
              [](const Talk& a, const Talk& b) { return a.peer < b.peer; });
    const std::int64_t first = kept;
    for (std::int64_t k = begin; k < end; ++k) {
      if (kept > first && talks_[kept - 1].peer == talks_[k].peer) {
        talks_[kept - 1].out += talks_[k].out;
        talks_[kept - 1].in += talks_[k].in;
      } else {
        talks_[kept++] = talks_[k];
      }
    }
    start_[rank + 1] = kept;
    begin = end;
  }
  talks_.resize(kept);
}

}  // namespace ayatori::mapping
