#pragma once

#include <map>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/mpi/mpi_algorithms.hpp"

namespace ayatori::bench {

/// The algorithms of the MPI in use, each with a communicator in which it is used. Calls are made while a
/// ForcedAlgorithm lives, too, which is what MPICH wants.
class ForcedComms {
 public:
  explicit ForcedComms(const comm::Comm& comm) : comm_(comm) {}

  struct Entry {
    comm::MpiAlgorithm algorithm;
    comm::Comm comm;
  };
  /// Collective, when an operation is asked for first.
  const std::vector<Entry>& of(collectives::Operation operation);

  const comm::MpiAlgorithms& access() const { return access_; }

 private:
  comm::Comm comm_;
  comm::MpiAlgorithms access_;
  std::map<collectives::Operation, std::vector<Entry>> entries_;
};

}  // namespace ayatori::bench
