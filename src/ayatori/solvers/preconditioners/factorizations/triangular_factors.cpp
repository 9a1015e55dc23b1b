#include "ayatori/solvers/preconditioners/factorizations/triangular_factors.hpp"

#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_row.hpp"

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
  slices.begin_solve([this] {
    using Slices = LevelSlices<double, Value>;
    const auto from_first = [](const auto& start, const auto& column, const auto& value) {
      return [&](std::int32_t i) {
        return RowEntries<Value>{column.data() + start[i], value.data() + start[i], start[i + 1] - start[i],
                                 1};
      };
    };
    if (symmetric) {
      const Triangle<Value> lower = transposed_upper();
      slices.lower = Slices::of({0, rows}, true, from_first(lower.start, lower.column, lower.value));
    } else {
      slices.lower = Slices::of({0, rows}, true, from_first(lower_start, lower_column, lower_value));
    }
    slices.upper = Slices::of({0, rows}, false, [this](std::int32_t i) {
      const std::int32_t last = std::max(upper_start[i + 1] - 1, upper_start[i]);
      return RowEntries<Value>{upper_column.data() + last, upper_value.data() + last,
                               upper_start[i + 1] - upper_start[i], -1};
    });
  });
  const auto whole = [](std::int32_t, double sum) { return sum; };
  if (slices.lower) {
    slices.lower->solve([&](std::int32_t i) { return x[i]; }, whole, out);
  } else if (symmetric) {
    if (out != x.data()) std::copy(x.begin(), x.end(), y.begin());
    for (std::int32_t i = 0; i < rows; ++i)  // column i of L is row i of U
      subtract_column(out[i], upper_column.data(), upper_value.data(), upper_start[i], upper_start[i + 1],
                      out);
  } else {
    double newest = 0;
    for (std::int32_t i = 0; i < rows; ++i)
      out[i] = newest = solve_row<1>(x[i], lower_column.data(), lower_value.data(), lower_start[i],
                                     lower_start[i + 1] - lower_start[i], out, i - 1, newest);
  }
  if (slices.upper) {
    slices.upper->solve([&](std::int32_t i) { return out[i] * inverse_pivot[i]; }, whole, out);
  } else {
    double newest = 0;
    for (std::int32_t i = rows; i-- > 0;)
      out[i] = newest =
          solve_row<-1>(out[i] * inverse_pivot[i], upper_column.data(), upper_value.data(),
                        upper_start[i + 1] - 1, upper_start[i + 1] - upper_start[i], out, i + 1, newest);
  }
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
