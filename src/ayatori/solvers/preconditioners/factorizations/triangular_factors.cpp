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
void TriangularFactors<Value>::solve(std::span<const double> x, std::span<double> y) const {
  AYATORI_ASSERT(static_cast<std::int32_t>(x.size()) == rows && x.size() == y.size());
  double* const out = y.data();
  if (symmetric) {
    if (out != x.data()) std::copy(x.begin(), x.end(), y.begin());
    for (std::int32_t i = 0; i < rows; ++i)  // column i of L is row i of U
      subtract_column(out[i], upper_column.data(), upper_value.data(), upper_start[i], upper_start[i + 1],
                      out);
  } else {
    for (std::int32_t i = 0; i < rows; ++i)
      out[i] = subtract_row<1>(x[i], lower_column.data(), lower_value.data(), lower_start[i],
                               lower_start[i + 1] - lower_start[i], out);
  }
  for (std::int32_t i = rows; i-- > 0;)
    out[i] = subtract_row<-1>(out[i] * inverse_pivot[i], upper_column.data(), upper_value.data(),
                              upper_start[i + 1] - 1, upper_start[i + 1] - upper_start[i], out);
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
