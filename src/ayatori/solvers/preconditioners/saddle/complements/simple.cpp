#include "ayatori/solvers/preconditioners/saddle/complements/complements.hpp"

// A V-cycle for T = B2 D^-1 B1 - E: Patankar & Spalding's SIMPLE. With D^-1 in place of A^-1 in the other
// block, too, T is the complement, and the preconditioner keeps the constraints (Keller, Gould & Wathen, SIAM
// J. Matrix Anal. Appl. 21, 2000).

namespace ayatori::solvers::saddle {

namespace {

std::shared_ptr<const sparse::LinearOperator> make(Ingredients& from, const sparse::LinearOperator&) {
  return from.cycle_for_t();
}

}  // namespace

const Complement simple_complement{
    .name = "simple", .by_diagonal = false, .cycles_for_t = 1, .multiplies_by_a = false, .make = make};

const Complement constraint_complement{
    .name = "constraint", .by_diagonal = true, .cycles_for_t = 1, .multiplies_by_a = false, .make = make};

}  // namespace ayatori::solvers::saddle
