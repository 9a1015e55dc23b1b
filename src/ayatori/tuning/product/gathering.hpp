#pragma once

#include <memory>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// Where the rows of a matrix are solved, and the way there and back.
class Gathering {
 public:
  /// Collective. All rows on one rank.
  Gathering(comm::Comm comm, sparse::RowPartition given);

  /// Collective. The matrix there.
  std::shared_ptr<const sparse::SplitMatrix> move(const sparse::SplitMatrix& parts) const;
  /// Collective.
  Array<double> there(solvers::ConstVector v) const;
  /// Collective.
  void back(solvers::ConstVector v, solvers::Vector to) const;
  /// Hooks that are told of vectors where the caller has them.
  SolveHooks hooks(const SolveHooks& of_caller) const;

 private:
  comm::Comm comm_;
  sparse::RowPartition given_;
  sparse::RowPartition used_;
};

}  // namespace ayatori::tuning
