#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/tuning/solver.hpp"
#include "cli/command_line.hpp"

namespace ayatori::cli {

/// The command line of `ayatori solve`, as typed.
struct SolveArguments {
  std::string matrix;
  std::vector<std::string> rhs{"ones"};
  std::string output;
  std::string json;
  std::string method = "auto";
  std::string preconditioner = "auto";
  solvers::PreconditionerOptions of_preconditioner;
  std::string coordinates;
  std::string restart = "auto";
  std::string orthogonalization = "auto";
  std::string kernel = "auto";
  std::string halo = "auto";
  std::string block = "auto";
  std::string partition = "contiguous";
  std::string placement = "none";
  std::string network = "auto";
  std::string profile = "auto";
  std::string collectives = "auto";
  std::string knowledge = "auto";
  std::string replay;
  std::string checkpoint;
  std::string resume;
  std::optional<double> every;
  std::vector<std::string> excluded;
  double tuning_share = tuning::SolveOptions().tuning_share;
  std::string use_ranks = "auto";
  double rtol = 1e-8;
  double time_limit = 0;
  std::int64_t max_iterations = 0;
  int threads = 0;
  bool explain = false;
  bool quiet = false;
};

/// Declares the options of `solve`, to be parsed into `arguments`, which must stay where they are till then.
void declare(Command& solve, SolveArguments& arguments);

/// Throws InputError for values that mean nothing, and for options that contradict a preconditioner.
tuning::SolveOptions solve_options(const SolveArguments& arguments);

/// Right-hand sides that may be solved at once. Throws InputError if it is not said how many.
int most_at_once(const SolveArguments& arguments);

/// Throws InputError for options that contradict --replay or several right-hand sides.
void check_combinations(const SolveArguments& arguments);

/// Throws InputError for results that cannot be written: this is found out now, not after hours of solving.
/// Called on rank 0.
void check_outputs(const SolveArguments& arguments);

/// Whether two paths name the same file, also where it does not exist yet.
bool same_file(const std::string& a, const std::string& b);

/// Where the x of right-hand side `k`, from 0, of several goes: x.mtx becomes x.1.mtx, x.2.mtx, ...
std::string output_of(const SolveArguments& arguments, std::size_t k);

}  // namespace ayatori::cli
