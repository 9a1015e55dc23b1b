#pragma once

#include <complex>
#include <vector>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {

/// y = p(D^-1 A) D^-1 x with the polynomial of GMRES: 1 - t p(t) = prod over roots of (1 - t / root) (Loe &
/// Morgan 2021, algorithm 3).
struct GmresPolynomialSetUp {
  InverseDiagonal diagonal;
  std::vector<std::complex<double>> roots;  ///< in Leja order, conjugates side by side
};

/// Collective. Throws InputError (agreed), also where the matrix is singular on the space that the polynomial
/// is made from.
GmresPolynomialSetUp set_up_gmres_polynomial(const sparse::DistributedMatrix& matrix, const GlobalSum& sum,
                                             int degree);

}  // namespace ayatori::solvers
