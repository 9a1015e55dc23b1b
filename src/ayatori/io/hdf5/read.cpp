#ifdef AYATORI_HAS_HDF5

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/binary/dense.hpp"
#include "ayatori/io/binary/pointers.hpp"
#include "ayatori/io/binary/variable.hpp"
#include "ayatori/io/hdf5.hpp"
#include "ayatori/io/hdf5/file.hpp"

namespace ayatori::io {

namespace {

using hdf5::File;
using hdf5::Numbers;

/// A way to lay a sparse matrix out in a group: what its arrays are called.
struct Layout {
  std::string_view pointers;
  std::string_view indices;
  std::string_view values;
  bool has_spare_room;  ///< there may be more indices and values than entries
};

constexpr Layout compressed_layout{"indptr", "indices", "data", false};
constexpr Layout matlab_layout{"jc", "ir", "data", true};
constexpr std::string_view matlab_rows = "MATLAB_sparse";
constexpr std::string_view matlab_class = "MATLAB_class";

/// A matrix of a file, and how it is laid out.
struct Item {
  Variable variable;
  const Layout* layout = nullptr;  ///< null: an array
  bool by_columns = false;         ///< that are compressed, or, of an array, stored one after the other
};

/// The name of what is in a group.
std::string inside(const std::string& group, std::string_view name) {
  return group == "/" ? std::string(name) : fmt::format("{}/{}", group, name);
}

/// Rows and columns, by an attribute or an array.
std::array<std::int64_t, 2> read_shape(const File& file, const std::string& group) {
  std::vector<std::int64_t> shape = file.integers(group, "shape");
  if (shape.empty()) shape = file.integers(group, "h5sparse_shape");
  if (shape.empty() && file.has(inside(group, "shape"))) {
    Numbers numbers(file, inside(group, "shape"));
    shape.resize(static_cast<std::size_t>(std::min<std::int64_t>(numbers.count(), 3)));
    numbers.integers().integers(shape);
  }
  if (shape.size() != 2)
    throw InputError(fmt::format("{}, {}: the matrix has no shape of two integers, as attribute or array",
                                 file.source().name(), group));
  return {shape[0], shape[1]};
}

/// Whether columns are compressed. Where nothing is said, what fits counts; both fit a square one, which is
/// then taken for rows, as SciPy's are, unless 10x wrote it.
bool columns_are_compressed(const File& file, const std::string& group, std::int64_t rows,
                            std::int64_t columns) {
  std::string form;
  for (const char* attribute : {"encoding-type", "h5sparse_format", "format"})
    if (form.empty()) form = file.text(group, attribute);
  if (form.empty() && file.has(inside(group, "format"))) form = file.text(inside(group, "format"));
  if (form.starts_with("csr")) return false;
  if (form.starts_with("csc")) return true;
  if (!form.empty())
    throw InputError(
        fmt::format("{}, {}: the matrix is in the form {}, which is not read: save it anew, A.tocsr()",
                    file.source().name(), group, in_quotes(form)));
  if (rows == columns) return file.has(inside(group, "barcodes"));
  return Numbers(file, inside(group, compressed_layout.pointers)).count() == columns + 1;
}

std::optional<Item> examine_group(const File& file, const std::string& name) {
  const auto has = [&](std::string_view part) { return file.has(inside(name, part)); };
  if (file.has_attribute(name, std::string(matlab_rows))) {
    const auto rows = file.integers(name, std::string(matlab_rows));
    if (rows.size() != 1)
      throw InputError(fmt::format("{}, {}: {} is no integer", file.source().name(), name, matlab_rows));
    const std::int64_t columns = Numbers(file, inside(name, matlab_layout.pointers)).count() - 1;
    const bool is_complex =
        has(matlab_layout.values) && Numbers(file, inside(name, matlab_layout.values)).facts().is_complex;
    return Item{{name, rows[0], columns, true, is_complex}, &matlab_layout, true};
  }
  if (!has(compressed_layout.pointers) || !has(compressed_layout.indices) || !has(compressed_layout.values))
    return std::nullopt;
  const auto [rows, columns] = read_shape(file, name);
  const bool is_complex = Numbers(file, inside(name, compressed_layout.values)).facts().is_complex;
  return Item{{name, rows, columns, true, is_complex},
              &compressed_layout,
              columns_are_compressed(file, name, rows, columns)};
}

/// MATLAB has the elements of a column beside each other, and texts and the sizes of what is empty as arrays.
std::optional<Item> examine_array(const File& file, const std::string& name) {
  const auto facts = file.array(name);
  if (!facts || facts->count == 0) return std::nullopt;
  const std::string of_matlab = file.text(name, std::string(matlab_class));
  if (of_matlab == "char" || file.has_attribute(name, "MATLAB_empty")) return std::nullopt;
  std::array extents{facts->extents[0], facts->extents.size() == 2 ? facts->extents[1] : 1};
  const bool by_columns = !of_matlab.empty() && facts->extents.size() == 2;
  if (by_columns) std::swap(extents[0], extents[1]);
  return Item{{name, extents[0], extents[1], false, facts->is_complex}, nullptr, by_columns};
}

/// The matrices of a file, but what these and cells of MATLAB are made of. Only that of this name is looked
/// at, if there is one: others may be damaged.
std::vector<Item> list_items(const File& file, const std::string& name) {
  const auto objects = file.objects();
  const bool by_name =
      std::ranges::any_of(objects, [&](const hdf5::Object& object) { return object.name == name; });
  std::vector<Item> items;
  std::vector<std::string> parts;  // parts of the sparse matrices so far
  for (const auto& object : objects) {
    if (by_name && object.name != name) continue;
    if (object.name.starts_with('#') || std::ranges::find(parts, object.name) != parts.end()) continue;
    auto item = object.is_group ? examine_group(file, object.name) : examine_array(file, object.name);
    if (!item) continue;
    if (item->layout != nullptr) {
      for (const std::string_view part :
           {item->layout->pointers, item->layout->indices, item->layout->values, std::string_view("shape")})
        parts.push_back(inside(object.name, part));
    }
    items.push_back(std::move(*item));
  }
  if (items.empty() && !by_name)
    throw InputError(file.source().name() +
                     ": no matrix in this HDF5 file: an array, a group with data, indices, indptr and shape, "
                     "or MATLAB's");
  return items;
}

/// What the user calls one of the matrices, as objects are called.
std::string without_slashes(std::string name) {
  if (name == "/") return name;
  while (name.ends_with('/')) name.pop_back();
  name.erase(0, name.find_first_not_of('/'));
  return name;
}

/// The item that choose(source, variables, name) takes.
template <class Choose>
Item choose_item(const File& file, const std::string& name, Choose&& choose) {
  const std::string known = without_slashes(name);
  const auto items = list_items(file, known);
  std::vector<Variable> variables;
  for (const Item& item : items) variables.push_back(item.variable);
  const Variable chosen = choose(file.source(), variables, known);
  return *std::ranges::find(items, chosen.name, [](const Item& item) { return item.variable.name; });
}

/// Where the compressed rows or columns of a range start.
PointerSpan read_starts(const File& file, const Item& item, std::int64_t lines, std::int64_t entries,
                        Range mine) {
  Numbers pointers(file, inside(item.variable.name, item.layout->pointers));
  if (pointers.count() != lines + 1)
    throw InputError(
        fmt::format("{}: {} numbers, where {} are needed", pointers.name(), pointers.count(), lines + 1));
  PointerSpan span{mine.begin, {}, 0};
  pointers.integers().for_each_in<std::int64_t>({mine.begin, mine.end + 1}, [&](std::int64_t start) {
    const std::int64_t j = mine.begin + std::ssize(span.starts);
    const std::int64_t previous = span.starts.empty() ? 0 : span.starts.back();
    if (start < previous || start > entries || (j == 0 && start != 0) ||
        (j == lines && start != entries && !item.layout->has_spare_room))
      throw pointer_error(pointers.name(), j, start, entries);
    span.starts.push_back(start);
  });
  span.end = span.starts.back();
  return span;
}

/// The entries of this rank's range of compressed rows or columns.
Array<sparse::Entry> read_sparse(const File& file, const Item& item, int ranks, int rank) {
  const Variable& matrix = item.variable;
  const std::int64_t lines = item.by_columns ? matrix.columns : matrix.rows;
  const std::string path = inside(matrix.name, item.layout->values);
  Array<sparse::Entry> result;
  if (item.layout == &matlab_layout && !file.has(path)) return result;  // nothing but zeros
  Numbers values(file, path);
  Numbers indices(file, inside(matrix.name, item.layout->indices));
  if (indices.count() != values.count())
    throw InputError(fmt::format("{}: {} numbers, where there are {} entries", indices.name(),
                                 indices.count(), values.count()));
  const PointerSpan span = read_starts(file, item, lines, values.count(), split_evenly(lines, ranks, rank));
  const Range share{span.starts.front(), span.end};
  std::size_t at = 0;
  std::int64_t k = share.begin;
  NumberStream minor = indices.integers();
  read_indices(minor, item.by_columns ? matrix.rows : matrix.columns, share, [&](std::int64_t index) {
    const std::int64_t line = span.row_of(k++, at);
    result.push_back(item.by_columns ? sparse::Entry{index, line, 0.0} : sparse::Entry{line, index, 0.0});
  });
  if (matrix.is_complex) split_into_parts(result);
  at = 0;
  values.reals().for_each_in<double>(share, [&](double value) { result[at++].value = value; });
  return result;
}

/// The entries of a share of an array.
Array<sparse::Entry> read_array(const File& file, const Item& item, int ranks, int rank) {
  Numbers array(file, item.variable.name);
  NumberStream numbers = array.reals();
  return read_dense_share(numbers, {item.variable.rows, item.variable.columns, item.by_columns},
                          split_evenly(array.count(), ranks, rank));
}

}  // namespace

bool looks_like_hdf5(std::string_view first_bytes) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  constexpr std::size_t behind_text = 512;
  return first_bytes.starts_with(signature) || first_bytes.starts_with("MATLAB 7.3") ||
         (first_bytes.size() > behind_text && first_bytes.substr(behind_text).starts_with(signature));
}

