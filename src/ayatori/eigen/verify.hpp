#pragma once

#include <cstdint>
#include <span>

#include "ayatori/eigen/dense/column_spread.hpp"

namespace ayatori::eigen {

/// Collective. max_j ||A z_j - lambda_j z_j||_2 / (n eps ||A||_1), as LAPACK's tests measure it; 0 for A = 0
/// and for no vectors. `values` are those of all vectors.
double residual_ratio(const DistributedDense& a, std::span<const double> values, const ColumnSpread& z);

/// Collective. Of A z = lambda B z: max_j ||A z_j - lambda_j B z_j||_2 / (n eps (||A||_1 + |lambda_j|
/// ||B||_1)
/// ||z_j||_2), the relative backward error of the pairs (Higham, Higham 1998) over n eps.
double residual_ratio(const DistributedDense& a, const DistributedDense& b, std::span<const double> values,
                      const ColumnSpread& z);

/// Collective. max_ij |Z^T Z - I| / (n eps).
double orthogonality_ratio(const comm::Comm& comm, const ColumnSpread& z);

/// Collective. max_ij |z_i^T B z_j - [i = j]| / (n eps s_i s_j) with s_j^2 = max(1, ||B||_1 z_j^T z_j): what
/// rounding of the elements of B does to the products is of size eps s_i s_j.
double orthogonality_ratio(const DistributedDense& b, const ColumnSpread& z);

/// The sum of the eigenvalues of a symmetric matrix and the root of the sum of their squares, by its
/// elements.
struct Moments {
  double trace = 0;
  double norm = 0;
};

/// Collective. From the elements on and below the diagonal.
Moments moments_of(const DistributedDense& a);

/// What all n eigenvalues say without vectors: the larger of |sum lambda - trace A| and
/// | ||lambda||_2 - ||A||_F |, over n eps ||A||_F, which perturbations of size n eps ||A||_F / sqrt(n) leave
/// below 1 (Wielandt, Hoffman).
double moment_ratio(const Moments& moments, std::int64_t n, std::span<const double> values);

}  // namespace ayatori::eigen
