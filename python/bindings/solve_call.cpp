#include "python/bindings/solve_call.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "python/bindings/options.hpp"

namespace ayatori::python {

void Options::set(const std::string& name, const nb::object& value) {
  set_option(session::solve_options(), request, name, value);
}

void agree_on(const comm::Comm& comm, const std::string& complaint) {
  comm::agree(comm, [&] {
    if (!complaint.empty()) throw InputError(complaint);
  });
}

session::ProgressLine progress_line(bool speaks, double rtol) {
  const auto write = [](const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  };
  return session::ProgressLine(speaks ? session::ProgressLine::Write(write) : nullptr, rtol);
}

session::SolveHooks make_hooks(const Progress& progress, bool shows_line, session::ProgressLine& line,
                               Interruption& interruption) {
  return {.progress =
              [&, shows_line](const tuning::Choice& choice, std::int64_t iteration, double residual) {
                if (shows_line) line.show(describe(choice), iteration, residual);
                if (progress) interruption.guard([&] { progress(describe(choice), iteration, residual); });
              },
          .event = {},
          .wants_stop = [&] { return interruption.wants_stop(); },
          .note =
              [&](const std::string& text) {
                interruption.guard([&] {
                  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw nb::python_error();
                });
              },
          .uninterrupted = {}};
}

void bind_solve_call(nb::module_& module) {
  nb::class_<Options>(module, "Options")
      .def(nb::init<>())
      .def("set", &Options::set, nb::arg("name"), nb::arg("value"))
      .def_rw("profile", &Options::profile)
      .def_rw("profile_name", &Options::profile_name)
      .def_prop_rw(
          "is_complex", [](const Options& options) { return options.known.is_complex; },
          [](Options& options, bool is_complex) { options.known.is_complex = is_complex; })
      .def_prop_rw(
          "coordinates", [](const Options& options) { return options.known.coordinates; },
          [](Options& options, std::vector<double> values) { options.known.coordinates = std::move(values); })
      .def_prop_rw(
          "fields", [](const Options& options) { return options.known.fields; },
          [](Options& options, std::vector<double> values) { options.known.fields = std::move(values); })
      .def_prop_rw(
          "near_null_space", [](const Options& options) { return options.known.near_null_space; },
          [](Options& options, std::vector<double> values) {
            options.known.near_null_space = std::move(values);
          });
  module.def("solve_options", [] { return table_of(session::solve_options()); });
  module.def(
      "most_at_once", [](const std::string& block) { return session::most_at_once(block); },
      nb::arg("block"));
  module.def(
      "agree",
      [](std::uintptr_t comm, const std::string& complaint) {
        const CoreCall call;
        agree_on(communicator(comm), complaint);
      },
      nb::arg("comm"), nb::arg("complaint"));
}

}  // namespace ayatori::python
