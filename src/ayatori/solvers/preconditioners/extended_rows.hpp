#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/transfers/neighbour_exchange.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {

/// The rows that a rank owns and, after them, those of other ranks that the matrix leads to in up to this
/// many steps, in ascending global order. Vectors over them are "extended".
class ExtendedRows {
 public:
  /// Collective. `layers` >= 0 steps. Throws EnvironmentError (agreed) where memory is missing or a rank
  /// would hold 2^31 rows or more.
  ExtendedRows(const sparse::DistributedMatrix& matrix, int layers);

  std::int32_t owned() const { return owned_; }
  std::int32_t size() const { return matrix_.rows; }
  /// Square: entries in columns beyond the extended rows are left out.
  const sparse::Csr& matrix() const { return matrix_; }
  std::int64_t global(std::int32_t row) const {
    return row < owned_ ? first_row_ + row : plan_->ghosts[row - owned_];
  }

  /// Collective. The elements of x that other ranks own follow those of this rank in `extended`.
  void fetch(std::span<const double> x, std::span<double> extended) const;
  /// Collective. Adds what the ranks have in their extended vectors for an element to the owner's.
  void add_to_owners(std::span<double> extended) const;

 private:
  std::int32_t owned_;
  std::int64_t first_row_;
  sparse::Csr matrix_;
  std::unique_ptr<const sparse::HaloPlan> plan_;  ///< exchange of the rows that others own
  std::unique_ptr<sparse::HaloExchange> exchange_;
  std::optional<comm::NeighbourExchange> back_;
  mutable Array<double> arrived_;
};

/// The rows of `begin` to `end` and those that the square matrix leads to from there in up to `layers` steps,
/// by ascending `key`, as those from `begin` to `end` are.
template <class Key>
Array<std::int32_t> grown(const sparse::Csr& matrix, std::int32_t begin, std::int32_t end, int layers,
                          Key&& key) {
  Array<std::int32_t> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  if (layers == 0) return rows;
  std::vector<bool> found(matrix.rows, false);
  for (const std::int32_t i : rows) found[i] = true;
  std::size_t layer_begin = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const std::size_t layer_end = rows.size();
    for (; layer_begin < layer_end; ++layer_begin) {
      const std::int32_t i = rows[layer_begin];
      for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        const std::int32_t j = matrix.column[k];
        if (found[j]) continue;
        found[j] = true;
        rows.push_back(j);
      }
    }
  }
  std::ranges::sort(rows, {}, key);
  return rows;
}

/// The rows and columns `rows` of a square matrix, in this order.
sparse::Csr submatrix(const sparse::Csr& matrix, std::span<const std::int32_t> rows);

}  // namespace ayatori::solvers
