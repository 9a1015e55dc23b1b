#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/gpu/matrix.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "bench/device/device.hpp"

namespace ayatori::bench::device {

namespace {

struct Case {
  const char* spec;
  const char* quick;
};

/// Grids, elements, blocks, and rows of very different lengths; larger than the caches of a device.
constexpr Case cases[] = {{"poisson2d-5:n=3000", "poisson2d-5:n=60"},
                          {"poisson3d-7:n=200", "poisson3d-7:n=15"},
                          {"poisson3d-27:n=120", "poisson3d-27:n=12"},
                          {"convection3d:n=180", "convection3d:n=14"},
                          {"anisotropic2d:n=2200", "anisotropic2d:n=50"},
                          {"elasticity3d:n=56", "elasticity3d:n=8"},
                          {"tetrahedra3d:n=140", "tetrahedra3d:n=14"},
                          {"stokes3d:n=100", "stokes3d:n=10"},
                          {"darcy3d:n=110", "darcy3d:n=10"},
                          {"curlcurl3d:n=75", "curlcurl3d:n=9"},
                          {"dg-advection:n=260", "dg-advection:n=12"},
                          {"circuit:n=3000000", "circuit:n=3000"}};

struct Timed {
  double seconds = 0;
  double error = 0;  ///< largest, against the sum of magnitudes of the row
};

template <class R>
double error_of(std::span<const R> y, std::span<const double> expected, std::span<const double> size) {
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double error = std::abs(static_cast<double>(y[i]) - expected[i]) / (size[i] > 0 ? size[i] : 1);
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  }
  return worst;
}

template <class R>
Timed time_product(gpu::Device& device, const gpu::Matrix<R>& matrix, std::span<const double> x,
                   std::span<const double> expected, std::span<const double> size, int count) {
  const std::vector<R> rounded(x.begin(), x.end());
  std::vector<R> y(expected.size(), static_cast<R>(NAN));
  const gpu::DeviceArray<R> device_x(device, std::span<const R>(rounded));
  gpu::DeviceArray<R> device_y(device, std::span<const R>(y));
  matrix.multiply(device_x.data(), gpu::StoreProduct<R>{device_y.data()});
  device_y.copy_out(y);
  Timed timed;
  timed.error = error_of<R>(y, expected, size);
  timed.seconds = gpu::seconds_of(
      device, count, [&] { matrix.multiply(device_x.data(), gpu::StoreProduct<R>{device_y.data()}); });
  return timed;
}

}  // namespace

