#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// A matrix of a saddle point, K = sign [A B1; B2 E] but for the order of its rows: A with a positive
// diagonal, E zero or small and negative semidefinite. The rows of A belong to the primal unknowns
// (velocities), those of E to the constraints (pressures, multipliers).

namespace ayatori::solvers::saddle {

/// Which of this rank's rows are constraints.
struct Fields {
  Array<std::uint8_t> is_constraint;  ///< whether each own row is one
  double sign = 1;                    ///< sign of the diagonal of the other rows
};

/// Collective. Constraints are the rows that `given` says (1, where others have 0), or, without, whose
/// diagonal is zero (below 1e-12 of the row's largest entry) or of the sign that fewer rows have. Throws
/// InputError (agreed), beginning with `who`, where there are none, more than other rows, one that is coupled
/// to none of these, or where their own block does not look semidefinite: a diagonal entry below a quarter of
/// the sum of the others' absolute values. What is given is only checked for constraints that are coupled to
/// nothing, and for both kinds.
Fields find_fields(const sparse::DistributedMatrix& matrix, std::span<const double> given,
                   std::string_view who);

/// The four blocks, times the sign. Every rank has the rows of both kinds that it has of the matrix.
struct Blocks {
  sparse::RowPartition primal;
  sparse::RowPartition constraint;
  Array<std::int32_t> primal_rows;  ///< own rows of the matrix, in order
  Array<std::int32_t> constraint_rows;
  sparse::RowBlock a;   ///< primal x primal
  sparse::RowBlock b1;  ///< primal x constraint
  sparse::RowBlock b2;  ///< constraint x primal
  sparse::RowBlock e;   ///< constraint x constraint
};

/// Collective. Without stored zeros.
Blocks split_into_blocks(const sparse::DistributedMatrix& matrix, const Fields& fields);

}  // namespace ayatori::solvers::saddle
