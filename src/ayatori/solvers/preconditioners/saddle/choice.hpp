#pragma once

#include <string>
#include <vector>

#include "ayatori/solvers/preconditioners/saddle/complement.hpp"

// Which stand-in for the Schur complement's inverse solves a saddle point in the least time.

namespace ayatori::solvers::saddle {

struct Choice {
  const Complement* complement = nullptr;
  std::vector<std::string> notes;
};

/// Collective.
Choice choose_complement(const sparse::DistributedMatrix& matrix, Ingredients& from);

}  // namespace ayatori::solvers::saddle
