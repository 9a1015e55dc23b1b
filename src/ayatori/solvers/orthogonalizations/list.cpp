#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/solvers/orthogonalizations/orthogonalizations.hpp"

namespace ayatori::solvers {

std::span<const Orthogonalization> orthogonalizations() {
  static const std::array list{cgs_orthogonalization, mgs_orthogonalization, ircgs_orthogonalization};
  return list;
}

const Orthogonalization& orthogonalization(std::string_view name) {
  return find_named(orthogonalizations(), name, "orthogonalization");
}

}  // namespace ayatori::solvers