Vectors find_hdf5_vectors(const ByteSource& source, const std::string& name) {
  return vectors_of(choose_item(File(source), name, choose_vectors).variable);
}

bool hdf5_is_complex(const ByteSource& source, const std::string& name) {
  return choose_item(File(source), name, choose_matrix).variable.is_complex;
}

LoadedMatrix read_hdf5(const comm::Comm& comm, const ByteSource& source, const std::string& name) {
  Variable matrix;
  std::vector<Array<sparse::Entry>> batches(1);
  comm::agree(comm, [&] {
    const File file(source);
    const Item item = choose_item(file, name, choose_matrix);
    matrix = item.variable;
    if (matrix.rows <= 0 || matrix.columns <= 0)
      throw InputError(fmt::format("{}, {}: the matrix is empty ({} x {})", source.name(), matrix.name,
                                   matrix.rows, matrix.columns));
    check_sizes(source, matrix);
    const auto read = item.layout != nullptr ? read_sparse : read_array;
    batches[0] = read(file, item, comm.size(), comm.rank());
  });
  return {assemble_evenly(comm, matrix.rows, matrix.columns, matrix.is_complex, std::move(batches)),
          {source.name(), "hdf5", false, source.size(), matrix.is_complex}};
}

}  // namespace ayatori::io

#endif  // AYATORI_HAS_HDF5
