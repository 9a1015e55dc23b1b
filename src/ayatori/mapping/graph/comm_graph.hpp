#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ayatori::mapping {

/// What one rank sends to another.
struct PairVolume {
  int from = 0;
  int to = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;  ///< bytes of all messages together
};

/// Messages and their bytes.
struct Volume {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  Volume& operator+=(const Volume& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  bool operator==(const Volume&) const = default;
};

/// Who sends how much to whom: the graph that is cut onto the nodes of a machine.
class CommGraph {
 public:
  /// What a rank and one of its peers say to each other.
  struct Talk {
    int peer;
    Volume out;  ///< to the peer
    Volume in;   ///< from it

    Volume both() const { return {out.messages + in.messages, out.bytes + in.bytes}; }
  };

  /// Messages in any order; those of the same pair are added up, those of a rank to itself are left out.
  /// Throws InputError where a rank is not in [0, ranks), a count is negative, or all bytes together exceed
  /// 2^53 (so that sums are exact as integers and as doubles).
  CommGraph(int ranks, std::span<const PairVolume> messages);

  int ranks() const { return static_cast<int>(start_.size()) - 1; }
  /// With all peers of a rank, by ascending number: whoever it sends to or receives from.
  std::span<const Talk> talks(int rank) const {
    return {talks_.data() + start_[rank], talks_.data() + start_[rank + 1]};
  }
  Volume total() const { return total_; }

 private:
  std::vector<std::int64_t> start_;
  std::vector<Talk> talks_;
  Volume total_;
};

}  // namespace ayatori::mapping
