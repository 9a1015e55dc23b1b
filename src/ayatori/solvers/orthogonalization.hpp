#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

/// k orthonormal vectors of n local elements each, one after the other in memory.
struct Basis {
  const double* data;
  std::int64_t stride;  ///< elements from one vector to the next
  int size;             ///< k
};

/// Makes w orthogonal to the basis: w <- w - V h, h = V^T w accumulated in h[0, k). Returns ||w|| afterwards.
/// Collective. w is not normalised.
using Orthogonalize = std::function<double(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h)>;

/// An entry in the list.
struct Orthogonalization {
  std::string_view name;
  std::string_view description;
  double (*apply)(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h);
};

/// cgs, mgs, ircgs (Katagiri & Kuroda, item iii). Adding one is a file in orthogonalizations/ and a line in its list.cpp.
std::span<const Orthogonalization> orthogonalizations();

/// The one of this name. Throws InputError that lists the names.
const Orthogonalization& orthogonalization(std::string_view name);

}  // namespace ayatori::solvers
