#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ayatori/collectives/word_schedule.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::collectives {

/// What carries an executor's messages, and combines what they bring. Ranks are those of the schedule,
/// lengths are in bytes.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual void begin_receive(std::byte* data, std::int64_t length, int peer, int tag) = 0;
  virtual void begin_send(const std::byte* data, std::int64_t length, int peer, int tag) = 0;
  virtual void wait_all() = 0;
  /// The number of a message that has gone or come, by the order in which they were begun; the last one takes
  /// its place.
  virtual std::size_t wait_any() = 0;
  /// inout = in op inout, element by element.
  virtual void combine(const std::byte* in, std::byte* inout, std::int64_t count) = 0;
};

/// What a buffer consists of.
struct Elements {
  std::int64_t count;    ///< per rank, where the operation is by rank
  std::int64_t size;     ///< bytes of one
  bool commutes = true;  ///< a op b is b op a
};

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
  /// Likewise, by another transport. Throws what that throws; the next call begins anew. If the elements do
  /// not commute the plan has to keep their order (see reduction_order).
  void run(Transport& transport, void* data, const Elements& elements);

  /// This rank's part changes nothing in the buffer.
  bool only_sends() const;

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
  std::vector<Segment*> waiting_;  ///< by message under way: whose it is
  std::vector<int> ready_;         ///< segments that may be able to go on
};

}  // namespace ayatori::collectives
