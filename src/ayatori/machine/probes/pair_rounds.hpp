#pragma once

#include <span>
#include <vector>

namespace ayatori::machine {

/// Rounds in which disjoint pairs of ranks meet, so that all measure at once. Up to `complete_up_to` ranks
/// everybody meets everybody once, in as many rounds: a power of two by exclusive or, so that the pairs of
/// a round lie alike in a hierarchy and load it alike; others by the circle method of tournaments. Beyond,
/// everybody meets the ranks at the given distances and at powers of two, in 2 rounds for each; or, where
/// ranks are a power of two and `aligned`, their groups too, by exclusive or, in one.
class PairRounds {
 public:
  static constexpr int complete_up_to = 64;

  explicit PairRounds(int ranks, std::span<const int> distances = {}, bool aligned = false);

  int count() const { return count_; }
  /// Whom `rank` meets in this round; -1 if nobody.
  int partner(int round, int rank) const;

 private:
  int ranks_;
  bool by_exclusive_or_;
  int count_;
  std::vector<int> distances_;  ///< empty where the rounds are complete
};

}  // namespace ayatori::machine
