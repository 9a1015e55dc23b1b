#include "ayatori/solvers/preconditioners/orderings/level_schedule.hpp"

#include <omp.h>

#include <algorithm>

#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_row.hpp"

namespace ayatori::solvers {

Levels find_levels(std::int32_t rows, std::span<const std::int32_t> start,
                   std::span<const std::int32_t> column, bool is_lower) {
  const Array<std::int32_t> level = levels_of({0, rows}, is_lower, [&](std::int32_t i) {
    return RowEntries<float>{column.data() + start[i], nullptr, start[i + 1] - start[i]};
  });
  const std::int32_t count = rows == 0 ? 0 : 1 + *std::ranges::max_element(level);
  Levels levels{Array<std::int32_t>(rows), Array<std::int32_t>(count + 1, 0)};
  for (const std::int32_t l : level) ++levels.start[l + 1];
  for (std::int32_t l = 0; l < count; ++l) levels.start[l + 1] += levels.start[l];
  Array<std::int32_t> next = levels.start;
  for (std::int32_t i = 0; i < rows; ++i) levels.row[next[level[i]]++] = i;
  return levels;
}

LevelSchedule::LevelSchedule(const TriangularFactors<float>& factors) : rows_(factors.rows) {
  upper_ = find_levels(rows_, factors.upper_start, factors.upper_column, false);
  if (!factors.symmetric) {
    lower_ = find_levels(rows_, factors.lower_start, factors.lower_column, true);
    return;
  }
  transposed_ = factors.transposed_upper();
  lower_ = find_levels(rows_, transposed_.start, transposed_.column, true);
}

void LevelSchedule::solve(const TriangularFactors<float>& factors, std::span<const double> x,
                          std::span<double> y, int threads) const {
  double* const out = y.data();
  constexpr std::int32_t none = -1;
  const auto in_levels = [](const Levels& levels, auto&& solve_row) {
    const int team = omp_get_num_threads();
    const int own = omp_get_thread_num();
    for (std::int32_t l = 0; l < levels.count(); ++l) {
      const std::int32_t first = levels.start[l];
      const Range share = split_evenly(levels.start[l + 1] - first, team, own);
      for (std::int64_t k = share.begin; k < share.end; ++k) solve_row(levels.row[first + k]);
#pragma omp barrier
    }
  };
#pragma omp parallel num_threads(threads)
  {
    if (factors.symmetric) {
      in_levels(lower_, [&](std::int32_t i) {
        double sum = x[i];
        for (std::int32_t k = transposed_.start[i]; k < transposed_.start[i + 1]; ++k)
          sum -= static_cast<double>(transposed_.value[k]) * out[transposed_.column[k]];
        out[i] = sum;
      });
    } else {
      in_levels(lower_, [&](std::int32_t i) {
        out[i] = solve_row<1>(x[i], factors.lower_column.data(), factors.lower_value.data(),
                              factors.lower_start[i], factors.lower_start[i + 1] - factors.lower_start[i],
                              out, none, 0.0);
      });
    }
    in_levels(upper_, [&](std::int32_t i) {
      out[i] = solve_row<-1>(out[i] * factors.inverse_pivot[i], factors.upper_column.data(),
                             factors.upper_value.data(), factors.upper_start[i + 1] - 1,
                             factors.upper_start[i + 1] - factors.upper_start[i], out, none, 0.0);
    });
  }
}

int LevelSchedule::worthwhile_threads(int most) const {
  const std::int64_t average = 2 * std::int64_t{rows_} / std::max(levels(), 1);
  return static_cast<int>(std::clamp<std::int64_t>(average / min_elements_per_thread, 1, most));
}

}  // namespace ayatori::solvers
