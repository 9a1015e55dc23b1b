#include "ayatori/sparse/complex_form.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"

namespace ayatori::sparse {

namespace {

std::vector<std::int64_t> starts_times(const RowPartition& partition, std::int64_t factor) {
  std::vector<std::int64_t> starts = partition.starts();
  for (std::int64_t& start : starts) start *= factor;
  return starts;
}

}  // namespace

RowPartition of_pairs(const RowPartition& elements) {
  return RowPartition(starts_times(elements, 2));
}

RowPartition of_elements(const RowPartition& pairs) {
  std::vector<std::int64_t> starts = pairs.starts();
  for (std::int64_t& start : starts) {
    if (start % 2 != 0) throw InternalError("a complex row is on two ranks");
    start /= 2;
  }
  return RowPartition(std::move(starts));
}

RowPartition with_whole_pairs(const RowPartition& partition) {
  std::vector<std::int64_t> starts = partition.starts();
  for (std::int64_t& start : starts) start -= start % 2;
  return RowPartition(std::move(starts));
}

RowBlock complex_pattern(const RowBlock& real_form) {
  RowBlock pattern;
  pattern.global_rows = real_form.global_rows / 2;
  pattern.global_columns = real_form.global_columns / 2;
  pattern.first_row = real_form.first_row / 2;
  pattern.row_start.assign(1, 0);
  for (std::int64_t i = 0; i + 1 < real_form.rows(); i += 2) {
    for (std::int64_t k = real_form.row_start[i]; k < real_form.row_start[i + 1]; k += 2)
      pattern.column.push_back(real_form.column[k] / 2);
    pattern.row_start.push_back(static_cast<std::int64_t>(pattern.column.size()));
  }
  pattern.value.assign(pattern.column.size(), 1.0);
  return pattern;
}

Permutation of_pairs(const Permutation& elements) {
  Permutation pairs{of_pairs(elements.current), of_pairs(elements.target), {}};
  pairs.new_number.reserve(2 * elements.new_number.size());
  for (const std::int64_t number : elements.new_number) {
    pairs.new_number.push_back(2 * number);
    pairs.new_number.push_back(2 * number + 1);
  }
  return pairs;
}

CsrOf<Complex> complex_matrix(const Csr& real_form) {
  CsrOf<Complex> matrix;
  matrix.rows = real_form.rows / 2;
  matrix.columns = real_form.columns / 2;
  matrix.row_start.resize(matrix.rows + 1);
  matrix.column.resize(real_form.nonzeros() / 4);
  matrix.value.resize(real_form.nonzeros() / 4);
  matrix.row_start[0] = 0;
  parallel_ranges(matrix.rows, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      matrix.row_start[i + 1] = real_form.row_start[2 * i + 2] / 4;
      std::int64_t k = real_form.row_start[2 * i] / 4;
      for (std::int64_t upper = real_form.row_start[2 * i]; upper < real_form.row_start[2 * i + 1];
           upper += 2) {
        matrix.column[k] = real_form.column[upper] / 2;
        matrix.value[k++] = {real_form.value[upper], -real_form.value[upper + 1]};
      }
    }
  });
  return matrix;
}

bool is_real_form(const Csr& matrix, Range pairs) {
  for (std::int64_t i = pairs.begin; i < pairs.end; ++i)
    if (!is_pair_of_rows(matrix, i)) return false;
  return true;
}

bool is_real_form(const Csr& matrix) {
  if (matrix.rows % 2 != 0 || matrix.columns % 2 != 0) return false;
  // Most matrices that are not show it in their first rows.
  constexpr std::int64_t first_pairs = 16;
  const std::int64_t pairs = matrix.rows / 2;
  if (!is_real_form(matrix, {0, std::min(first_pairs, pairs)})) return false;
  std::atomic<bool> all = true;
  parallel_ranges(pairs, [&](Range range) {
    if (!is_real_form(matrix, range)) all = false;
  });
  return all;
}

}  // namespace ayatori::sparse
