#include "ayatori/eigen/reduction/symmetric_product.hpp"

#include <omp.h>

#include <algorithm>

#include "ayatori/base/parallel.hpp"

namespace ayatori::eigen {

namespace {

constexpr std::int64_t group = 4;  // columns that pass over y_rows together

/// y += a x over the elements [begin, end) of one column; gives a . x_rows.
template <class T>
T add_column(const T* a, T x, const T* x_rows, T* y, std::int64_t begin, std::int64_t end) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t k = begin; k < end; ++k) {
    y[k] += a[k] * x;
    sum += a[k] * x_rows[k];
  }
  return sum;
}

/// The same for four columns, `leading` elements apart; adds to z.
template <class T>
void add_four_columns(const T* a, std::int64_t leading, const T* x, const T* x_rows, T* y, T* z,
                      std::int64_t begin, std::int64_t end) {
  const T* const a0 = a;
  const T* const a1 = a + leading;
  const T* const a2 = a + 2 * leading;
  const T* const a3 = a + 3 * leading;
  T z0 = 0;
  T z1 = 0;
  T z2 = 0;
  T z3 = 0;
#pragma omp simd reduction(+ : z0, z1, z2, z3)
  for (std::int64_t k = begin; k < end; ++k) {
    y[k] += (a0[k] * x[0] + a1[k] * x[1]) + (a2[k] * x[2] + a3[k] * x[3]);
    z0 += a0[k] * x_rows[k];
    z1 += a1[k] * x_rows[k];
    z2 += a2[k] * x_rows[k];
    z3 += a3[k] * x_rows[k];
  }
  z[0] += z0;
  z[1] += z1;
  z[2] += z2;
  z[3] += z3;
}

}  // namespace

template <class T>
SymmetricProduct<T>::SymmetricProduct(const DenseOf<T>& a)
    : a_(a), partial_(a.rows.count() * (max_threads() - 1)) {}

template <class T>
void SymmetricProduct<T>::operator()(std::int64_t first, const T* x_rows, const T* x_columns, T* y_rows,
                                     T* y_columns) {
  const std::int64_t top = a_.rows.local_from(first);
  const std::int64_t bottom = a_.rows.count();
  const std::int64_t left = a_.columns.local_from(first);
  const std::int64_t right = a_.columns.count();
  const std::int64_t height = bottom - top;
  if (a_.grid.all.size() == 1) {  // a triangle as BLAS knows it
    multiply_symmetric<T>({a_.column(left) + top, height, height, bottom}, x_rows + top, y_rows + top);
    std::fill(y_columns + left, y_columns + right, T{0});
    return;
  }
  const int threads = threads_for(height * (right - left) / 2);
  const auto y_of = [&](int thread) {
    return thread == 0 ? y_rows : partial_.data() + (thread - 1) * bottom;
  };

  /// One column: the ragged part above `below`, and the diagonal.
  const auto ragged = [&](std::int64_t l, std::int64_t below, T* y) {
    const std::int64_t j = a_.columns.global(l);
    std::int64_t k = a_.rows.local_from(j);
    const T* const column = a_.column(l);
    if (a_.rows.owns(j)) {
      y[k] += column[k] * x_columns[l];
      ++k;
    }
    y_columns[l] = add_column(column, x_columns[l], x_rows, y, k, std::max(k, below));
  };

#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    const int team = omp_get_num_threads();
    T* const y = y_of(thread);
    std::fill(y + top, y + bottom, T{0});
    for (std::int64_t l = left + thread * group; l < right; l += team * group) {
      const std::int64_t last = std::min(l + group, right);
      const bool is_full = last - l == group;
      const std::int64_t below = is_full ? a_.rows.local_from(a_.columns.global(last - 1) + 1) : bottom;
      for (std::int64_t c = l; c < last; ++c) ragged(c, below, y);
      if (is_full)
        add_four_columns(a_.column(l), bottom, x_columns + l, x_rows, y, y_columns + l, below, bottom);
    }
    if (team > 1) {
#pragma omp barrier
      const Range mine = split_evenly(height, team, thread);
      for (int other = 1; other < team; ++other) {
        const T* const part = y_of(other);
        for (std::int64_t k = top + mine.begin; k < top + mine.end; ++k) y_rows[k] += part[k];
      }
    }
  }
}

template class SymmetricProduct<double>;
template class SymmetricProduct<float>;

}  // namespace ayatori::eigen
