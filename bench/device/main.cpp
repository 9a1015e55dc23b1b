// bench_device [--device KIND] [--quick] [--only PART] [--json FILE]: what a device does, and whether it is
// right. KIND: cuda (default) or host. PART: rates, products, methods, solves. Exit status 1 where a product
// or a claim is wrong.

#include <fmt/core.h>

#include <cstring>
#include <fstream>

#include "ayatori/base/error.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/environment.hpp"
#include "bench/device/device.hpp"

int main(int argc, char** argv) {
  using namespace ayatori;
  const comm::Environment environment(argc, argv);
  const comm::Comm world = comm::Comm::world();
  std::string kind = "cuda", json, only;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") {
      quick = true;
    } else if (i + 1 < argc && word == "--device") {
      kind = argv[++i];
    } else if (i + 1 < argc && word == "--only") {
      only = argv[++i];
    } else if (i + 1 < argc && word == "--json") {
      json = argv[++i];
    } else {
      fmt::print(stderr, "usage: bench_device [--device KIND] [--quick] [--only PART] [--json FILE]\n");
      return 2;
    }
  }
  try {
    const Stopwatch opening;
    const auto device = gpu::device_type(kind).open(0);
    const double opened = opening.seconds();
    const auto wants = [&](const char* part) { return only.empty() || only == part; };
    nlohmann::json results = nlohmann::json::array();
    gpu::Rates rates;
    if (wants("rates") || wants("products")) rates = gpu::measure_rates(*device);
    fmt::print(
        "{}: opened in {:.3f} s, copy {:.0f} GB/s, in {:.1f} GB/s, out {:.1f} GB/s, step {:.2f} us, wait "
        "{:.1f} us\n",
        device->name(), opened, rates.copy / 1e9, rates.in / 1e9, rates.out / 1e9, 1e6 * rates.step,
        1e6 * rates.wait);
    bool is_right = true;
    if (wants("products"))
      is_right = bench::device::run_products(world, *device, rates, quick, results) && is_right;
    if (wants("methods")) is_right = bench::device::run_methods(world, *device, quick, results) && is_right;
    if (wants("solves")) is_right = bench::device::run_solves(world, kind, quick, results) && is_right;
    if (!json.empty())
      std::ofstream(json) << nlohmann::json{
          {"schema", "ayatori.bench-device/1"},
          {"device", device->name()},
          {"open_seconds", opened},
          {"copy", rates.copy},
          {"in", rates.in},
          {"out", rates.out},
          {"step", rates.step},
          {"wait", rates.wait},
          {"results", results}}.dump(1);
    fmt::print("{}\n", is_right ? "all right" : "SOMETHING IS WRONG");
    return is_right ? 0 : 1;
  } catch (const Error& error) {
    fmt::print(stderr, "bench_device: {}\n", error.what());
    return static_cast<int>(error.kind());
  }
}
