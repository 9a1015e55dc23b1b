#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {

/// Entries of a square matrix by row and column from 1, in any order, each place once.
template <class Scalar>
struct MatrixEntriesOf {
  std::vector<int> row;
  std::vector<int> column;
  std::vector<Scalar> value;
};
using MatrixEntries = MatrixEntriesOf<double>;
using ComplexEntries = MatrixEntriesOf<sparse::Complex>;

/// Those of the complex matrix in whose real form these are, of a rank or of all.
ComplexEntries complex_entries(const MatrixEntries& real_form);

/// Keeps the part that a symmetric matrix is given by. For doubles or complex numbers.
template <class Scalar>
void keep_upper_triangle(MatrixEntriesOf<Scalar>& entries);

/// Tells rows and columns of entries apart from others, in their order.
std::uint64_t fingerprint_of_pattern(const std::vector<int>& row, const std::vector<int>& column);

/// One rank is not asked to hold more entries than these, of 400 MB, unless it has them all.
constexpr std::int64_t most_on_one_rank = std::int64_t{1} << 24;

/// The matrix to factor, in the forms that libraries want. Refers to it.
class MatrixToFactor {
 public:
  /// Collective. `is_symmetric`: known to be, up to rounding. Throws Error, agreed, where an entry is not
  /// finite, or where there are more rows than libraries count.
  MatrixToFactor(const sparse::DistributedMatrix& matrix, bool is_symmetric,
                 std::int64_t most_gathered = most_on_one_rank);

  const comm::Comm& comm() const { return matrix_.comm(); }
  const sparse::RowPartition& partition() const { return matrix_.partition(); }
  std::int64_t rows() const { return matrix_.global_rows(); }
  std::int64_t nonzeros() const { return nonzeros_; }
  bool is_symmetric() const { return is_symmetric_; }
  /// Whether rank 0 may well hold all entries.
  bool is_small() const { return comm().size() == 1 || nonzeros_ <= most_gathered_; }
  /// Whether the diagonal serves as pivots without a permutation that looks for larger ones: in a symmetric
  /// matrix it is positive, in others no entry of a row is a hundred times as large.
  bool has_useful_diagonal() const { return has_useful_diagonal_; }

  /// This rank's rows.
  MatrixEntries own() const;

  /// Collective. All rows on rank 0, and none on the others; once gathered, they stay until they are dropped.
  const MatrixEntries& gathered();
  /// Collective. The same, which do not stay.
  MatrixEntries take_gathered();
  void drop_gathered() { gathered_.reset(); }

 private:
  const sparse::DistributedMatrix& matrix_;
  bool is_symmetric_;
  std::int64_t most_gathered_;
  bool has_useful_diagonal_ = false;
  std::int64_t nonzeros_ = 0;
  std::optional<MatrixEntries> gathered_;
};

}  // namespace ayatori::solvers
