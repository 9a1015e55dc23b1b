#pragma once

namespace ayatori::tuning {

// What several choices share, so that "far" and "clearly" mean the same everywhere.

/// This many times as much is beyond what forecasts and noise explain: iterations are foreseen to a factor of
/// 2.4, set-ups to one of 1.5 (bench/training/records/README.md).
inline constexpr double far_more = 4;
/// A measured time below this share of another one is shorter: repeated medians differ by 2 %.
inline constexpr double clearly_faster = 0.97;
/// Rounds of a race of numbers of threads or ranks, after the caches have been filled: the least time counts.
inline constexpr int race_rounds = 2;
/// Products that laying a matrix out anew may take, in another format or on another rank: all conversions but
/// those to tiles take half of it at most.
inline constexpr double laying_out = 30;
/// Share of the memory that is there, for what a choice may take at once: factors and copies need the rest.
inline constexpr double share_of_memory = 0.25;

}  // namespace ayatori::tuning
