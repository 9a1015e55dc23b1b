#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ayatori::solvers {

/// An order of elimination by nested dissection (George 1973), as METIS finds it (Karypis & Kumar 1998): the
/// place of each row in it, from 1. Entries (row, column), from 1, tell the edges; each may stand for its
/// mirror image, too, and may come twice. Empty where METIS cannot count them, or fails.
std::vector<int> nested_dissection(std::int64_t rows, std::span<const int> row, std::span<const int> column);

}  // namespace ayatori::solvers
