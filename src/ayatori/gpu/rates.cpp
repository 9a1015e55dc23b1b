#include "ayatori/gpu/rates.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/timing.hpp"

namespace ayatori::gpu {

namespace {

constexpr int repeats = 5;

/// Median seconds of work(), waited for.
template <class Work>
double waited(Device& device, Work&& work) {
  std::vector<double> seconds;
  for (int r = 0; r <= repeats; ++r) {
    device.synchronize();
    const Stopwatch watch;
    work();
    device.synchronize();
    if (r > 0) seconds.push_back(watch.seconds());
  }
  std::ranges::nth_element(seconds, seconds.begin() + repeats / 2);
  return seconds[repeats / 2];
}

}  // namespace

double seconds_of(Device& device, int count, const std::function<void()>& work) {
  work();  // what is prepared at the first time
  const auto recording = device.record([&] {
    for (int i = 0; i < count; ++i) work();
  });
  return waited(device, [&] { recording->launch(); }) / count;
}

Rates measure_rates(Device& device) {
  constexpr std::int64_t most_copied = std::int64_t{1} << 28;
  const auto copied = static_cast<std::size_t>(std::min(most_copied, device.free_bytes() / 64));
  const std::size_t carried = copied / 8;
  constexpr int copies = 4;
  constexpr int steps = 200;
  Rates rates{.name = device.name()};
  const DeviceArray<char> from(device, copied);
  const DeviceArray<char> to(device, copied);
  Array<char> host(carried, 1);
  rates.copy = 2.0 * static_cast<double>(copied) * copies / waited(device, [&] {
                 for (int i = 0; i < copies; ++i) device.copy(to.data(), from.data(), copied);
               });
  rates.in =
      static_cast<double>(carried) / waited(device, [&] { device.copy_in(to.data(), host.data(), carried); });
  rates.out = static_cast<double>(carried) /
              waited(device, [&] { device.copy_out(host.data(), from.data(), carried); });
  const DeviceArray<double> number(device, 1);
  rates.step = seconds_of(device, steps, [&] {
    device.run(Scale<double>{1, number.data(), number.data()}, 1);
  });
  rates.wait = waited(device, [&] { device.copy_out(host.data(), number.data(), sizeof(double)); });
  return rates;
}

}  // namespace ayatori::gpu
