#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/application.hpp"
#include "ayatori/session/build_info.hpp"
#include "ayatori/session/eigen/eigen_request.hpp"
#include "ayatori/session/map/map_request.hpp"
#include "ayatori/session/predict/predict_request.hpp"
#include "ayatori/session/probe/probe.hpp"
#include "ayatori/session/solve/solve_request.hpp"
#include "python/bindings/runtime.hpp"

namespace {

namespace nb = nanobind;

/// Options by their names in Python: those of the command line without dashes.
template <class Request>
void put_into_words_of_python(std::span<const ayatori::session::Option<Request>> table, std::string& text) {
  rename_options(table, text, [](const auto& option) {
    std::string keyword = option.name;
    std::ranges::replace(keyword, '-', '_');
    return keyword;
  });
}

/// What only the command line has as options, with its name in Python.
void put_arguments_into_words_of_python(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"--generalized", "B"},
                                                                     {"--predict", "predict"},
                                                                     {"--smallest", "smallest"},
                                                                     {"--largest", "largest"},
                                                                     {"--range", "subset_by_value"},
                                                                     {"--values-only", "eigvals_only"},
                                                                     {"--least-squares", "least squares"}};
  for (const auto& [flag, name] : names)
    for (auto at = text.find(flag); at != std::string::npos; at = text.find(flag, at + name.size()))
      text.replace(at, flag.size(), name);
}

std::string in_words_of_python(std::string text) {
  put_arguments_into_words_of_python(text);
  put_into_words_of_python(ayatori::session::solve_options(), text);
  put_into_words_of_python(ayatori::session::eigen_options(), text);
  put_into_words_of_python(ayatori::session::probe_options(), text);
  put_into_words_of_python(ayatori::session::predict_options(), text);
  put_into_words_of_python(ayatori::session::map_options(), text);
  return text;
}

/// The library's errors as Python's: wrong input is a ValueError, a machine that fails an OSError, a defect
/// of ours a RuntimeError.
void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const ayatori::Error& error) {
    PyObject* type = PyExc_RuntimeError;
    if (error.kind() == ayatori::ErrorKind::bad_input) type = PyExc_ValueError;
    if (error.kind() == ayatori::ErrorKind::environment) type = PyExc_OSError;
    PyErr_SetString(type, in_words_of_python(error.what()).c_str());
  }
}

}  // namespace

// NOLINTNEXTLINE(modernize-avoid-c-arrays, misc-use-anonymous-namespace)
NB_MODULE(_core, module) {
  nb::register_exception_translator(translate);
  nb::set_leak_warnings(false);  // what a program still holds at its end is no fault
  module.attr("version") = ayatori::version;
  module.def("mpi_version", [] {
    ayatori::python::start_mpi();
    ayatori::comm::check_application_mpi();
    return ayatori::comm::mpi_version();
  });
  module.def("build_info", [] {
    ayatori::python::start_mpi();
    return to_json(ayatori::session::build_info()).dump();
  });
  module.def("end_mpi", &ayatori::python::end_mpi);
  ayatori::python::bind_solve_call(module);
  ayatori::python::bind_solve(module);
  ayatori::python::bind_preconditioner(module);
  ayatori::python::bind_operators(module);
  ayatori::python::bind_iterate(module);
  ayatori::python::bind_factors(module);
  ayatori::python::bind_eigen(module);
  ayatori::python::bind_krylov_eigen(module);
  ayatori::python::bind_least_squares(module);
  ayatori::python::bind_machine(module);
  ayatori::python::bind_knowledge(module);
  ayatori::python::bind_files(module);
}
