#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/forecast/predict.hpp"
#include "ayatori/machine/measure.hpp"
#include "cli/report_page.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

/// The profile of this machine as JSON text.
std::string probe(std::uintptr_t comm_address, bool quick, double seconds, int threads,
                  const std::function<void(const std::string&, double)>& progress) {
  Interruption interruption;
  std::string profile;
  {
    const CoreCall call;
    const auto comm = communicator(comm_address);
    const ThreadCount thread_count(comm, threads);
    profile = machine::to_json(machine::measure(comm, {.quick = quick, .seconds = seconds},
                                                {.progress =
                                                     [&](const std::string& name, double share) {
                                                       if (progress)
                                                         interruption.guard([&] { progress(name, share); });
                                                     },
                                                 .wants_stop = [&] { return interruption.wants_stop(); }}));
  }
  interruption.rethrow();
  return profile;
}

forecast::Pattern pattern_of(std::span<const std::int64_t> start, std::span<const std::int32_t> column) {
  const auto rows = static_cast<std::int64_t>(start.size()) - 1;
  if (rows < 1) throw InputError("the matrix has no rows");
  const auto outside = [&](std::int32_t j) { return j < 0 || j >= rows; };
  if (start.front() != 0 || start.back() != static_cast<std::int64_t>(column.size()) ||
      !std::ranges::is_sorted(start) || std::ranges::any_of(column, outside))
    throw InputError("these are not the arrays of a square matrix of compressed sparse rows");
  return {{start.begin(), start.end()}, {column.begin(), column.end()}};
}

nb::dict as_dict(const forecast::Forecast& forecast, const forecast::Forecast& first) {
  const double speed_up = first.total() / forecast.total();
  nb::dict phases;
  for (int phase = 0; phase < forecast::phase_count; ++phase)
    phases[std::string(forecast::type_of(static_cast<forecast::Phase>(phase)).name).c_str()] =
        forecast.seconds[phase];
  nb::dict gains;
  gains["bandwidth"] = forecast.gain(forecast::Resource::bandwidth);
  gains["latency"] = forecast.gain(forecast::Resource::latency);
  gains["memory"] = forecast.gain(forecast::Resource::memory);
  nb::dict point;
  point["nodes"] = forecast.shape.nodes;
  point["ranks"] = forecast.shape.ranks();
  point["seconds"] = forecast.total();
  point["speed_up"] = speed_up;
  point["efficiency"] = speed_up * first.shape.nodes / forecast.shape.nodes;
  point["phases"] = phases;
  point["bound"] = std::string(forecast::type_of(forecast.bound()).name);
  point["gains"] = gains;
  point["halo_messages"] = forecast.messages;
  point["halo_bytes"] = forecast.bytes;
  point["working_set_bytes"] = forecast.working_set;
  point["memory_bytes_per_second"] = forecast.rate;
  return point;
}

/// The fields of schema ayatori.predict/1 that are computed.
nb::dict predict(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& start,
                 const nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& column,
                 const std::vector<int>& nodes, int ranks_per_node, int threads, const std::string& network,
                 const std::string& profile_text, const std::string& profile_name, double memory_bandwidth,
                 const std::string& partition, const std::string& method, const std::string& preconditioner) {
  std::vector<forecast::Forecast> forecasts;
  std::vector<std::string> assumptions;
  forecast::Conclusion conclusion;
  {
    const CoreCall call;
    const auto& way = find_named(forecast::partitions(), partition, "partition");
    const auto& work = find_named(forecast::iteration_works(), method, "method");
    const auto& applied = find_named(forecast::vector_preconditioners(), preconditioner, "preconditioner");
    const auto profile = machine::profile_from_json(profile_text, profile_name);
    const auto routes = network.empty() ? nullptr : mapping::make_network(network, nodes.back());
    const auto rate = memory_bandwidth > 0 ? std::optional(memory_bandwidth) : std::nullopt;
    const auto pattern = pattern_of(span_of(start), span_of(column));
    for (const int count : nodes) {
      const forecast::JobMachine machine(profile, profile_name, {count, ranks_per_node, threads}, rate);
      const int ranks = machine.shape().ranks();
      forecasts.push_back(forecast::predict(forecast::spread(pattern, way.parts(pattern, ranks), ranks), work,
                                            applied, machine, routes.get()));
      for (const auto& assumption : machine.assumptions()) {
        if (std::ranges::find(assumptions, assumption) == assumptions.end())
          assumptions.push_back(assumption);
      }
    }
    conclusion = forecast::conclude(forecasts);
  }
  nb::list points;
  for (const auto& forecast : forecasts) points.append(as_dict(forecast, forecasts.front()));
  nb::dict result;
  result["assumptions"] = assumptions;
  result["points"] = points;
  result["crossovers"] = conclusion.crossovers;
  result["scaling"] = conclusion.scaling;
  result["conclusion"] = conclusion.sentence;
  return result;
}

}  // namespace

void bind_machine(nb::module_& module) {
  module.def("probe", &probe, nb::arg("comm"), nb::arg("quick"), nb::arg("seconds"), nb::arg("threads"),
             nb::arg("progress").none());
  module.def("default_profile_path", &machine::default_profile_path);
  module.def("load_profile", [](const std::string& name) { return to_json(machine::load_profile(name)); });
  module.def("report_page", [](const std::vector<std::pair<std::string, std::string>>& results) {
    std::vector<cli::NamedText> files;
    for (const auto& [name, text] : results) files.push_back({name, text});
    return cli::report_page(files);
  });
  module.def("predict", &predict, nb::arg("indptr"), nb::arg("indices"), nb::arg("nodes"),
             nb::arg("ranks_per_node"), nb::arg("threads"), nb::arg("network"), nb::arg("profile"),
             nb::arg("profile_name"), nb::arg("memory_bandwidth"), nb::arg("partition"), nb::arg("method"),
             nb::arg("preconditioner"));
}

}  // namespace ayatori::python
