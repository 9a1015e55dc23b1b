#pragma once

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::sparse {

/// Collective. The matrix without what other rows hold in the columns of diagonal rows, which hold nothing
/// but their diagonal entry (stored zeros are nothing): a condition x_i = b_i / a_ii, put in place of an
/// equation. Where these are solved first, and vectors are zero there, both matrices have the same products;
/// but only this one may be symmetric. Traffic: some 40 bytes per nonzero.
SplitMatrix without_columns_of_diagonal_rows(const comm::Comm& comm, const SplitMatrix& parts);

}  // namespace ayatori::sparse
