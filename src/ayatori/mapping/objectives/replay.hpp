#pragma once

#include <optional>

#include "ayatori/mapping/objectives/evaluation.hpp"

namespace ayatori::mapping {

/// Resolution of replay_seconds(), as a share of metrics().seconds: events nearer to each other count as one.
inline constexpr double replay_resolution = 1.0 / 128;

/// Seconds of an exchange that is played through, with the costs of an Evaluation: every rank begins its
/// messages one after the other, by ascending number of the receiver, and those under way share links and
/// ports max-min fairly (progressive filling: Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2).
/// Tells what metrics() cannot: a message that has to share several links may get the full rate of none.
/// Nothing where it would take longer than some seconds.
std::optional<double> replay_seconds(const Evaluation& evaluation);

}  // namespace ayatori::mapping
