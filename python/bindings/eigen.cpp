#include "ayatori/session/eigen.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/session/call_threads.hpp"
#include "ayatori/session/eigen/eigen_scaling.hpp"
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

eigen::ProblemKind kind_of(bool is_generalized) {
  return is_generalized ? eigen::ProblemKind::generalized : eigen::ProblemKind::standard;
}

/// Looks into `array` as long as it lives.
session::EigenMatrix dense_matrix(const DenseMatrix& array, const std::string& name) {
  if (array.shape(0) != array.shape(1))
    throw InputError(
        fmt::format("{} is {} x {}, but has to be square", name, array.shape(0), array.shape(1)));
  const double* const data = array.data();
  const std::int64_t down = array.stride(0);
  const std::int64_t across = array.stride(1);
  return {.name = name,
          .rows = static_cast<std::int64_t>(array.shape(0)),
          .element = [=](std::int64_t i, std::int64_t j) { return data[i * down + j * across]; }};
}

session::EigenMatrix sparse_matrix(const InputIndices& start, const InputIndices& column,
                                   const InputVector& value, std::int64_t columns, const std::string& name) {
  const CoreCall call;
  session::EigenMatrix matrix{.name = name};
  matrix.loaded = {make_rows(communicator(0), start, column, value, columns),
                   {.name = name, .format = "memory"}};
  matrix.rows = matrix.loaded->block.global_rows;
  return matrix;
}

/// (values, vectors as an n x pairs array in column-major order, whether they are good, the report as JSON).
/// Uses up the matrices.
nb::tuple eigh(session::EigenMatrix& a, session::EigenMatrix* b, const EigenOptions& options) {
  std::optional<session::EigenRun> run;
  Interruption interruption;
  {
    const CoreCall call;
    const auto comm = communicator(0);
    const session::CallThreads threads(comm, options.request.threads);
    const auto session = session::begin_session(comm, threads.threads(), {}, options.request.collectives);
    std::optional<session::EigenMatrix> second;
    if (b != nullptr) second = std::move(*b);
    run = session::solve_eigen(session, std::move(a), std::move(second), options.request,
                               [&] { return interruption.wants_stop(); });
  }
  interruption.rethrow();
  const auto values = run->values();
  return nb::make_tuple(to_numpy(std::vector<double>(values.begin(), values.end())),
                        to_numpy(Array<double>(run->vectors().values)), run->passed(), to_json(*run).dump());
}

/// (the forecast of the dense solver on such jobs as JSON, the words for people).
nb::tuple predict(std::int64_t rows, bool is_generalized, const EigenOptions& options,
                  const std::string& ranks, int ranks_per_node) {
  std::string json;
  std::string text;
  {
    const CoreCall call;
    const session::EigenJobs jobs{.ranks = ranks, .ranks_per_node = ranks_per_node};
    const auto& request = options.request;
    check(jobs, request);
    check(request, kind_of(is_generalized));
    check(dense_options(request), rows, 1);
    const auto question = question_of(request, rows, kind_of(is_generalized), std::max(1, request.threads));
    const auto scaling = session::predict_eigen(communicator(0), "A", question, request, jobs);
    json = to_json(*scaling).dump();
    text = summary(*scaling);
  }
  return nb::make_tuple(json, text);
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
  nb::class_<session::EigenMatrix>(module, "EigenMatrix");
  module.def("eigen_matrix", &dense_matrix, nb::arg("array").noconvert(), nb::arg("name"),
             nb::keep_alive<0, 1>());
  module.def("eigen_matrix", &sparse_matrix, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
             nb::arg("columns"), nb::arg("name"));
  module.def("eigh", &eigh, nb::arg("a"), nb::arg("b").none(), nb::arg("options"));
  module.def("predict_eigen", &predict, nb::arg("rows"), nb::arg("is_generalized"), nb::arg("options"),
             nb::arg("ranks"), nb::arg("ranks_per_node"));
}

}  // namespace ayatori::python
