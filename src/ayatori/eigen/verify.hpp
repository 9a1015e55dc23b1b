#pragma once

#include <cstdint>
#include <span>

#include "ayatori/eigen/distributed_dense.hpp"

namespace ayatori::eigen {

/// Eigenvectors spread by columns: rank r holds those of split_evenly(count, ranks, r), n numbers each.
struct ColumnSpread {
  std::int64_t n = 0;
  std::int64_t count = 0;
  Array<double> values;
};

/// Collective. max_j ||A z_j - lambda_j z_j||_2 / (n eps ||A||_1), as LAPACK's tests measure it; 0 for A = 0
/// and for no vectors. `values` are those of all vectors.
double residual_ratio(const DistributedDense& a, std::span<const double> values, const ColumnSpread& z);

/// Collective. max_ij |Z^T Z - I| / (n eps).
double orthogonality_ratio(const comm::Comm& comm, const ColumnSpread& z);

/// Collective. What all n eigenvalues say without vectors: the larger of |sum lambda - trace A| and |
/// ||lambda||_2 - ||A||_F |, over n eps ||A||_F, which perturbations of size n eps ||A||_F / sqrt(n) leave
/// below 1 (Wielandt, Hoffman).
double moment_ratio(const DistributedDense& a, std::span<const double> values);

}  // namespace ayatori::eigen
