#include "ayatori/solvers/methods/worst_column.hpp"

#include <cmath>
#include <limits>

namespace ayatori::solvers {

MethodOptions WorstColumn::options(const BlockMethodOptions& options) const {
  MethodOptions result;
  result.target = 1;
  result.max_iterations = options.max_iterations;
  result.stagnation_window = options.stagnation_window;
  return result;
}

double WorstColumn::of_squares(std::span<const double> squares) const {
  double worst = 0;
  for (std::size_t c = 0; c < squares.size(); ++c) {
    const double own = ratio(static_cast<int>(c), std::sqrt(squares[c]));
    if (!(own <= worst)) worst = own;
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

double WorstColumn::ratio(int column, double norm) const {
  if (norm == 0) return 0;
  const double target = targets_[column];
  return target > 0 ? norm / target : std::numeric_limits<double>::infinity();
}

}  // namespace ayatori::solvers
