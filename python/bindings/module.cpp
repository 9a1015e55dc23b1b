#include <nanobind/nanobind.h>

#include "ayatori/base/error.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/comm/environment.hpp"
#include "python/bindings/runtime.hpp"

namespace {

namespace nb = nanobind;

/// The library's errors as Python's: wrong input is a ValueError, a machine that fails an OSError, a defect
/// of ours a RuntimeError.
void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const ayatori::Error& error) {
    PyObject* type = PyExc_RuntimeError;
    if (error.kind() == ayatori::ErrorKind::bad_input) type = PyExc_ValueError;
    if (error.kind() == ayatori::ErrorKind::environment) type = PyExc_OSError;
    PyErr_SetString(type, error.what());
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
    return ayatori::comm::mpi_version();
  });
  module.def("end_mpi", &ayatori::python::end_mpi);
  ayatori::python::bind_solve(module);
  ayatori::python::bind_iterate(module);
  ayatori::python::bind_eigen(module);
  ayatori::python::bind_machine(module);
}
