#include "ayatori/sparse/kernels/sell.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

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
template <class Real>
struct Slices {
  const std::int64_t* start;   ///< start of each slice
  const std::int32_t* column;  ///< 8 per step
  const Real* value;
  const std::int32_t* row;  ///< row of each lane
  std::int64_t rows;

  int count(std::int64_t slice) const {
    return static_cast<int>(std::min<std::int64_t>(lanes, rows - slice * lanes));
  }
  /// Stores the sums of a slice; returns the sum of 0 y_i.
  Real scatter(std::int64_t slice, const Real* sums, Real* y) const {
    Real finite = 0;
    for (int lane = 0; lane < count(slice); ++lane) {
      y[row[slice * lanes + lane]] = sums[lane];
      finite += 0 * sums[lane];
    }
    return finite;
  }
};

template <class Real>
Real multiply_portable(const Slices<Real>& a, Range slices, const Real* x, Real* y) {
  Real finite = 0;
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    Real sums[lanes] = {};
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

[[gnu::target("avx2,fma")]] double multiply_avx2(const Slices<double>& a, Range slices, const double* x,
                                                 double* y) {
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

[[gnu::target("avx512f")]] double multiply_avx512(const Slices<double>& a, Range slices, const double* x,
                                                  double* y) {
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

/// Eight floats are half of a register of AVX-512.
[[gnu::target("avx2,fma")]] float multiply_floats(const Slices<float>& a, Range slices, const float* x,
                                                  float* y) {
  const __m256 none = _mm256_setzero_ps();
  float finite = 0;
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    __m256 sum = none;
    for (std::int64_t k = a.start[s]; k < a.start[s + 1]; k += lanes) {
      const __m256i column = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a.column + k));
      const __m256 picked =
          _mm256_mask_i32gather_ps(none, x, column, _mm256_cmp_ps(none, none, _CMP_EQ_OQ), 4);
      sum = _mm256_fmadd_ps(_mm256_loadu_ps(a.value + k), picked, sum);
    }
    float sums[lanes];
    _mm256_storeu_ps(sums, sum);
    finite += a.scatter(s, sums, y);
  }
  return finite;
}
#endif

template <class Real>
void multiply_carefully(const Slices<Real>& a, Range slices, const Real* x, Real* y) {
  for (std::int64_t s = slices.begin; s < slices.end; ++s) {
    for (int lane = 0; lane < a.count(s); ++lane) {
      Real sum = 0;
      for (std::int64_t k = a.start[s] + lane; k < a.start[s + 1]; k += lanes)
        sum += product_unless_zero(a.value[k], x[a.column[k]]);
      y[a.row[s * lanes + lane]] = sum;
    }
  }
}

template <class Real>
using Multiply = Real (*)(const Slices<Real>&, Range, const Real*, Real*);

template <class Real>
Multiply<Real> multiply_of(Simd simd) {
#ifdef __x86_64__
  if constexpr (std::is_same_v<Real, float>) {
    if (simd != Simd::portable) return &multiply_floats;
  } else {
    if (simd == Simd::avx512) return &multiply_avx512;
    if (simd == Simd::avx2) return &multiply_avx2;
  }
#else
  static_cast<void>(simd);
#endif
  return &multiply_portable<Real>;
}

/// SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske & Bishop 2014) with C = 8: rows of nearly the same length,
/// neighbours after sorting by length within a window, are padded to the same length and multiplied by the
/// lanes of a vector register, elements of x gathered. Traffic: 12 bytes per stored entry (8 in
/// single precision), 5 per row.
template <class Real>
class Sell final : public KernelOf<Real> {
 public:
  Sell(const Csr& matrix, double scale, const std::vector<std::int32_t>& rows,
       const std::vector<std::int64_t>& start, Simd simd)
      : multiply_(multiply_of<Real>(simd)),
        groups_(start),
        start_(start.size()),
        column_(start.back()),
        value_(start.back()),
        row_(matrix.rows) {
    start_[0] = 0;
    groups_.for_each([&](int, Range slices) {
      for (std::int64_t s = slices.begin; s < slices.end; ++s) {
        start_[s + 1] = start[s + 1];
        for (std::int64_t lane = 0; lane < lanes; ++lane) fill(matrix, scale, rows, start, s, lane);
      }
    });
  }

  void multiply(std::span<const Real> x, std::span<Real> y) const override {
    constexpr std::int64_t slices_at_once = 64;
    const Slices<Real> a{start_.data(), column_.data(), value_.data(), row_.data(),
                         static_cast<std::int64_t>(row_.size())};
    groups_.for_each([&](int, Range slices) {
      multiply_padded(
          slices, slices_at_once, [&](Range part) { return multiply_(a, part, x.data(), y.data()); },
          [&](Range part) { multiply_carefully(a, part, x.data(), y.data()); });
    });
  }

  std::int64_t matrix_bytes() const override {
    return static_cast<std::int64_t>(8 * start_.size() + 4 * row_.size() +
                                     (4 + sizeof(Real)) * value_.size());
  }

 private:
  void fill(const Csr& matrix, double scale, const std::vector<std::int32_t>& rows,
            const std::vector<std::int64_t>& start, std::int64_t slice, std::int64_t lane) {
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
      value_[to] = step < size ? static_cast<Real>(scale * matrix.value[matrix.row_start[i] + step]) : 0;
    }
  }

  Multiply<Real> multiply_;
  ThreadGroups groups_;  // groups of slices
  Array<std::int64_t> start_;
  Array<std::int32_t> column_;
  Array<Real> value_;
  Array<std::int32_t> row_;
};

template <class Real>
std::unique_ptr<KernelOf<Real>> make(const Csr& matrix, double scale, Simd simd) {
  const auto rows = sorted_rows(matrix);
  const auto start = starts_of_slices(matrix, rows);
  require_bytes(name, bytes_of(matrix.rows, start.back()), matrix);
  return std::make_unique<Sell<Real>>(matrix, scale, rows, start, simd);
}

}  // namespace

std::unique_ptr<Kernel> make_sell(const Csr& matrix, Simd simd) {
  return make<double>(matrix, 1, simd);
}

std::unique_ptr<FloatKernel> make_float_sell(const Csr& matrix, double scale, Simd simd) {
  return make<float>(matrix, scale, simd);
}

const KernelType sell_kernel{
    .name = name,
    .description = "SELL-8-sigma: rows of similar length side by side in the lanes of vector registers",
    .conversion_products = 6,
    .predicted_bytes =
        [](const PatternFacts& facts) {
          return if_not_absurd(bytes_of(facts.rows, facts.sell_entries), facts);
        },
    .indexed_accesses = [](const PatternFacts& facts) { return static_cast<double>(facts.sell_entries); },
    .make = [](const Csr& matrix) { return make_sell(matrix, best_simd()); },
    .make_float = [](const Csr& matrix,
                     double scale) { return make_float_sell(matrix, scale, best_simd()); }};

}  // namespace ayatori::sparse
