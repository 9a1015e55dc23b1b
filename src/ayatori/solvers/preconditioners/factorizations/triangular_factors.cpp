#include "ayatori/solvers/preconditioners/factorizations/triangular_factors.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::solvers {

namespace {

/// Subtracts `element` times a column from y, two entries at a time; of two in one row the second is a zero
/// of even rows, and so the first is stored last.
template <class Value>
void subtract_column(double element, const std::int32_t* row, const Value* value, std::int32_t k,
                     std::int32_t end, double* y) {
  for (; k + 1 < end; k += 2) {
    const double first = y[row[k]] - static_cast<double>(value[k]) * element;
    y[row[k + 1]] -= static_cast<double>(value[k + 1]) * element;
    y[row[k]] = first;
  }
  if (k < end) y[row[k]] -= static_cast<double>(value[k]) * element;
}

}  // namespace

template <class Value>
Triangle<Value> TriangularFactors<Value>::transposed_upper() const {
  Triangle<Value> result{Array<std::int32_t>(rows + 1, 0), Array<std::int32_t>(upper_column.size()),
                         Array<Value>(upper_value.size())};
  for (const std::int32_t column : upper_column) ++result.start[column + 1];
  for (std::int32_t i = 0; i < rows; ++i) result.start[i + 1] += result.start[i];
  Array<std::int32_t> next = result.start;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t k = upper_start[i]; k < upper_start[i + 1]; ++k) {
      const std::int32_t place = next[upper_column[k]]++;
      result.column[place] = i;
      result.value[place] = upper_value[k];
    }
  }
  return result;
}

template <class Value>
void TriangularFactors<Value>::solve(std::span<const double> x, std::span<double> y) const {
  AYATORI_ASSERT(static_cast<std::int32_t>(x.size()) == rows && x.size() == y.size());
  double* const out = y.data();
  const Range all{0, rows};
  const auto lower = [this](std::int32_t i) {
    const std::int32_t k = lower_start[i];
    return RowEntries<Value>{lower_column.data() + k, lower_value.data() + k, lower_start[i + 1] - k};
  };
  const auto upper = [this](std::int32_t i) {
    const std::int32_t count = upper_start[i + 1] - upper_start[i];
    const std::int32_t last = upper_start[i] + std::max(count - 1, 0);
    return RowEntries<Value, -1>{upper_column.data() + last, upper_value.data() + last, count};
  };
  slices.begin_solve([&] {
    using Slices = LevelSlices<double, Value>;
    slices.upper = Slices::of(all, false, upper);
    if (!symmetric) {
      slices.lower = Slices::of(all, true, lower);
      return;
    }
    const Triangle<Value> transposed = transposed_upper();
    slices.lower = Slices::of(all, true, [&](std::int32_t i) {
      const std::int32_t k = transposed.start[i];
      return RowEntries<Value>{transposed.column.data() + k, transposed.value.data() + k,
                               transposed.start[i + 1] - k};
    });
  });
  const auto whole = [](std::int32_t, double sum) { return sum; };
  if (symmetric && !slices.lower) {
    if (out != x.data()) std::copy(x.begin(), x.end(), y.begin());
    for (std::int32_t i = 0; i < rows; ++i)  // column i of L is row i of U
      subtract_column(out[i], upper_column.data(), upper_value.data(), upper_start[i], upper_start[i + 1],
                      out);
  } else {
    sweep<true>(
        all, slices.lower, lower, [&](std::int32_t i) { return x[i]; }, whole, out);
  }
  sweep<false>(
      all, slices.upper, upper, [&](std::int32_t i) { return out[i] * inverse_pivot[i]; }, whole, out);
}

template struct TriangularFactors<float>;
template struct TriangularFactors<double>;

TriangularFactors<float> rounded(TriangularFactors<double> factors) {
  const auto round = [](const Array<double>& values) {
    Array<float> result(values.size());
    std::ranges::transform(values, result.begin(), [](double value) { return static_cast<float>(value); });
    return result;
  };
  return {factors.rows,
          factors.symmetric,
          std::move(factors.lower_start),
          std::move(factors.lower_column),
          round(factors.lower_value),
          std::move(factors.upper_start),
          std::move(factors.upper_column),
          round(factors.upper_value),
          std::move(factors.inverse_pivot)};
}

}  // namespace ayatori::solvers
