#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ayatori/collectives/schedules/neighbourhood.hpp"
#include "ayatori/collectives/schedules/schedule.hpp"

namespace ayatori::collectives {

/// Carries a schedule out on sets of contributions instead of data, and checks that
///  - every message has a receiver that expects these chunks from this sender, and every receiver a message;
///  - nobody waits for ever, even if no message is ever buffered (rendezvous);
///  - no stage writes where it reads, or twice to the same place (sums of several arrivals are fine);
///  - nobody sends what it does not have, and no contribution is added twice;
///  - at the end every chunk holds what the operation promises, on every rank that it promises it to.
/// The first violation in words, or nothing. Costs ranks x chunks words of memory, and ranks / 64 times
/// as many where something is combined.
std::optional<std::string> find_violation(const Schedule& schedule);

/// The same for the schedule of a neighbourhood, in which moreover
///  - no element arrives on a rank that owns it, or where it has arrived before;
///  - at the end every rank has what it wants.
std::optional<std::string> find_violation(const Schedule& schedule, const Neighbourhood& neighbourhood);

/// How a schedule that reduces combines what ranks contribute.
struct ReductionOrder {
  /// Every combination is one of neighbours in rank order, left with right: right for operators that do not
  /// commute too.
  bool keeps_ranks = false;
  /// What is added to what, if that is the same on all ranks and for all chunks: schedules with the same
  /// number give the same bits wherever they cut the buffer. Operands of one addition may be exchanged.
  std::optional<std::uint64_t> tree;
};

/// For schedules without a violation; one that is wrong has neither.
ReductionOrder reduction_order(const Schedule& schedule);

}  // namespace ayatori::collectives
