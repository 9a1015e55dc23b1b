#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/pattern/components.hpp"
#include "ayatori/sparse/pattern/structural_rank.hpp"
#include "ayatori/tuning/facts/duplicate_rows.hpp"
#include "ayatori/tuning/facts/facts.hpp"

// What the pattern and single rows of a matrix say before anything is tried: why it must be singular, and
// whether it is one system at all. Numbers of rows and columns are those of the user, from 0; texts count
// from 1.

namespace ayatori::tuning {

/// Rows or columns of a kind.
struct FoundLines {
  std::int64_t count = 0;
  std::int64_t first = -1;  ///< the smallest number
};

struct Structure {
  std::int64_t rows = 0;
  FoundLines zero_rows;  ///< without a nonzero
  FoundLines zero_columns;
  DuplicateRows duplicates;
  sparse::StructuralRank structural;  ///< `rank` is all rows where the diagonal already says so
  std::optional<sparse::ComponentCounts> components;  ///< once the first method has not ended the solve

  /// Whatever its values are, or as rows repeat each other.
  bool is_singular() const {
    return zero_rows.count > 0 || zero_columns.count > 0 || duplicates.count > 0 ||
           (structural.is_known && structural.rank < rows);
  }
};

/// Collective. Next to nothing where the facts exclude a finding: a diagonal without zeros excludes zero rows
/// and columns and a structural rank below the order; dominance, duplicates. The structural rank takes a
/// search on every rank, and where this leaves rows over, the pattern is gathered on one if it has no more
/// than 2^23 nonzeros. `row_number`: the user's numbers of own rows, on all ranks or, where they are the
/// same, on none.
Structure find_structure(const comm::Comm& comm, const sparse::SplitMatrix& parts, const MatrixFacts& facts,
                         std::span<const std::int64_t> row_number = {});

/// Collective. Of the graph of A + A^T: about an entry per row where it is seen to be connected; else a
/// search that takes some ten products.
sparse::ComponentCounts find_components(const comm::Comm& comm, const sparse::SplitMatrix& parts);

/// The sentence for it; empty for one component.
std::string describe(const sparse::ComponentCounts& components);

/// A sentence for each finding beside components.
std::vector<std::string> describe(const Structure& structure);

/// Collective. Throws InputError (agreed) that names the first entry that is a NaN or infinite, if there is
/// one. One pass over the values.
void require_finite(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                    std::span<const std::int64_t> row_number = {});

}  // namespace ayatori::tuning
