#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "python/bindings/rows.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

/// A file's or generator's matrix as the arrays of compressed sparse rows, with its number of columns, and
/// whether they are of the real form of a complex matrix.
auto load(const std::string& source) {
  io::LoadedMatrix loaded;
  {
    const CoreCall call;
    loaded = io::load_matrix(communicator(0), source);
  }
  sparse::RowBlock& block = loaded.block;
  const auto columns = block.global_columns;
  return nb::make_tuple(to_numpy(std::move(block.row_start)), to_numpy(std::move(block.column)),
                        to_numpy(std::move(block.value)), columns, loaded.facts.is_complex);
}

/// What comes of compressed sparse rows, of the real form of a complex matrix with `is_complex`.
void save_matrix(const std::string& path, const InputIndices& start, const InputIndices& column,
                 const InputVector& value, std::int64_t columns, bool is_complex) {
  const CoreCall call;
  const auto self = communicator(0);
  io::save_matrix(self, path, make_rows(self, start, column, value, columns), is_complex);
}

/// With `is_complex` of pairs.
void save_vector(const std::string& path, const InputVector& values, bool is_complex) {
  const CoreCall call;
  const auto rows = sparse::RowPartition::even(static_cast<std::int64_t>(values.size()), 1);
  io::save_vector(communicator(0), path, span_of(values), rows, is_complex);
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("load", &load, nb::arg("source"));
  module.def("save_matrix", &save_matrix, nb::arg("path"), nb::arg("indptr"), nb::arg("indices"),
             nb::arg("data"), nb::arg("columns"), nb::arg("is_complex"));
  module.def("save_vector", &save_vector, nb::arg("path"), nb::arg("values"), nb::arg("is_complex"));
  module.def(
      "write_file",
      [](const std::string& path, const nb::bytes& content) {
        write_file(path, std::string_view(content.c_str(), content.size()));
      },
      nb::arg("path"), nb::arg("content"));
}

}  // namespace ayatori::python
