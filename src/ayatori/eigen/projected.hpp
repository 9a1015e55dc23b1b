#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/dense/blas.hpp"

// What methods work with that project a large operator onto the span of a few distributed vectors.

namespace ayatori::eigen {

/// A small dense matrix, columns one after another.
struct Small {
  Small(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, 0.0) {}
  double* column(std::int64_t j) { return values.data() + j * rows; }
  const double* column(std::int64_t j) const { return values.data() + j * rows; }
  double& operator()(std::int64_t i, std::int64_t j) { return values[i + j * rows]; }
  double operator()(std::int64_t i, std::int64_t j) const { return values[i + j * rows]; }
  operator Block() { return {values.data(), rows, columns, rows}; }
  operator ConstBlock() const { return {values.data(), rows, columns, rows}; }

  std::int64_t rows;
  std::int64_t columns;
  std::vector<double> values;
};

struct SmallPairs {
  std::vector<double> values;  ///< ascending
  Small vectors;
};

/// Collective. Eigenpairs of a symmetric matrix that all ranks have. Computed once: processors that round
/// differently would go different ways. Throws EnvironmentError, agreed.
SmallPairs pairs_of(const comm::Comm& comm, Small a);

/// This rank's rows of a number of vectors.
struct Columns {
  Columns(std::int64_t row_count, std::int64_t capacity)
      : rows(row_count), values(row_count * capacity, 0.0) {}
  std::span<double> column(std::int64_t j) { return std::span(values).subspan(j * rows, rows); }
  Block block(std::int64_t begin, std::int64_t count) {
    return {values.data() + begin * rows, rows, count, rows};
  }

  std::int64_t rows;
  Array<double> values;
};

/// x = x change, of the columns from `begin` on of which `change` has rows: its columns take their place.
void replace(Columns& x, std::int64_t begin, const Small& change);

}  // namespace ayatori::eigen
