#include "ayatori/tuning/facts/symmetry_fingerprint.hpp"

#include <algorithm>
#include <atomic>

#include "ayatori/base/parallel.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;

/// The rows of which some entries are looked at first.
constexpr std::int64_t probed_rows = 16;
constexpr std::int64_t probed_entries = 4;

/// As far as a few entries tell: what does not hold for them is not looked at any further.
sparse::Symmetry probe(const Csr& matrix) {
  sparse::Symmetry seen;
  const std::int64_t step = std::max<std::int64_t>(matrix.rows / probed_rows, 1);
  for (std::int64_t i = step / 2; i < matrix.rows; i += step) {
    const std::int64_t end = std::min(matrix.row_start[i + 1], matrix.row_start[i] + probed_entries);
    for (std::int64_t k = matrix.row_start[i]; k < end; ++k) {
      const std::int64_t place = sparse::find_mirror_image(matrix, i, k);
      if (place == sparse::MirrorImages::nowhere) return {false, false};
      seen.values = seen.values && matrix.value[place] == matrix.value[k];
    }
  }
  return seen;
}

/// The terms of successive entries, whose rows have these keys. `value`: of the entries, or nullptr.
template <bool OfValues>
std::uint64_t sum_of_terms(const std::uint64_t* row_key, const std::int32_t* column, const double* value,
                           std::int64_t count) {
  std::uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t k = 0; k < count; ++k)
    sum +=
        SymmetryFingerprint::term(row_key[k], SymmetryFingerprint::key(static_cast<std::uint32_t>(column[k])),
                                  OfValues ? std::bit_cast<std::uint64_t>(value[k]) : 0);
  return sum;
}

/// The keys of rows are written out for a buffer of entries at a time, so that short rows need no loops of
/// their own.
template <bool OfValues>
std::uint64_t sum_over_rows(const Csr& matrix, Range rows) {
  constexpr std::int64_t size = 1024;
  constexpr std::int64_t chunk = 8;  // written at once, beyond the end of a row as well
  std::uint64_t row_key[size + chunk];
  std::uint64_t sum = 0;
  std::int64_t first = matrix.row_start[rows.begin];  // entry whose row has row_key[0]
  std::int64_t filled = 0;
  const auto fill = [&](std::uint64_t key, std::int64_t count) {
    for (std::int64_t k = 0; k < count; k += chunk)
      for (std::int64_t u = 0; u < chunk; ++u) row_key[filled + k + u] = key;
    filled += count;
  };
  const auto flush = [&] {
    sum += sum_of_terms<OfValues>(row_key, matrix.column.data() + first, matrix.value.data() + first, filled);
    first += filled;
    filled = 0;
  };
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::uint64_t key = SymmetryFingerprint::key(i);
    std::int64_t left = matrix.row_start[i + 1] - matrix.row_start[i];
    while (filled + left > size) {
      left -= size - filled;
      fill(key, size - filled);
      flush();
    }
    fill(key, left);
  }
  flush();
  return sum;
}

/// Whether the terms of all entries cancel.
template <bool OfValues>
bool cancels(const Csr& matrix) {
  std::atomic<std::uint64_t> sum = 0;
  parallel_ranges(matrix.rows, [&](Range rows) { sum += sum_over_rows<OfValues>(matrix, rows); });
  return sum == 0;
}

}  // namespace

sparse::Symmetry probable_symmetry(const Csr& matrix) {
  const sparse::Symmetry seen = probe(matrix);
  if (seen.values && cancels<true>(matrix)) return {true, true};
  return {seen.pattern && cancels<false>(matrix), false};
}

}  // namespace ayatori::tuning
