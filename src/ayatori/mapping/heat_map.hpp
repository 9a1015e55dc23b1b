#pragma once

#include <vector>

#include "ayatori/mapping/objectives/evaluation.hpp"

namespace ayatori::mapping {

/// Who sends how much to whom under a placement, with ranks in the order of their nodes: what stays inside
/// nodes is near the diagonal.
struct HeatMap {
  int cells = 0;              ///< along each side; place p is in cell p * cells / ranks
  std::vector<double> bytes;  ///< row by row: from the places of the row's cell to those of the column's
  double most = 0;            ///< most bytes of any cell
};

/// Places are taken together where there are more than `most_cells`; of ranks of one node the lower comes
/// first.
HeatMap heat_map(const Evaluation& evaluation, int most_cells);

}  // namespace ayatori::mapping
