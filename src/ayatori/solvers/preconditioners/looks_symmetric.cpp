#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::solvers {

bool looks_symmetric(const sparse::Csr& a) {
  constexpr std::int64_t sample = 1000;
  const std::int64_t step = std::max<std::int64_t>(a.rows / sample, 1);
  for (std::int64_t i = 0; i < a.rows; i += step) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const double mirrored = sparse::value_at(a, sparse::find_mirror_image(a, i, k));
      if (std::abs(a.value[k] - mirrored) > 1e-10 * std::abs(a.value[k])) return false;
    }
  }
  return true;
}

}  // namespace ayatori::solvers
