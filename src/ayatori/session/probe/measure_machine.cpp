#include "ayatori/session/probe/measure_machine.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/gpu/device.hpp"
#include "ayatori/gpu/rates.hpp"

namespace ayatori::session {

namespace {

using machine::DeviceFigure;

/// The first device of this kind. Throws EnvironmentError.
DeviceFigure figure_of(const gpu::DeviceType& type) {
  const Stopwatch opening;
  const auto device = type.open(0);
  const double open_seconds = opening.seconds();
  const gpu::Rates rates = gpu::measure_rates(*device);
  const DeviceFigure figure{rates.name.empty() ? std::string(type.name) : rates.name,
                            open_seconds,
                            rates.copy,
                            rates.in,
                            rates.out,
                            rates.step,
                            rates.wait};
  // A profile with such figures could not be read again.
  if (!figure.is_possible()) throw EnvironmentError("it gives rates or times that cannot be");
  return figure;
}

/// Collective. The figure of rank 0 on every rank.
std::optional<DeviceFigure> share(const comm::Comm& comm, const std::optional<DeviceFigure>& figure) {
  const DeviceFigure mine = figure.value_or(DeviceFigure());
  const std::string name = comm.broadcast(mine.name, 0);
  std::array values{mine.open_seconds, mine.copy, mine.in, mine.out, mine.step, mine.wait};
  comm.broadcast(std::span<double>(values), 0);
  if (name.empty()) return std::nullopt;
  return DeviceFigure{name, values[0], values[1], values[2], values[3], values[4], values[5]};
}

}  // namespace

void measure_device(const comm::Comm& comm, const gpu::DeviceType& type, machine::Profile& profile) {
  std::optional<DeviceFigure> figure;
  std::string failure;
  comm::agree(comm, [&] {
    if (comm.rank() != 0 || !type.why_not().empty()) return;
    try {
      figure = figure_of(type);
    } catch (const EnvironmentError& error) {
      failure = fmt::format("device {}: {}", type.name, error.what());
    }
  });
  profile.device = share(comm, figure);
  failure = comm.broadcast(failure, 0);
  if (!failure.empty()) profile.left_out.push_back(failure);
}

machine::Profile measure_machine(const comm::Comm& comm, const machine::MeasureOptions& options,
                                 const machine::MeasureHooks& hooks) {
  auto profile = machine::measure(comm, options, hooks);
  if (!profile.complete) return profile;  // somebody waits for the end
  const Stopwatch watch;
  measure_device(comm, gpu::device_type("cuda"), profile);
  profile.measuring_seconds += comm.broadcast(watch.seconds(), 0);
  return profile;
}

}  // namespace ayatori::session
