#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/network/hierarchy.hpp"

namespace ayatori::collectives {

/// Chunks [begin, end) of the buffer.
struct ChunkRange {
  int begin;
  int end;

  int count() const { return end - begin; }
  bool operator==(const ChunkRange&) const = default;
};
using Chunks = std::vector<ChunkRange>;

/// How many chunks the ranges hold together.
inline int chunk_count(const Chunks& chunks) {
  int count = 0;
  for (const ChunkRange& range : chunks) count += range.count();
  return count;
}

/// One message, as the rank at one of its ends sees it. All steps of a stage are under way together; what
/// they send is what the rank held when the stage began.
struct Step {
  enum class Kind {
    send,
    receive,      ///< replaces what is there
    swap,         ///< likewise, after all that the stage sends is on its way
    reduce,       ///< is combined with what is there, after all that the stage sends is on its way
    reduce_left,  ///< likewise, as the left operand: those of a stage are first combined with one another
  };
  int stage;
  Kind kind;
  int peer;
  Chunks chunks;
  /// By which rail of both nodes it is meant to go, modulo their number. MPI has no word for it: whoever
  /// moves the message may heed it.
  int rail = network::any_rail;

  bool reduces() const { return kind == Kind::reduce || kind == Kind::reduce_left; }
  bool operator==(const Step&) const = default;
};

/// A pipeline: every segment of the buffer goes through the stages on its own.
struct Segmentation {
  int segments = 1;
  int under_way = 1;  ///< this many may be in the same stage of a rank at once, in their order

  bool operator==(const Segmentation&) const = default;
};

/// Who sends what to whom, stage by stage: a value that can be validated, priced, drawn and executed. The
/// buffer of every rank (of every segment, if there are several) is cut into `chunks` parts of nearly equal
/// length, whatever its length is, so one schedule serves every size. Where the operation is by rank, chunk r
/// is the block of rank r.
struct Schedule {
  Operation operation = Operation::broadcast;
  int ranks = 0;
  int root = 0;
  int chunks = 1;
  int stages = 0;
  Segmentation segmentation;
  std::vector<std::vector<Step>> steps;  ///< by rank, in order of stages

  bool operator==(const Schedule&) const = default;
};

/// Where a segment begins of `count` elements; the one after the last begins at the end. The first segments
/// are shorter, the first of all by a factor of `under_way`: they would arrive together otherwise, and all
/// others after them likewise, with nothing on its way meanwhile.
inline std::int64_t segment_begin(const Segmentation& of, std::int64_t count, std::int64_t segment) {
  const std::int64_t ramp = std::min(of.segments, of.under_way);
  const auto units_before = [&](std::int64_t s) {
    return s < ramp ? s * (s + 1) : ramp * (ramp + 1) + 2 * ramp * (s - ramp);
  };
  return count * units_before(segment) / units_before(of.segments);
}

}  // namespace ayatori::collectives
