#pragma once

#include <functional>
#include <limits>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/profile.hpp"

namespace ayatori::machine {

struct MeasureOptions {
  bool quick = false;   ///< fewer sizes and kernels
  double seconds = 20;  ///< for all probes together, about
  /// Where others keep the node busy nobody knows how long it takes: after this many seconds, or this many of
  /// processor time of each thread, no further probe begins.
  double most_seconds = std::numeric_limits<double>::infinity();
  double most_processor_seconds = std::numeric_limits<double>::infinity();
};

/// What is measured where somebody waits for it: in 1.5 seconds, or in 5 at most.
inline constexpr MeasureOptions quick_measuring{
    .quick = true, .seconds = 1.5, .most_seconds = 5, .most_processor_seconds = 3};
/// The same where somebody waits for a solve: no longer than a second of the processor.
inline constexpr MeasureOptions brief_measuring{
    .quick = true, .seconds = 0.7, .most_seconds = 3, .most_processor_seconds = 1};

struct MeasureHooks {
  /// Called before every probe and while it measures, with its name and the share of the time that is over.
  std::function<void(const std::string& probe, double share)> progress;
  /// Asked between samples, on every rank; true on any ends the measuring, and what is measured is kept.
  std::function<bool()> wants_stop;
};

/// Collective. Measures the machine that this job runs on, with the ranks and threads that it has. Throws
/// EnvironmentError, agreed.
Profile measure(const comm::Comm& comm, const MeasureOptions& options, const MeasureHooks& hooks = {});

}  // namespace ayatori::machine
