#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/collectives/schedule.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::collectives {

/// Carries one rank's steps of a schedule out by non-blocking messages. The buffer holds `count` elements
/// (per rank, where the operation is by rank: then it holds all blocks, on every rank) and is worked on in
/// place:
///  - broadcast, reduce, allreduce: what the rank contributes, then the result where one is promised;
///  - gather, allgather, scatter, reduce-scatter: blocks in rank order; those that are promised are right at
///  the end.
/// What is not promised is overwritten with partial results.
class Executor {
 public:
  /// `steps`: of this rank, in order of stages; `chunks`: see Schedule.
  Executor(std::vector<Step> steps, int chunks, bool is_by_rank)
      : steps_(std::move(steps)), chunks_(chunks), is_by_rank_(is_by_rank) {}

  /// Collective. Throws EnvironmentError when the transport fails.
  void run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type, comm::ReduceOp op);

 private:
  std::vector<Step> steps_;
  int chunks_;
  bool is_by_rank_;
  std::vector<comm::Request> requests_;
  std::vector<std::byte> arrived_;  ///< what a stage has to combine
};

}  // namespace ayatori::collectives
