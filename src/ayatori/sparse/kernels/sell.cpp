#include "ayatori/sparse/kernels/sell.hpp"

#include <algorithm>
#include <numeric>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/kernels/kernels.hpp"
#include "ayatori/sparse/kernels/merge_rows.hpp"
#include "ayatori/sparse/kernels/padding.hpp"
#include "ayatori/sparse/kernels/thread_groups.hpp"

namespace ayatori::sparse {

namespace {

constexpr std::string_view name = "sell-8";

std::int64_t slices_of(std::int64_t rows) {
  return (rows + lanes - 1) / lanes;
}

std::int64_t bytes_of(std::int64_t rows, std::int64_t entries) {
  return 8 * (slices_of(rows) + 1) + 4 * rows + 12 * entries;
}

std::int64_t length(const Csr& matrix, std::int64_t row) {
  return matrix.row_start[row + 1] - matrix.row_start[row];
}

/// Rows, the longest first within every window.
std::vector<std::int32_t> sorted_rows(const Csr& matrix) {
  std::vector<std::int32_t> rows(matrix.rows);
  std::iota(rows.begin(), rows.end(), 0);
  for (std::int64_t first = 0; first < matrix.rows; first += sell_window) {
    const std::int64_t last = std::min<std::int64_t>(first + sell_window, matrix.rows);
    std::stable_sort(rows.begin() + first, rows.begin() + last,
                     [&](std::int32_t a, std::int32_t b) { return length(matrix, a) > length(matrix, b); });
  }
  return rows;
}

/// Where each slice begins among the entries. Its first row is its longest.
std::vector<std::int64_t> starts_of_slices(const Csr& matrix, const std::vector<std::int32_t>& rows) {
  std::vector<std::int64_t> counts(slices_of(matrix.rows));
  for (std::size_t s = 0; s < counts.size(); ++s) counts[s] = lanes * length(matrix, rows[s * lanes]);
  return starts_of(counts);
}

/// Entry k of every row of a slice, then entry k + 1.
struct Slices {
  const std::int64_t* start;   ///< of each slice
  const std::int32_t* column;  ///< 8 per step
  const double* value;
  const std::int32_t* row;  ///< of each lane
  std::int64_t rows;

  int count(std::int64_t slice) const {
    return static_cast<int>(std::min<std::int64_t>(lanes, rows - slice * lanes));
  }
  /// Stores the sums of a slice; returns the sum of 0 y_i.
  double scatter(std::int64_t slice, const double* sums, double* y) const {
    double finite = 0;
    for (int lane = 0; lane < count(slice); ++lane) {
      y[row[slice * lanes + lane]] = sums[lane];
      finite += 0 * sums[lane];
    }
    return finite;
  }
};

double multiply_portable(const Slices& a, Range slices, const double* x, double* y) {
  double finite = 0;
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    double sums[lanes] = {};
    for (std::int64_t k = a.start[s]; k < a.start[s + 1]; k += lanes) {
      for (int lane = 0; lane < lanes; ++lane) sums[lane] += a.value[k + lane] * x[a.column[k + lane]];
    }
    finite += a.scatter(s, sums, y);
  }
  return finite;
}

#ifdef __x86_64__
// GCC 12 takes the unmasked gathers for reads of an uninitialised register.
[[gnu::target("avx2,fma")]] inline __m256d gather(const double* x, __m128i column) {
  const __m256d none = _mm256_setzero_pd();
  return _mm256_mask_i32gather_pd(none, x, column, _mm256_cmp_pd(none, none, _CMP_EQ_OQ), 8);
}

[[gnu::target("avx512f")]] inline __m512d gather(const double* x, __m256i column) {
  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, column, x, 8);
}

[[gnu::target("avx2,fma")]] double multiply_avx2(const Slices& a, Range slices, const double* x, double* y) {
  double finite = 0;
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    __m256d low = _mm256_setzero_pd();
    __m256d high = _mm256_setzero_pd();
    for (std::int64_t k = a.start[s]; k < a.start[s + 1]; k += lanes) {
      const auto* column = reinterpret_cast<const __m128i*>(a.column + k);
      low = _mm256_fmadd_pd(_mm256_loadu_pd(a.value + k), gather(x, _mm_loadu_si128(column)), low);
      high = _mm256_fmadd_pd(_mm256_loadu_pd(a.value + k + 4), gather(x, _mm_loadu_si128(column + 1)), high);
    }
    double sums[lanes];
    _mm256_storeu_pd(sums, low);
    _mm256_storeu_pd(sums + 4, high);
    finite += a.scatter(s, sums, y);
  }
  return finite;
}

