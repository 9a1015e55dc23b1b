#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/session/option.hpp"
#include "ayatori/session/session.hpp"
#include "ayatori/tuning/solver.hpp"

namespace ayatori::session {

/// What may be asked of a solve beside the matrix and b. Words are those of the table below.
struct SolveRequest {
  double rtol = 1e-8;
  double time_limit = 0;
  std::int64_t max_iterations = 0;
  std::string method = "auto";
  std::string preconditioner = "auto";
  int overlap = solvers::PreconditionerOptions().overlap;
  int fill = solvers::PreconditionerOptions().fill;
  std::string triangular = "auto";
  int degree = solvers::PreconditionerOptions().degree;
  double drop = solvers::PreconditionerOptions().drop_tolerance;
  std::string ordering = "auto";
  std::string factor_precision = solvers::PreconditionerOptions().factor_precision;
  double low_rank = solvers::PreconditionerOptions().low_rank;
  std::string complement = "auto";
  bool reproducible = false;
  bool deterministic = false;
  std::string restart = "auto";
  std::string orthogonalization = "auto";
  std::string kernel = "auto";
  std::string halo = "auto";
  std::string device = "auto";
  std::vector<std::string> exclude;
  double tuning_share = tuning::SolveOptions().tuning_share;
  std::string use_ranks = "auto";
  std::string partition = "contiguous";
  std::string placement = "none";
  std::string network = "auto";
  std::string coordinates;  ///< a file; see Problem::coordinates for those that are there
  std::string fields;       ///< a file
  std::string profile = "auto";
  std::string collectives = "auto";
  std::string knowledge = "auto";
  std::string replay;
  std::string checkpoint;
  std::optional<double> every;
  std::string resume;
  int threads = 0;
};

/// The table of options: what a line here declares, every face offers.
std::span<const Option<SolveRequest>> solve_options();

/// Throws InputError for values that mean nothing, for options that contradict each other or a preconditioner
/// that has been asked for, and for files that cannot be written. Called on one rank. Options are called by
/// their names on the command line.
void check(const SolveRequest& request);

/// The session that a request wants.
SessionOptions session_options(const SolveRequest& request);

/// What the tuner is told. Throws InputError for values that mean nothing.
tuning::SolveOptions tuning_options(const SolveRequest& request);

/// Right-hand sides that may be solved at once, by a word: auto, off, or their number. Throws InputError.
int most_at_once(const std::string& block);

/// Whether two paths name the same file, also where it does not exist yet.
bool same_file(const std::string& a, const std::string& b);

}  // namespace ayatori::session
