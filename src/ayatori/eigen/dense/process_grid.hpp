#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ayatori/comm/comm.hpp"

namespace ayatori::eigen {

/// Rows x columns of ranks; 0 x 0 asks for near_square().
struct GridShape {
  int rows = 0;
  int columns = 0;
};

/// The most square shape for this many ranks, with no more rows than columns: fewer rows mean fewer messages
/// per reflector.
GridShape near_square(int ranks);

/// "2x3", or "auto". Throws InputError.
GridShape parse_grid_shape(std::string_view text);

/// Ranks in a grid: rank = row * columns + column.
struct ProcessGrid {
  comm::Comm all;
  comm::Comm along_row;     ///< the ranks of this grid row, by column
  comm::Comm along_column;  ///< the ranks of this grid column, by row
  GridShape shape;
  int row;
  int column;
};

/// Collective. Throws InputError (agreed) unless rows * columns is the number of ranks.
ProcessGrid make_grid(const comm::Comm& comm, GridShape shape);

/// The same grid with its collective operations done by others.
ProcessGrid with_collectives(const ProcessGrid& grid,
                             const std::shared_ptr<const comm::Collectives>& collectives);

/// The indices [0, n) dealt one by one to `parts`, as part `mine` sees them: its local index l is the global
/// l * parts + mine. The part that is left of a shrinking matrix stays spread evenly.
struct Cyclic {
  std::int64_t n = 0;
  int parts = 1;
  int mine = 0;

  /// The first local index whose global one is not below g; count() if there is none.
  std::int64_t local_from(std::int64_t g) const { return local_from(g, mine); }
  std::int64_t local_from(std::int64_t g, int part) const {
    g = g < n ? g : n;
    return g <= part ? 0 : (g - part + parts - 1) / parts;
  }
  std::int64_t count() const { return local_from(n); }
  std::int64_t count(int part) const { return local_from(n, part); }
  std::int64_t global(std::int64_t local) const { return local * parts + mine; }
  bool owns(std::int64_t g) const { return owner(g) == mine; }
  int owner(std::int64_t g) const { return static_cast<int>(g % parts); }
  std::int64_t local(std::int64_t g) const { return g / parts; }
};

}  // namespace ayatori::eigen
