#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/mapping/graph/comm_graph.hpp"

namespace ayatori::mapping {

/// The messages of the halo exchange of y = A x: every part asks the owner of each element of x that its rows
/// refer to for 8 bytes, once; one message between two parts. `part_of`: the part of every row, and of the
/// element of x of the same number, in [0, parts). `columns_of(row, use)` calls use(column) for every
/// nonzero of a row, as often as it likes. Takes time linear in nonzeros and 12 bytes per row.
template <class ColumnsOf>
std::vector<PairVolume> halo_messages(std::span<const std::int32_t> part_of, int parts,
                                      ColumnsOf&& columns_of) {
  const auto rows = static_cast<std::int64_t>(part_of.size());
  std::vector<std::int64_t> start(parts + 1, 0);
  for (const std::int32_t part : part_of) ++start[part + 1];
  for (int part = 0; part < parts; ++part) start[part + 1] += start[part];
  std::vector<std::int64_t> by_part(rows);
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  for (std::int64_t row = 0; row < rows; ++row) by_part[next[part_of[row]]++] = row;

  std::vector<PairVolume> messages;
  std::vector<std::int32_t> asked_by(rows, -1);  // the last part that asked for an element
  std::vector<std::int64_t> elements(parts, 0);  // that the part asks each other one for
  std::vector<std::int32_t> owners;
  for (std::int32_t part = 0; part < parts; ++part) {
    for (std::int64_t k = start[part]; k < start[part + 1]; ++k) {
      columns_of(by_part[k], [&](std::int64_t column) {
        const std::int32_t owner = part_of[column];
        if (owner == part || asked_by[column] == part) return;
        asked_by[column] = part;
        if (elements[owner]++ == 0) owners.push_back(owner);
      });
    }
    for (const std::int32_t owner : owners) {
      messages.push_back({owner, part, 1, 8 * elements[owner]});
      elements[owner] = 0;
    }
    owners.clear();
  }
  return messages;
}

}  // namespace ayatori::mapping
