#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/collectives/schedules/neighbourhood.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::collectives {

/// Collective. The steps of all ranks in an exchange among neighbours as a schedule on rank 0, to be
/// validated, priced, replayed and drawn like any other; its buffer has this many elements, a chunk each.
/// Nothing on the other ranks.
std::optional<Schedule> gather_schedule(const comm::Comm& comm, std::int64_t elements,
                                        std::span<const Step> steps);

/// Throws InputError if a buffer has too many elements for a schedule: 2^31 or more.
void check_length(std::int64_t elements);

/// Collective. The same of an exchange that tells its messages: `messages()` gives what this rank sends and
/// receives, as sparse::HaloExchange::messages() does; nothing on all ranks where that is nothing. Throws
/// InputError (agreed) as check_length() does.
template <class Messages>
std::optional<Schedule> neighbour_schedule(const comm::Comm& comm, std::int64_t elements,
                                           Messages&& messages) {
  std::vector<Step> steps;
  const bool tells = comm::agree(comm, [&] {
    check_length(elements);
    const auto told = messages();
    if (!told) return false;
    for (const auto& message : *told) {
      steps.push_back({message.stage, message.is_sent ? Step::Kind::send : Step::Kind::receive, message.peer,
                       chunks_of(message.elements)});
    }
    return true;
  });
  return tells ? gather_schedule(comm, elements, steps) : std::nullopt;
}

}  // namespace ayatori::collectives
