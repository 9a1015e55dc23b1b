#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/machine/profile.hpp"

namespace ayatori::forecast {

/// A run that was measured: an iterative solve. Times are seconds of the whole run, means of the ranks.
struct MeasuredRun {
  int ranks = 1;
  std::int64_t iterations = 0;
  double products = 0;          ///< multiplying
  double halo = 0;              ///< exchanging before it
  double reductions = 0;        ///< sums over ranks, with the wait for late ranks
  double vectors = 0;           ///< vector operations
  double preconditioner = 0;    ///< applying it; its limit is not known
  double product_limit = 0;     ///< seconds of one product at the machine's triad; 0 if that is unknown
  double product_bytes = 0;     ///< that it moves in this time, all ranks
  double vector_bytes = 0;      ///< that an iteration's vector operations move, all ranks; 0 if unknown
  std::int64_t sums = 0;        ///< reductions in the run
  std::int64_t halo_bytes = 0;  ///< bytes of one product, all ranks
};

/// A phase of it, and the least that the machine would take for it by its profile.
struct PhaseLimit {
  std::string_view name;
  double seconds;
  std::optional<double> limit;  ///< nothing where the profile does not tell
  double latency = 0;           ///< part of the limit that messages take, however short

  /// As a multiple of the limit.
  double distance() const { return seconds / *limit; }
};

/// How far each phase is from its own limit: triad rate x bytes; of messages one latency and the mean rank's
/// bytes; of reductions log2(ranks) latencies.
std::vector<PhaseLimit> find_limits(const MeasuredRun& run, const machine::Profile* profile);

/// What bounds the run and what would help, a sentence. Every phase is split at its limit: what lies below is
/// the machine's, what lies above is waste; the longest of all these decides. Empty if no time was spent.
std::string bound_sentence(const std::vector<PhaseLimit>& phases);

}  // namespace ayatori::forecast
