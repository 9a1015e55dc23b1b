#pragma once

#include <cstdint>

#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// Collective. With B = L L^T, C = L^-1 A L^-T, so that A x = lambda B x is C y = lambda y with y = L^T x. A
/// and B are symmetric, of the same order and grid, and given by their lower triangles; L and C take these
/// places. What is above the diagonals is neither read nor kept.
///
/// One pass of panels of `block` columns does both: Cholesky's factorization, and variant 4 of the two-sided
/// triangular solve of Poulson, van de Geijn, Bennighof (2011), which needs no solve with more than a panel's
/// own triangle: all else are products of matrices, 4/3 n^3 operations shared evenly. A panel costs two
/// Allgather of its columns among all ranks and an Allgatherv of its rows along grid columns.
///
/// Throws InputError (agreed) that names the leading minor if B is not positive definite, or so nearly not
/// that C is beyond the range of doubles. Precondition: max |a_ij| and max |b_ij| are about 1.
void reduce_to_standard(DistributedDense& a, DistributedDense& b, std::int64_t block);

/// Collective. z = L^-T z, for the L that reduce_to_standard() leaves; z holds whole columns, any number of
/// them on each rank. Panels of `block` columns are gathered on all ranks.
void back_substitute(const DistributedDense& l, std::int64_t block, Block z);

/// Collective. How well L and C are what they should be, tried on a random vector v: the larger of
/// ||B v - L L^T v|| / || |L| |L^T| |v| || and ||A v - L C L^T v|| / || |L| |C| |L^T| |v| ||, over n eps.
double reduction_ratio(const DistributedDense& a, const DistributedDense& b, const DistributedDense& c,
                       const DistributedDense& l);

}  // namespace ayatori::eigen
