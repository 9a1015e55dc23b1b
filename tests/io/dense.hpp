#pragma once

#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::io {

/// A whole matrix by columns, as LAPACK wants it.
struct Dense {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> value;

  double operator()(std::int64_t i, std::int64_t j) const { return value[i + j * rows]; }
};

/// Collective. Every rank gets the whole matrix.
inline Dense to_dense(const comm::Comm& comm, const sparse::RowBlock& block) {
  Dense dense{block.global_rows, block.global_columns,
              std::vector<double>(block.global_rows * block.global_columns, 0.0)};
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
      dense.value[block.first_row + i + block.column[k] * dense.rows] = block.value[k];
    }
  }
  comm.allreduce(std::span(dense.value), comm::ReduceOp::sum);
  return dense;
}

/// The matrix of these rows.
inline Dense dense_rows(const std::vector<std::vector<double>>& rows) {
  Dense dense{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size()), {}};
  for (std::int64_t j = 0; j < dense.columns; ++j) {
    for (const auto& row : rows) dense.value.push_back(row.at(j));
  }
  return dense;
}

/// The real form of the complex matrix of these rows.
inline Dense real_form_rows(const std::vector<std::vector<sparse::Complex>>& rows) {
  std::vector<std::vector<double>> real(2 * rows.size(), std::vector<double>(2 * rows.at(0).size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      sparse::add_real_form(i, j, rows[i][j], [&](std::int64_t row, std::int64_t column, double value) {
        real[row][column] = value;
      });
    }
  }
  return dense_rows(real);
}

}  // namespace ayatori::io