bool run_products(const comm::Comm& comm, gpu::Device& device, const gpu::Rates& rates, bool quick,
                  nlohmann::json& results) {
  bool all_right = true;
  double log_ratio = 0, log_share = 0;
  int compared = 0, counted = 0;
  fmt::print("{:22} {:11} {:7} {:>9} {:>9} {:>6} {:>9}\n", "product", "format", "values", "us", "GB/s",
             "share", "error");
  for (const Case& one : cases) {
    const std::string spec = quick ? one.quick : one.spec;
    const sparse::Csr a = sparse::split(comm, io::generate(comm, spec)).interior;
    Array<double> x(a.columns), expected(a.rows), size(a.rows, 0.0);
    for (std::int32_t i = 0; i < a.columns; ++i) x[i] = random_uniform(5, i) - 0.5;
    sparse::multiply_reference(a, x, expected);
    for (std::int32_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        size[i] += std::abs(a.value[k] * x[a.column[k]]);
    const gpu::FormatFacts facts = gpu::examine_format(a);
    const std::string_view chosen = gpu::choose_format(facts);
    const int count = quick ? 3 : 20;
    double chosen_seconds = 0, best_seconds = INFINITY;
    const auto note = [&](std::string_view format, const char* values, const Timed& timed, std::int64_t bytes,
                          std::size_t vector_bytes, double tolerance) {
      const double moved =
          static_cast<double>(bytes) + static_cast<double>(vector_bytes) * (a.rows + a.columns);
      const double share = moved / timed.seconds / rates.copy;
      const bool is_right = timed.error <= tolerance;
      all_right = all_right && is_right;
      fmt::print("{:22} {:11} {:7} {:9.1f} {:9.0f} {:6.2f} {:9.1e}{}{}\n", spec, format, values,
                 1e6 * timed.seconds, moved / timed.seconds / 1e9, share, timed.error,
                 is_right ? "" : " WRONG", format == chosen && *values == 'd' ? " *" : "");
      results.push_back({{"part", "product"},
                         {"system", spec},
                         {"rows", a.rows},
                         {"nonzeros", a.nonzeros()},
                         {"format", format},
                         {"values", values},
                         {"seconds", timed.seconds},
                         {"bytes", moved},
                         {"share_of_copy", share},
                         {"error", timed.error},
                         {"right", is_right},
                         {"chosen", format == chosen}});
      return share;
    };
    for (const std::string_view format : gpu::formats()) {
      if (!gpu::suits(format, facts)) continue;
      {
        const auto matrix = gpu::make_matrix<double>(device, a, format, facts);
        const Timed timed = time_product<double>(device, matrix, x, expected, size, count);
        const double share = note(format, "double", timed, matrix.bytes(), 8, 1e-14);
        best_seconds = std::min(best_seconds, timed.seconds);
        if (format == chosen) {
          chosen_seconds = timed.seconds;
          log_share += std::log(share);
          ++counted;
        }
      }
      const auto matrix = gpu::make_matrix<float>(device, a, format, facts);
      note(format, "float", time_product<float>(device, matrix, x, expected, size, count), matrix.bytes(), 4,
           2e-6);
    }
    double largest = 0;
    for (const double v : a.value) largest = std::max(largest, std::abs(v));
    if (largest < gpu::largest_half && spec.find("circuit") == std::string::npos) {
      const auto matrix = gpu::make_half_matrix(device, a);
      const double tolerance = 0.01;  // small values have fewer bits
      note(matrix.format(), "half", time_product<float>(device, matrix, x, expected, size, count),
           matrix.bytes(), 4, tolerance);
    }
    if (!Cusparse::why_not().empty()) continue;
    double peer_best = INFINITY;
    for (const int algorithm : {0, 2, 3}) {
      const gpu::DeviceArray<double> device_x(device, std::span<const double>(x));
      gpu::DeviceArray<double> device_y(device, a.rows);
      Cusparse peer(device, a, algorithm, device_x.data(), device_y.data());
      peer.multiply();
      peer.synchronize();
      Array<double> y(a.rows);
      device_y.copy_out(y);
      Timed timed;
      timed.error = error_of<double>(y, expected, size);
      std::vector<double> rows;
      for (int r = 0; r < 5; ++r) {
        const Stopwatch watch;
        for (int i = 0; i < count; ++i) peer.multiply();
        peer.synchronize();
        rows.push_back(watch.seconds() / count);
      }
      std::ranges::sort(rows);
      timed.seconds = rows[rows.size() / 2];
      peer_best = std::min(peer_best, timed.seconds);
      const char* name = algorithm == 0 ? "cusparse" : algorithm == 2 ? "cusparse-1" : "cusparse-2";
      note(name, "double", timed, 12 * a.nonzeros() + 4 * a.rows, 8, 1e-12);
    }
    log_ratio += std::log(peer_best / chosen_seconds);
    ++compared;
    fmt::print("{:22} cuSPARSE's best over ours as chosen: {:.2f}; ours at best over as chosen: {:.2f}\n",
               spec, peer_best / chosen_seconds, best_seconds / chosen_seconds);
  }
  fmt::print("products as chosen: {:.2f} of the copy bandwidth (geometric mean of {})\n",
             std::exp(log_share / std::max(counted, 1)), counted);
  if (compared > 0) {
    fmt::print("cuSPARSE's best takes {:.2f} of ours as chosen (geometric mean of {})\n",
               std::exp(log_ratio / compared), compared);
  } else {
    fmt::print("no cuSPARSE: {}\n", Cusparse::why_not());
  }
  return all_right;
}

}  // namespace ayatori::bench::device
