#pragma once

#include <vector>

#include "ayatori/eigen/dense/column_spread.hpp"

namespace ayatori::eigen {

struct Refinement {
  bool converged = false;
  int steps = 0;
};

/// Collective. From approximate eigenpairs of the symmetric matrix `a`, all n of them, those of a
/// lower precision, to pairs of double precision: Ogita, Aishima, "Iterative refinement for symmetric
/// eigenvalue decomposition" (2018), algorithm 1. With R = I - X^T X, S = X^T A X and lambda_i = S_ii / (1 -
/// R_ii), X += X E with E_ij = (S_ij + lambda_j R_ij) / (lambda_j - lambda_i), or R_ij / 2 where eigenvalues
/// are no further apart than delta = 2 (||S - D|| + ||A|| ||R||). 8 n^3 operations a step, all of them those
/// of products of matrices; errors are squared.
///
/// Eigenvalues closer than that are a cluster, whose vectors are then those of its own small problem
/// (Rayleigh and Ritz; Ogita and Aishima's second paper, 2019, section 3, does the same with another
/// solver), each on one rank. A cluster of equal eigenvalues has none, as soon as it is separated from the
/// others.
///
/// Converged: the ratios of residuals and of orthogonality are those of a good result. Not converged: both
/// arguments are of no use. `values` are ascending; x.count = x.n = a.order(). max |a_ij| is about 1.
Refinement refine(const DistributedDense& a, std::vector<double>& values, ColumnSpread& x);

}  // namespace ayatori::eigen
