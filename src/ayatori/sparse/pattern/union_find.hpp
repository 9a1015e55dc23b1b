#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "ayatori/base/array.hpp"

namespace ayatori::sparse {

/// Disjoint sets of 0 .. n-1, each known by its smallest element.
class UnionFind {
 public:
  explicit UnionFind(std::int64_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t root(std::int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  /// False if they were one set already.
  bool unite(std::int32_t i, std::int32_t j) {
    i = root(i);
    j = root(j);
    parent_[std::max(i, j)] = std::min(i, j);
    return i != j;
  }

 private:
  Array<std::int32_t> parent_;
};

}  // namespace ayatori::sparse
