#pragma once

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/linear_operator.hpp"

namespace ayatori::tuning {

/// Collective. A lower estimate of ||A||_inf ||A^-1||_inf: the largest of what a few steps of the power
/// method make of a vector of random signs, `inverse` being y = A^-1 x. Within a small factor for most
/// matrices (Dixon, SIAM J. Numer. Anal. 20, 1983).
double estimate_condition(const solvers::GlobalSum& sum, const sparse::LinearOperator& inverse,
                          double norm_infinity);

}  // namespace ayatori::tuning
