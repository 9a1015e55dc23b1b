#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/facts/structure.hpp"
#include "ayatori/tuning/policy/choice.hpp"

namespace ayatori::tuning {

/// A preconditioner, and the matrix that it was made from and may refer to.
struct MadePreconditioner {
  std::shared_ptr<sparse::DistributedMatrix> from;
  solvers::BuiltPreconditioner built;

  bool is_there() const { return built.op != nullptr; }
};

/// What a solve leaves for the next one of the same pattern.
struct ReusableSetup {
  std::optional<ExaminedMatrix> examined;  ///< the matrix now
  std::shared_ptr<const sparse::SplitMatrix>
      judged;                           ///< that residuals are computed with, in the sign of `matrix`
  std::optional<Structure> structure;   ///< the same
  bool ended_by_least_squares = false;  ///< the solve before
  std::shared_ptr<sparse::DistributedMatrix> matrix;  ///< the matrix now, with the kernel in use
  std::int64_t products_before_planning =
      0;                         ///< products with it before its kernels are planned; 0: they were
  std::optional<Choice> choice;  ///< that won
  MadePreconditioner
      preconditioner;  ///< that of `choice`, made from the matrix now or from one of an earlier time
  /// Complete factors of other values that serve no more, but for their analysis.
  MadePreconditioner outworn_factors;
  bool wants_full_accuracy = false;  ///< complete factors of fewer digits have failed
};

}  // namespace ayatori::tuning
