#include "ayatori/base/timing.hpp"

#include <ctime>

namespace ayatori {

double wall_time() {
  // clock_gettime rather than std::chrono: the simulator's compiler wrapper redirects it to simulated time.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double processor_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace ayatori
