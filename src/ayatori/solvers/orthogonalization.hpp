#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

/// Makes w orthogonal to a basis V of k orthonormal vectors: h = V^T w, w <- w - V h. Returns ||w||
/// afterwards (0 where w lay in the span, as far as the arithmetic can tell); w is not normalised. h[0, k) is
/// overwritten with the coefficients; h has at least 2 k + 2 elements, and the rest of it is work space.
/// Collective.
using Orthogonalize =
    std::function<double(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h)>;

/// Elements that `h` needs for k vectors.
constexpr std::size_t orthogonalization_work_size(int k) {
  return 2 * static_cast<std::size_t>(k) + 2;
}

/// An entry in the list.
struct Orthogonalization {
  std::string_view name;
  std::string_view description;
  double (*apply)(const GlobalSum& sum, const Basis& basis, Vector w, std::span<double> h);
};

/// cgs, mgs, ircgs (Katagiri & Kuroda, item iii). Adding one is a file in orthogonalizations/, its
/// declaration in orthogonalizations.hpp and its name in list.cpp.
std::span<const Orthogonalization> orthogonalizations();

/// The one of this name. Throws InputError that lists the names.
const Orthogonalization& orthogonalization(std::string_view name);

}  // namespace ayatori::solvers
