#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/network/simgrid_platform.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/session/map/map.hpp"
#include "ayatori/session/map/traffic.hpp"
#include "ayatori/session/predict/predict.hpp"
#include "ayatori/session/probe/measure_machine.hpp"
#include "ayatori/session/probe/probe.hpp"
#include "ayatori/session/report/page.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

/// The profile of this machine as JSON text, which is also written where the request says so.
std::string probe(std::uintptr_t comm_address, const session::ProbeRequest& request,
                  const std::function<void(const std::string&, double)>& progress) {
  Interruption interruption;
  std::string profile;
  {
    const CoreCall call;
    const auto comm = communicator(comm_address);
    const bool writes = comm.rank() == 0 && !request.output.empty();
    comm::agree(comm, [&] {
      check(request);
      if (writes) check_writable(request.output);
    });
    const session::CallThreads thread_count(comm, request.threads);
    profile =
        machine::to_json(session::measure_machine(comm, measure_options(request),
                                                  {.progress =
                                                       [&](const std::string& name, double share) {
                                                         if (progress)
                                                           interruption.guard([&] { progress(name, share); });
                                                       },
                                                   .wants_stop = [&] { return interruption.wants_stop(); }}));
    comm::agree(comm, [&] {
      if (writes) write_file(request.output, profile);
    });
  }
  interruption.rethrow();
  return profile;
}

using RowPointers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

forecast::Pattern pattern_of(const RowPointers& row_pointers, const Columns& columns) {
  const auto start = span_of(row_pointers);
  const auto column = span_of(columns);
  const auto rows = static_cast<std::int64_t>(start.size()) - 1;
  if (rows < 1) throw InputError("the matrix has no rows");
  const auto outside = [&](std::int32_t j) { return j < 0 || j >= rows; };
  if (start.front() != 0 || start.back() != static_cast<std::int64_t>(column.size()) ||
      !std::ranges::is_sorted(start) || std::ranges::any_of(column, outside))
    throw InputError("these are not the arrays of a square matrix of compressed sparse rows");
  return {{start.begin(), start.end()}, {column.begin(), column.end()}};
}

/// (the result as JSON, the words for people).
nb::tuple predict(const session::PatternSource& matrix, const session::PredictRequest& request,
                  const std::string& profile) {
  std::string json;
  std::string text;
  {
    const CoreCall call;
    const auto run = session::predict(matrix, machine::profile_from_json(profile, request.profile), request);
    json = to_json(run).dump();
    text = summary(run);
  }
  return nb::make_tuple(json, text);
}

nb::tuple predict_for_source(const std::string& source, const session::PredictRequest& request,
                             const std::string& profile) {
  return predict({source, [&] { return session::read_pattern(source); }}, request, profile);
}

nb::tuple predict_for_rows(const RowPointers& start, const Columns& column,
                           const session::PredictRequest& request, const std::string& profile) {
  return predict({"memory", [&] { return pattern_of(start, column); }}, request, profile);
}

/// The content of the file that `ayatori map` writes for the option of this name.
std::string map_file(const std::string& option, const session::MapQuestion& question,
                     const session::MapRun& run) {
  if (option == "svg") return picture(question, run);
  if (option == "graph_output") return session::matrix_market(question.graph);
  if (option == "schedules") return schedules_json(question, run).dump(1) + "\n";
  if (option == "messages") return messages_json(question, run).dump() + "\n";
  return network::simgrid_platform(*question.network, question.model, question.nodes,
                                   question.ranks_per_node);
}

/// (the result as JSON, the words for people, the launcher's file, the content of the files `wanted`).
nb::tuple place(const session::MapRequest& request, const std::vector<std::string>& wanted,
                const session::MatrixTraffic& matrix) {
  std::string json;
  std::string text;
  std::string file;
  std::vector<std::string> others;
  {
    const CoreCall call;
    const auto question = session::read_question(request, matrix);
    const auto run = place_ranks(question);
    json = to_json(question, run).dump();
    text = summary(question, run);
    if (!request.launcher.empty()) file = launch_file(question, run);
    for (const std::string& option : wanted) others.push_back(map_file(option, question, run));
  }
  return nb::make_tuple(json, text, file, others);
}

nb::tuple place_by_files(const session::MapRequest& request, const std::vector<std::string>& wanted) {
  return place(request, wanted, {});
}

nb::tuple place_for_source(const std::string& source, const session::MapRequest& request,
                           const std::vector<std::string>& wanted) {
  return place(request, wanted, [&](const std::string& partition, int ranks) {
    return session::matrix_traffic(source, partition, ranks);
  });
}

nb::tuple place_for_rows(const RowPointers& start, const Columns& column, const session::MapRequest& request,
                         const std::vector<std::string>& wanted) {
  return place(request, wanted, [&](const std::string& partition, int ranks) {
    return session::matrix_traffic(pattern_of(start, column), partition, ranks);
  });
}

}  // namespace

void bind_machine(nb::module_& module) {
  bind_request(module, "ProbeRequest", "probe_options", session::probe_options);
  bind_request(module, "PredictRequest", "predict_options", session::predict_options);
  bind_request(module, "MapRequest", "map_options", session::map_options);
  module.def("probe", &probe, nb::arg("comm"), nb::arg("request"), nb::arg("progress").none());
  module.def("profile_summary", [](const std::string& profile) {
    return session::summary(machine::profile_from_json(profile, "the profile"));
  });
  module.def("comparison", [](const std::string& one, const std::string& name, const std::string& other,
                              const std::string& other_name) {
    return session::comparison(machine::profile_from_json(one, name), name,
                               machine::profile_from_json(other, other_name), other_name);
  });
  module.def("default_profile_path", &machine::default_profile_path);
  module.def("why_not_replaced", &machine::why_not_replaced);
  module.def("load_profile", [](const std::string& name) { return to_json(machine::load_profile(name)); });
  module.def("report_page", [](const std::vector<std::pair<std::string, std::string>>& results) {
    std::vector<session::NamedText> files;
    for (const auto& [name, text] : results) files.push_back({name, text});
    return session::report_page(files);
  });
  module.def("predict", &predict_for_source, nb::arg("source"), nb::arg("request"), nb::arg("profile"));
  module.def("predict", &predict_for_rows, nb::arg("indptr"), nb::arg("indices"), nb::arg("request"),
             nb::arg("profile"));
  module.def("place", &place_by_files, nb::arg("request"), nb::arg("wanted"));
  module.def("place", &place_for_source, nb::arg("source"), nb::arg("request"), nb::arg("wanted"));
  module.def("place", &place_for_rows, nb::arg("indptr"), nb::arg("indices"), nb::arg("request"),
             nb::arg("wanted"));
}

}  // namespace ayatori::python
