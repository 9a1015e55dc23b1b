#pragma once

#include "ayatori/comm/comm.hpp"
#include "ayatori/machine/measure.hpp"

namespace ayatori::gpu {
struct DeviceType;
}

namespace ayatori::session {

/// Collective. machine::measure(), and then the GPU that rank 0 can open, where there is one. Throws
/// EnvironmentError, agreed.
machine::Profile measure_machine(const comm::Comm& comm, const machine::MeasureOptions& options,
                                 const machine::MeasureHooks& hooks = {});

/// Collective. Puts what the first device of this kind can do, as rank 0 measures it, into the profile. There
/// is nothing to say where there is none; a device that fails is left out, with the reason.
void measure_device(const comm::Comm& comm, const gpu::DeviceType& type, machine::Profile& profile);

}  // namespace ayatori::session
