#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/forecast/scaling.hpp"
#include "ayatori/machine/measure.hpp"
#include "ayatori/session/report/page.hpp"
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

/// The fields of schema ayatori.predict/1 that are computed.
nb::object predict(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& start,
                   const nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& column,
                   const std::vector<int>& nodes, int ranks_per_node, int threads, const std::string& network,
                   const std::string& profile_text, const std::string& profile_name, double memory_bandwidth,
                   const std::string& partition, const std::string& method,
                   const std::string& preconditioner) {
  std::string json;
  {
    const CoreCall call;
    const auto& way = find_named(forecast::partitions(), partition, "partition");
    const auto& work = find_named(forecast::iteration_works(), method, "method");
    const auto& applied = find_named(forecast::vector_preconditioners(), preconditioner, "preconditioner");
    const auto profile = machine::profile_from_json(profile_text, profile_name);
    const auto routes = network.empty() ? nullptr : network::make_network(network, nodes.back());
    const auto rate = memory_bandwidth > 0 ? std::optional(memory_bandwidth) : std::nullopt;
    std::vector<forecast::JobMachine> machines;
    for (const int count : nodes)
      machines.emplace_back(profile, profile_name, forecast::JobShape{count, ranks_per_node, threads}, rate);
    const auto pattern = pattern_of(span_of(start), span_of(column));
    json = forecast::to_json(forecast::predict_scaling(pattern, way, work, applied, machines, routes.get()))
               .dump();
  }
  return nb::module_::import_("json").attr("loads")(json);
}

}  // namespace

void bind_machine(nb::module_& module) {
  module.def("probe", &probe, nb::arg("comm"), nb::arg("quick"), nb::arg("seconds"), nb::arg("threads"),
             nb::arg("progress").none());
  module.def("default_profile_path", &machine::default_profile_path);
  module.def("why_not_replaced", &machine::why_not_replaced);
  module.def("load_profile", [](const std::string& name) { return to_json(machine::load_profile(name)); });
  module.def("report_page", [](const std::vector<std::pair<std::string, std::string>>& results) {
    std::vector<session::NamedText> files;
    for (const auto& [name, text] : results) files.push_back({name, text});
    return session::report_page(files);
  });
  module.def("predict", &predict, nb::arg("indptr"), nb::arg("indices"), nb::arg("nodes"),
             nb::arg("ranks_per_node"), nb::arg("threads"), nb::arg("network"), nb::arg("profile"),
             nb::arg("profile_name"), nb::arg("memory_bandwidth"), nb::arg("partition"), nb::arg("method"),
             nb::arg("preconditioner"));
}

}  // namespace ayatori::python
