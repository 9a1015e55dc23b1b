#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/base/range.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::sparse {

/// Which rank owns which of n global rows: contiguous blocks in rank order, possibly empty. Known to every
/// rank.
class RowPartition {
 public:
  /// starts: ranks + 1 ascending values from 0 to n.
  explicit RowPartition(std::vector<std::int64_t> starts);

  /// Blocks whose lengths differ by at most one.
  static RowPartition even(std::int64_t rows, int ranks);

  /// All rows on the first rank.
  static RowPartition on_first(std::int64_t rows, int ranks);

  /// Collective. Blocks of nearly equal weight: `weights` are those of the rows that `current` gives to this
  /// rank (for instance nonzeros + a constant), and each new boundary is put where the running sum is nearest
  /// to its ideal.
  static RowPartition balanced(const comm::Comm& comm, const RowPartition& current,
                               std::span<const std::int64_t> weights);

  std::int64_t rows() const { return starts_.back(); }
  int ranks() const { return static_cast<int>(starts_.size()) - 1; }
  int ranks_with_rows() const;
  Range range(int rank) const { return {starts_[rank], starts_[rank + 1]}; }
  int owner(std::int64_t row) const;
  const std::vector<std::int64_t>& starts() const { return starts_; }
  bool operator==(const RowPartition&) const = default;

 private:
  std::vector<std::int64_t> starts_;
};

}  // namespace ayatori::sparse
