#pragma once

#include <string>
#include <vector>

#include "ayatori/session/solve/solve_request.hpp"
#include "cli/parser/command_line.hpp"

namespace ayatori::cli {

/// The command line of `ayatori solve`, as typed.
struct SolveArguments {
  std::string matrix;
  std::vector<std::string> rhs{"ones"};
  std::string block = "auto";
  std::string output;
  std::string json;
  session::SolveRequest request;
  bool least_squares = false;
  double damp = 0;
  bool explain = false;
  bool quiet = false;
};

/// Declares the options of `solve`, to be parsed into `arguments`, which must stay where they are till then.
void declare(Command& solve, SolveArguments& arguments);

/// Right-hand sides that may be solved at once. Throws InputError if it is not said how many.
int most_at_once(const SolveArguments& arguments);

/// Throws InputError for options that contradict each other, for files that are not there, and for results
/// that cannot be written: this is found out now, not after hours of solving. Called on rank 0.
void check(const SolveArguments& arguments);

/// Where the x of right-hand side `k`, from 0, of several goes: x.mtx becomes x.1.mtx, x.2.mtx, ... Standard
/// output takes all of them as one array.
std::string output_of(const SolveArguments& arguments, std::size_t k);

}  // namespace ayatori::cli
