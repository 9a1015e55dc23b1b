#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// The pattern of a square matrix and its mirror image as a graph. Where the pattern is its own mirror image
/// the rows of the matrix are the graph, which refers to them.
class PatternGraph {
 public:
  /// Graph of `matrix`, or with its column j in place `column_place[j]`. Implicit: a matrix stands for it.
  PatternGraph(const sparse::Csr& matrix, std::span<const std::int32_t> column_place = {});
  PatternGraph(const PatternGraph&) = delete;
  PatternGraph& operator=(const PatternGraph&) = delete;

  std::int32_t rows() const { return static_cast<std::int32_t>(degree_.size()); }
  /// Neighbours of a row; the row itself may be among them.
  std::span<const std::int32_t> around(std::int32_t i) const {
    return {neighbour_ + start_[i], static_cast<std::size_t>(start_[i + 1] - start_[i])};
  }
  /// How many entries couple the row with others; where the pattern is its own mirror image, half of them.
  std::int32_t degree(std::int32_t i) const { return degree_[i]; }
  /// Whether the matrix is known to be its own transpose, values and all.
  bool is_of_symmetric_matrix() const { return is_of_symmetric_matrix_; }

 private:
  void count_entries_of(const sparse::Csr& matrix);
  void join_mirror_image(const sparse::Csr& matrix, std::span<const std::int32_t> column_place);
  void remove_repetitions();

  const std::int64_t* start_ = nullptr;
  const std::int32_t* neighbour_ = nullptr;
  bool is_of_symmetric_matrix_ = false;
  Array<std::int32_t> degree_;
  Array<std::int64_t> own_start_;  ///< empty where the graph refers to the matrix
  Array<std::int32_t> own_neighbour_;
};

/// The reverse Cuthill-McKee order (1969, reversed by George): element k is the row that comes k-th. Each
/// connected part is numbered by breadth-first search, neighbours by ascending degree, from a row at its
/// periphery (George & Liu 1979). O(neighbours log degree).
Array<std::int32_t> reverse_cuthill_mckee(const PatternGraph& graph);

/// The sum over rows of the distance from the diagonal to the farthest neighbour before it, where row
/// order[k] comes k-th; an empty order is the natural one. What complete factors of the matrix may fill.
std::int64_t profile(const PatternGraph& graph, std::span<const std::int32_t> order);

}  // namespace ayatori::solvers
