#include "ayatori/machine/probes/pair_rounds.hpp"

#include <algorithm>
#include <bit>

namespace ayatori::machine {

PairRounds::PairRounds(int ranks, std::span<const int> distances, bool aligned)
    : ranks_(ranks),
      by_exclusive_or_(std::has_single_bit(static_cast<unsigned>(ranks)) &&
                       (aligned || ranks <= complete_up_to)) {
  if (ranks <= complete_up_to) {
    count_ = ranks < 2 ? 0 : ranks + ranks % 2 - 1;
    return;
  }
  distances_.assign(distances.begin(), distances.end());
  for (int distance = 1; distance < ranks; distance *= 2) distances_.push_back(distance);
  std::erase_if(distances_, [&](int distance) { return distance < 1 || distance >= ranks; });
  std::ranges::sort(distances_);
  distances_.erase(std::ranges::unique(distances_).begin(), distances_.end());
  count_ = (by_exclusive_or_ ? 1 : 2) * static_cast<int>(distances_.size());
}

int PairRounds::partner(int round, int rank) const {
  if (by_exclusive_or_) return rank ^ (distances_.empty() ? round + 1 : distances_[round]);
  if (!distances_.empty()) {
    // Blocks of `distance` ranks: in even rounds the even ones meet the next, in odd rounds the odd ones do.
    const int distance = distances_[round / 2];
    const bool meets_next = rank / distance % 2 == round % 2;
    const int other = meets_next ? rank + distance : rank - distance;
    return other >= 0 && other < ranks_ ? other : -1;
  }
  // All but the last sit in a circle; the last, absent for an odd number, meets the one who would meet
  // itself.
  const int circle = ranks_ + ranks_ % 2 - 1;
  const int last = circle;
  int other = 0;
  if (rank == last) {
    other = round;
  } else {
    other = ((2 * round - rank) % circle + circle) % circle;
    if (other == rank) other = last;
  }
  return other < ranks_ ? other : -1;
}

}  // namespace ayatori::machine
