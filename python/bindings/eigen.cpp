#include "ayatori/session/eigen.hpp"
#include "ayatori/session/call_threads.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ayatori/base/error.hpp"
#include "python/bindings/options.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using DenseMatrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

/// What Python asks of a solver of eigenvalues.
struct EigenOptions {
  session::EigenRequest request;

  void set(const std::string& name, const nb::object& value) {
    set_option(session::eigen_options(), request, name, value);
  }
  void choose(std::int64_t count, bool largest) {
    using Kind = eigen::Selection::Kind;
    request.selection = {.kind = largest ? Kind::largest : Kind::smallest, .count = count};
  }
  void choose_range(double lower, double upper) {
    request.selection = {.kind = eigen::Selection::Kind::range, .lower = lower, .upper = upper};
  }
};

/// (values, vectors as an n x pairs array in column-major order, whether they are good, the report as JSON).
nb::tuple eigh(session::EigenMatrix matrix, const EigenOptions& options) {
  std::optional<session::EigenRun> run;
  Interruption interruption;
  {
    const CoreCall call;
    const auto comm = communicator(0);
    const session::CallThreads threads(comm, options.request.threads);
    const auto session = session::begin_session(comm, threads.threads(), {}, options.request.collectives);
    if (matrix.loaded) matrix.rows = matrix.loaded->block.global_rows;
    run = session::solve_eigen(session, std::move(matrix), {}, options.request,
                               [&] { return interruption.wants_stop(); });
  }
  interruption.rethrow();
  const auto values = run->values();
  return nb::make_tuple(to_numpy(std::vector<double>(values.begin(), values.end())),
                        to_numpy(Array<double>(run->vectors().values)), run->passed(), to_json(*run).dump());
}

nb::tuple eigh_of_dense(const DenseMatrix& matrix, const EigenOptions& options) {
  if (matrix.shape(0) != matrix.shape(1))
    throw InputError(
        fmt::format("{} x {}, but eigenvalues want a square matrix", matrix.shape(0), matrix.shape(1)));
  const double* const data = matrix.data();
  const std::int64_t down = matrix.stride(0);
  const std::int64_t across = matrix.stride(1);
  return eigh({.name = "a",
               .rows = static_cast<std::int64_t>(matrix.shape(0)),
               .element = [=](std::int64_t i, std::int64_t j) { return data[i * down + j * across]; }},
              options);
}

nb::tuple eigh_of_sparse(const InputIndices& start, const InputIndices& column, const InputVector& value,
                         std::int64_t columns, const EigenOptions& options) {
  std::optional<io::LoadedMatrix> loaded;
  {
    const CoreCall call;
    loaded = {make_rows(communicator(0), start, column, value, columns), {.name = "a", .format = "memory"}};
  }
  return eigh({.name = "a", .loaded = std::move(loaded)}, options);
}

}  // namespace

void bind_eigen(nb::module_& module) {
  nb::class_<EigenOptions>(module, "EigenOptions")
      .def(nb::init<>())
      .def("set", &EigenOptions::set, nb::arg("name"), nb::arg("value"))
      .def("choose", &EigenOptions::choose, nb::arg("count"), nb::arg("largest"))
      .def("choose_range", &EigenOptions::choose_range, nb::arg("lower"), nb::arg("upper"))
      .def_prop_rw(
          "vectors", [](const EigenOptions& options) { return options.request.vectors; },
          [](EigenOptions& options, bool vectors) { options.request.vectors = vectors; });
  module.def("eigen_options", [] { return table_of(session::eigen_options()); });
  module.def("eigh", &eigh_of_dense, nb::arg("a"), nb::arg("options"));
  module.def("eigh", &eigh_of_sparse, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
             nb::arg("columns"), nb::arg("options"));
}

}  // namespace ayatori::python
