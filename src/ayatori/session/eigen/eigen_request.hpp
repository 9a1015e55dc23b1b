#pragma once

#include <optional>
#include <span>
#include <string>

#include "ayatori/eigen/solve.hpp"
#include "ayatori/session/option.hpp"
#include "ayatori/session/session.hpp"

namespace ayatori::session {

/// What may be asked about the eigenvalues of a symmetric matrix. Words are those of the table below; which
/// eigenvalues are wanted, every face says in its own way.
struct EigenRequest {
  eigen::Selection selection;
  bool vectors = true;
  std::string method = "auto";
  std::string precision = "double";
  std::string reduction = "auto";
  std::optional<int> block;  ///< as the profile advises, or 32
  std::string grid = "auto";
  std::string preconditioner = "auto";
  double tolerance = 0;
  std::string profile = "none";
  double gflops = 0;
  double memory_bandwidth = 0;
  std::string collectives = "auto";
  int threads = 0;
};

/// The table of options: what a line here declares, every face offers.
std::span<const Option<EigenRequest>> eigen_options();

/// Throws InputError for values that mean nothing here, or contradict each other. Options are called by their
/// names on the command line. `generalized`: of A x = lambda B x.
void check(const EigenRequest& request, eigen::ProblemKind kind);

/// What the dense solver is told.
eigen::EigenOptions dense_options(const EigenRequest& request);

}  // namespace ayatori::session
