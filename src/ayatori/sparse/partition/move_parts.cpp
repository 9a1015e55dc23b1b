#include "ayatori/sparse/partition/move_parts.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori::sparse {

Permutation unchanged(const RowPartition& rows, int rank) {
  Permutation permutation{rows, rows, Array<std::int64_t>(rows.range(rank).size())};
  std::iota(permutation.new_number.begin(), permutation.new_number.end(), rows.range(rank).begin);
  return permutation;
}

Permutation move_parts(Permutation first, std::span<const int> rank_of_part) {
  const RowPartition& parts = first.target;
  AYATORI_ASSERT(static_cast<int>(rank_of_part.size()) == parts.ranks());
  std::vector<std::int64_t> starts(parts.ranks() + 1, 0);
  for (int part = 0; part < parts.ranks(); ++part) starts[rank_of_part[part] + 1] = parts.range(part).size();
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  AYATORI_ASSERT(starts.back() == parts.rows());
  for (std::int64_t& number : first.new_number) {
    const int part = parts.owner(number);
    number += starts[rank_of_part[part]] - parts.range(part).begin;
  }
  first.target = RowPartition(std::move(starts));
  return first;
}

}  // namespace ayatori::sparse
