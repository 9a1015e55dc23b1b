#pragma once

#include <vector>

namespace ayatori::session {

/// What an application knows of its rows beside the matrix. Vectors: each on all ranks or on none, of the
/// rows of the rank, in the application's numbering.
struct RowFacts {
  bool is_complex = false;  ///< the rows are the real form of a complex matrix: sparse/complex_form.hpp
  std::vector<double> coordinates;      ///< coordinates of each row's node, [3 * row + axis]
  std::vector<double> fields;           ///< 1 for a row that is a constraint of a saddle point, 0 for another
  std::vector<double> near_null_space;  ///< vectors that the matrix nearly annihilates, [vectors * row + k]
};

}  // namespace ayatori::session
