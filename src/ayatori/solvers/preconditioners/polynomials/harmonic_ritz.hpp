#pragma once

#include <complex>
#include <span>
#include <vector>

namespace ayatori::solvers {

/// Harmonic Ritz values of a Krylov space: the roots of the residual polynomial that GMRES has after d steps,
/// eigenvalues of H + h^2 H^-T e_d e_d^T. `h`: H by columns, d x d, of Arnoldi's method; `below`: h, the
/// element below its last column. Values with an imaginary part come in pairs. Empty where H is singular to
/// working precision, or something is not finite. By LAPACK.
std::vector<std::complex<double>> harmonic_ritz_values(int d, std::span<const double> h, double below);

/// Leja's order, in which products of (1 - t / root) neither overflow nor cancel more than they must: the
/// largest first, then always the one whose product of distances to those before is largest (Bai, Hu &
/// Reichel 1994). Of a pair of conjugates the one with the positive imaginary part comes first, the other
/// right after it.
std::vector<std::complex<double>> leja_ordered(std::vector<std::complex<double>> roots);

}  // namespace ayatori::solvers
