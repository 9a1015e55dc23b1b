#pragma once

#include <functional>
#include <string>

#include "ayatori/gpu/device.hpp"

namespace ayatori::gpu {

/// What a device does at best.
struct Rates {
  std::string name;
  double open_seconds = 0;  ///< until the first work can be asked for
  double copy = 0;          ///< bytes per second, read and written, of a long copy inside
  double in = 0;            ///< bytes per second from the host, from a program's memory ...
  double out = 0;           ///< ... and back
  double step = 0;          ///< seconds of a step that does nothing, in recorded work
  double wait = 0;          ///< seconds that a number takes to the host, which waits for it
};

/// In less than a tenth of a second. The time to open the device is left to who has opened it.
Rates measure_rates(Device& device);

/// Median seconds of work(), which does not wait, over some recordings of `count` calls.
double seconds_of(Device& device, int count, const std::function<void()>& work);

}  // namespace ayatori::gpu