[[gnu::target("avx512f")]] double multiply_avx512(const Slices& a, Range slices, const double* x, double* y) {
  double finite = 0;
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    __m512d sum = _mm512_setzero_pd();
    for (std::int64_t k = a.start[s]; k < a.start[s + 1]; k += lanes) {
      const __m256i column = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.column + k));
      sum = _mm512_fmadd_pd(_mm512_loadu_pd(a.value + k), gather(x, column), sum);
    }
    double sums[lanes];
    _mm512_storeu_pd(sums, sum);
    finite += a.scatter(s, sums, y);
  }
  return finite;
}
#endif

void multiply_carefully(const Slices& a, Range slices, const double* x, double* y) {
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    for (int lane = 0; lane < a.count(s); ++lane) {
      double sum = 0;
      for (std::int64_t k = a.start[s] + lane; k < a.start[s + 1]; k += lanes)
        sum += product_unless_zero(a.value[k], x[a.column[k]]);
      y[a.row[s * lanes + lane]] = sum;
    }
  }
}

auto multiply_of(Simd simd) {
#ifdef __x86_64__
  if (simd == Simd::avx512) return &multiply_avx512;
  if (simd == Simd::avx2) return &multiply_avx2;
#else
  static_cast<void>(simd);
#endif
  return &multiply_portable;
}

/// SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske & Bishop 2014) with C = 8: rows of nearly the same length,
/// neighbours after sorting by length within a window, are padded to the same length and multiplied by the
/// lanes of a vector register, elements of x gathered. Traffic: 12 bytes per stored entry, 5 per row.
class Sell final : public Kernel {
 public:
  Sell(const Csr& matrix, const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& start,
       Simd simd)
      : multiply_(multiply_of(simd)),
        groups_(start),
        start_(start.size()),
        column_(start.back()),
        value_(start.back()),
        row_(matrix.rows) {
    start_[0] = 0;
    groups_.for_each([&](int, Range slices) {
      for (std::int64_t s = slices.begin; s < slices.end; ++s) {
        start_[s + 1] = start[s + 1];
        for (std::int64_t lane = 0; lane < lanes; ++lane) fill(matrix, rows, start, s, lane);
      }
    });
  }

  void multiply(std::span<const double> x, std::span<double> y) const override {
    constexpr std::int64_t slices_at_once = 64;
    const Slices a{start_.data(), column_.data(), value_.data(), row_.data(),
                   static_cast<std::int64_t>(row_.size())};
    groups_.for_each([&](int, Range slices) {
      multiply_padded(
          slices, slices_at_once, [&](Range part) { return multiply_(a, part, x.data(), y.data()); },
          [&](Range part) { multiply_carefully(a, part, x.data(), y.data()); });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(8 * start_.size() + 4 * row_.size() + 12 * value_.size());
  }

 private:
  void fill(const Csr& matrix, const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& start,
            std::int64_t slice, std::int64_t lane) {
    const std::int64_t steps = (start[slice + 1] - start[slice]) / lanes;
    const bool exists = slice * lanes + lane < matrix.rows;
    const std::int32_t i = rows[slice * lanes + (exists ? lane : 0)];
    const std::int64_t size = exists ? length(matrix, i) : 0;
    if (exists) row_[slice * lanes + lane] = i;
    // Zeros refer to a column that the slice reads anyway.
    std::int32_t column = steps == 0 ? 0 : matrix.column[matrix.row_start[rows[slice * lanes]]];
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t to = start[slice] + step * lanes + lane;
      if (step < size) column = matrix.column[matrix.row_start[i] + step];
      column_[to] = column;
      value_[to] = step < size ? matrix.value[matrix.row_start[i] + step] : 0;
    }
  }

  double (*multiply_)(const Slices&, Range, const double*, double*);
  ThreadGroups groups_;  // of slices
  Array<std::int64_t> start_;
  Array<std::int32_t> column_;
  Array<double> value_;
  Array<std::int32_t> row_;
};

}  // namespace

std::unique_ptr<Kernel> make_sell(const Csr& matrix, Simd simd) {
  const auto rows = sorted_rows(matrix);
  const auto start = starts_of_slices(matrix, rows);
  require_bytes(name, bytes_of(matrix.rows, start.back()), matrix);
  return std::make_unique<Sell>(matrix, rows, start, simd);
}

const KernelType sell_kernel{
    name, "SELL-8-sigma: rows of similar length side by side in the lanes of vector registers",
    [](const PatternFacts& facts) { return if_not_absurd(bytes_of(facts.rows, facts.sell_entries), facts); },
    [](const PatternFacts& facts) { return static_cast<double>(facts.sell_entries); },
    [](const Csr& matrix) { return make_sell(matrix, best_simd()); }};

}  // namespace ayatori::sparse
