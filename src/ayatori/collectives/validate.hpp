#pragma once

#include <optional>
#include <string>

#include "ayatori/collectives/schedule.hpp"

namespace ayatori::collectives {

/// Carries a schedule out on sets of contributions instead of data, and checks that
///  - every message has a receiver that expects these chunks from this sender, and every receiver a message;
///  - nobody waits for ever, even if no message is ever buffered (rendezvous);
///  - no stage writes where it reads, or twice to the same place (sums of several arrivals are fine);
///  - nobody sends what it does not have, and no contribution is added twice;
///  - at the end every chunk holds what the operation promises, on every rank that it promises it to.
/// The first violation in words, or nothing. Costs ranks x chunks x ranks / 64 words of memory.
std::optional<std::string> find_violation(const Schedule& schedule);

/// Whether every reduction combines neighbours in rank order, so that it is right for operators that do not
/// commute too. For schedules without a violation.
bool keeps_order(const Schedule& schedule);

}  // namespace ayatori::collectives
