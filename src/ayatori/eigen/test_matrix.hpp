#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// A set of eigenvalues to make a matrix of; an entry of the list. Their sizes are at most about 1, or n for
/// "wilkinson".
struct Spectrum {
  std::string_view name;
  std::string_view description;
  std::vector<double> (*make)(std::int64_t n, std::uint64_t seed);
};

std::span<const Spectrum> spectra();

/// "random:n=4000,spectrum=clustered": a dense symmetric matrix of known eigenvalues.
struct TestMatrix {
  std::int64_t n = 1000;
  std::string spectrum = "uniform";
  double scale = 1;
  std::uint64_t seed = 1;
};

/// Whether a spec is one of a TestMatrix (its parameters may still be wrong).
bool is_test_matrix(std::string_view spec);

/// Throws InputError that says what is allowed.
TestMatrix parse_test_matrix(std::string_view spec);

/// The eigenvalues of the matrix, ascending, scale included.
std::vector<double> eigenvalues_of(const TestMatrix& matrix);

/// Collective. H C diag(lambda) C^T H, with C the orthonormal discrete cosine transform and H = I - 2 u u^T,
/// u random: C makes a Toeplitz plus a Hankel matrix, a function of i - j plus one of i + j, so that every
/// rank makes its own elements. A multiple of the identity is made exactly. Throws InputError (agreed) where
/// lambda is beyond the range of doubles.
DistributedDense make_test_matrix(const ProcessGrid& grid, const TestMatrix& matrix);

}  // namespace ayatori::eigen
