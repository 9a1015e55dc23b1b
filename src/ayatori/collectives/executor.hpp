#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ayatori/collectives/word_schedule.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::collectives {

/// Carries one rank's steps of a schedule out by non-blocking messages. The buffer holds `count` elements
/// (per rank, where the operation is by rank: then it holds all blocks, on every rank) and is worked on in
/// place:
///  - broadcast, reduce, allreduce: what the rank contributes, then the result where one is promised;
///  - gather, allgather, scatter, reduce-scatter: blocks in rank order; those that are promised are right at
///  the end;
///  - alltoall: the blocks for all ranks, then those from all ranks.
/// What is not promised is overwritten with partial results. A stage begins when those before it have done
/// what its own chunks need, and all but the last `under_way` of them everything.
class Executor {
 public:
  /// `steps`: of this rank, in order of stages; `chunks` and `under_way`: see Schedule.
  Executor(std::vector<Step> steps, int chunks, int under_way, bool is_by_rank);
  Executor(const WordPlan& plan, int rank);

  /// Collective. Throws EnvironmentError when the transport fails.
  void run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type, comm::ReduceOp op);

 private:
  /// Stages before it that have to have received, or sent.
  struct Needs {
    std::vector<int> received;
    std::vector<int> sent;
  };
  struct Stage {
    int begin;  ///< its steps
    int end;
    Needs to_send;     ///< received only
    Needs to_receive;  ///< into the buffer itself
    Needs to_store;    ///< what arrived elsewhere
    bool is_expected = false;
    bool has_received = false;
    bool has_sent = false;
    std::vector<comm::Request> arrivals;
    std::vector<comm::Request> departures;
  };
  struct Run;

  bool is_direct(const Step& step) const {
    return step.kind == Step::Kind::receive && step.chunks.size() == 1;
  }
  void find_needs();

  std::vector<Step> steps_;
  int chunks_;
  int under_way_;
  bool is_by_rank_;
  std::vector<Stage> stages_;
  /// Of the stages that are under way: what arrives to be combined or taken apart, and what is put together
  /// from several places.
  std::vector<std::vector<std::byte>> arrived_;
  std::vector<std::vector<std::byte>> packed_;
};

}  // namespace ayatori::collectives
