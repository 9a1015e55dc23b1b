#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::bench {

/// What the messages of an exchange ask of a machine.
struct HaloForecast {
  /// Between ranks that meet at a level, of all ranks.
  struct AtLevel {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
  };
  double model_seconds = 0;
  double replay_seconds = 0;
  std::vector<AtLevel> levels;  ///< near first
};

struct HaloTiming {
  std::string strategy;
  double seconds = 0;                    ///< one exchange, slowest rank
  std::optional<HaloForecast> forecast;  ///< on rank 0, of strategies that tell their messages
};

/// Collective. Times the exchange alone by every one of these strategies, without products: the median of
/// `calls` exchanges begun at appointed times. What arrives is checked: throws InternalError (agreed) if it
/// is wrong. `profile`, the same on all ranks or nullptr everywhere, is what forecasts go by; InputError
/// (agreed) if it does not know all ranks. A strategy that the machine refuses is named in `left_out`, with
/// the reason; its error is thrown if there is none.
std::vector<HaloTiming> time_halos(const comm::Comm& comm, const sparse::SplitMatrix& parts,
                                   const std::vector<std::string>& strategies, int calls,
                                   const machine::Profile* profile,
                                   std::vector<std::string>* left_out = nullptr);

/// The timing with a forecast whose replay takes least, the first of equal ones; nullptr if none
/// has one. The model adds the farthest message's latency and the busiest port's bytes, whoever they belong
/// to.
const HaloTiming* choose_by_forecast(std::span<const HaloTiming> timings);

}  // namespace ayatori::bench
