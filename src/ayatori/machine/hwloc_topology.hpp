#pragma once

#include <hwloc.h>

#include <memory>

#include "ayatori/base/error.hpp"

// For code that speaks to hwloc: the only header of the library that includes its.

namespace ayatori::machine {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

/// Throws EnvironmentError.
inline Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw EnvironmentError("hwloc cannot look at this machine");
  Topology topology(raw, hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) throw EnvironmentError("hwloc cannot look at this machine");
  return topology;
}

}  // namespace ayatori::machine
