#pragma once

#include "ayatori/solvers/orthogonalization.hpp"

// Each file of this folder defines one Orthogonalization; list.cpp names them all.

namespace ayatori::solvers {

extern const Orthogonalization cgs_orthogonalization;
extern const Orthogonalization ircgs_orthogonalization;
extern const Orthogonalization mgs_orthogonalization;

}  // namespace ayatori::solvers
