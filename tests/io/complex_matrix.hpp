#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "dense.hpp"
#include "world.hpp"

namespace ayatori::io {

/// Collective. That this is the complex matrix of these rows: in the real form, whose blocks are full, and
/// rows evenly spread in pairs.
inline void expect_complex(const LoadedMatrix& loaded,
                           const std::vector<std::vector<sparse::Complex>>& rows) {
  const auto elements = sparse::RowPartition::even(static_cast<std::int64_t>(rows.size()), world().size());
  EXPECT_TRUE(loaded.facts.is_complex);
  EXPECT_EQ(partition_of(world(), loaded.block), sparse::of_pairs(elements));
  ASSERT_EQ(loaded.block.global_columns, 2 * std::ssize(rows.at(0)));
  EXPECT_EQ(to_dense(world(), loaded.block).value, real_form_rows(rows).value);
  EXPECT_NO_THROW(StoredRows(world(), loaded.block, true));
}

/// Collective. The numbers of all ranks.
inline std::vector<double> gathered(std::span<const double> local) {
  return world().allgatherv(local).values;
}

}  // namespace ayatori::io
