#include <array>

#include "ayatori/solvers/preconditioners/saddle/complements/complements.hpp"

namespace ayatori::solvers::saddle {

std::span<const Complement> complements() {
  static const std::array list{diagonals_complement, constraint_complement, diagonal_complement,
                               simple_complement, commutator_complement};
  return list;
}

}  // namespace ayatori::solvers::saddle
