#include "python/bindings/preconditioner.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::python {

void bind_preconditioner(nb::module_& module) {
  nb::class_<Preconditioner>(module, "Preconditioner")
      .def(nb::init<const InputIndices&, const InputIndices&, const InputVector&, std::int64_t,
                    std::uintptr_t, Options>(),
           nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("columns"), nb::arg("comm"),
           nb::arg("options"))
      .def("apply", &Preconditioner::apply, nb::arg("r"), nb::arg("z").noconvert())
      .def("agree", &Preconditioner::agree, nb::arg("complaint"))
      .def_prop_ro("ranks", &Preconditioner::ranks)
      .def_prop_ro("rows", &Preconditioner::rows)
      .def_prop_ro("local_rows", &Preconditioner::local_rows)
      .def_prop_ro("name", &Preconditioner::name)
      .def_prop_ro("why", &Preconditioner::why)
      .def_prop_ro("is_symmetric", &Preconditioner::is_symmetric);
}

}  // namespace ayatori::python
