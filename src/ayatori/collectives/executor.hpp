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
/// What is not promised is overwritten with partial results. A segment begins a stage when it has ended the
/// one before, and the segment `under_way` before it has ended this one.
class Executor {
 public:
  Executor(const WordPlan& plan, int rank);

  /// Collective. Throws EnvironmentError when the transport fails.
  void run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type, comm::ReduceOp op);

 private:
  struct Stage {
    int begin;  ///< its steps
    int end;
  };
  /// A segment that is under way.
  struct Segment {
    int number = 0;
    int stage = 0;                   ///< that it is in if it waits for messages, or else will begin next
    int messages = 0;                ///< that it waits for
    std::vector<std::byte> arrived;  ///< what is to be combined or taken apart
    std::vector<std::byte> packed;   ///< what was put together from several places
  };
  struct Run;

  static bool is_direct(const Step& step) {
    return step.kind == Step::Kind::receive && step.chunks.size() == 1;
  }

  std::vector<Step> steps_;
  std::vector<Stage> stages_;
  int chunks_;
  bool is_by_rank_;
  Segmentation segmentation_;
  std::vector<Segment> places_;  ///< of segments under way: number modulo size
  std::vector<comm::Request> requests_;
  std::vector<Segment*> waiting_;  ///< by request: whose it is
  std::vector<int> ready_;         ///< segments that may be able to go on
};

}  // namespace ayatori::collectives
