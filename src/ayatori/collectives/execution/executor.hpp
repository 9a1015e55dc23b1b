#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/collectives/execution/transport.hpp"
#include "ayatori/collectives/words/word_plan.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/transfers/request_list.hpp"

namespace ayatori::collectives {

/// Where blocks of different lengths begin, for an operation by rank: at which element each rank's block
/// begins, and where the last one ends. The same on all ranks. Not for alltoall, whose blocks take one
/// another's places on their way.
using BlockBegins = std::optional<std::span<const std::int64_t>>;

/// What a buffer consists of.
struct Elements {
  std::int64_t count;                 ///< per rank, where the operation is by rank
  std::int64_t size;                  ///< bytes of one
  bool commutes = true;               ///< a op b is b op a
  BlockBegins begins = std::nullopt;  ///< else all blocks are of `count`
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

  /// Tag of the first segment; communicators of the library carry no user messages with these tags. Those of
  /// segments that are under way at once differ.
  static constexpr int first_tag = 28000;
  static constexpr int tags = 4096;

  /// Collective. Throws EnvironmentError when the transport fails. Messages inside a node go by `channel`, if
  /// there is one (on all ranks where make_node_channel gives one, or on none), which outlives this object.
  /// After a failure no later call by that channel succeeds.
  void run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type, comm::ReduceOp op,
           comm::NodeChannel* channel = nullptr, BlockBegins begins = std::nullopt);
  /// Likewise, by another transport. Throws what that throws; the next call begins anew, but for its channel.
  /// If the elements do not commute the plan has to keep their order (see reduction_order).
  void run(WaitingTransport& transport, void* data, const Elements& elements);

  /// Begins a run that waits for nothing, by messages alone, never by a channel: whoever carries them says
  /// with go_on() which have gone or come. True if nothing is left to be done. The data, the elements and
  /// what they refer to stay until then. Throws what the transport throws; then the messages that are under
  /// way still use this object and the data.
  bool begin(Transport& transport, void* data, const Elements& elements);
  /// One message with this tag of that run has gone or come. True if nothing is left to be done.
  bool go_on(Transport& transport, void* data, const Elements& elements, int tag);
  /// The messages of a run have this many tags, from the first one on.
  int tags_in_use() const { return std::min(segmentation_.segments, tags); }

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
  /// Where a message arrives.
  enum class Arrival {
    in_place,      ///< and nothing is left to be done
    aside,         ///< until the stage ends
    beside_first,  ///< combined with the message before, which is aside
  };
  /// How a step receives, by the channel where that reaches the peer.
  struct Reception {
    Arrival arrival;
    comm::Landing landing;
  };
  struct Run;

  bool is_near(const Step& step) const { return channel_ != nullptr && channel_->reaches(step.peer); }
  bool uses_channel(const Elements& elements) const;
  void plan_receptions(comm::NodeChannel* channel, bool commutes);
  void plan_receptions(const Stage& stage, bool commutes);

  std::vector<Step> steps_;
  std::vector<Stage> stages_;
  int chunks_;
  bool is_by_rank_;
  Segmentation segmentation_;
  std::vector<comm::Copies> copies_;      ///< copies made of what is sent through memory, by step
  std::vector<Segment> places_;           ///< segments under way: number modulo size
  comm::NodeChannel* channel_ = nullptr;  ///< channel of the last call, for which
  bool commutes_ = true;                  ///< and for whose elements
  std::vector<Reception> receptions_;     ///< stand, by step
  comm::RequestList requests_;
  std::vector<Segment*> waiting_;  ///< by message under way: whose it is
  std::vector<int> ready_;         ///< segments that may be able to go on
};

}  // namespace ayatori::collectives
