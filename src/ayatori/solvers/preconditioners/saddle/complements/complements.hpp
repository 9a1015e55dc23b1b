#pragma once

#include "ayatori/solvers/preconditioners/saddle/complement.hpp"

// Each file defines what it is named after; list.cpp names them all.

namespace ayatori::solvers::saddle {

extern const Complement diagonal_complement;
extern const Complement diagonals_complement;
extern const Complement simple_complement;
extern const Complement constraint_complement;
extern const Complement commutator_complement;

}  // namespace ayatori::solvers::saddle
