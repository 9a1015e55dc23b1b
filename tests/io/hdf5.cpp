#include "ayatori/io/hdf5.hpp"

#include <hdf5.h>

#include <complex>
#include <limits>

#include "ayatori/io/compression/codec.hpp"
#include "complex_matrix.hpp"
#include "dense.hpp"
#include "error_text.hpp"
#include "temporary_folder.hpp"
#include "world.hpp"

namespace ayatori::io {
namespace {

using Whole = std::vector<std::int64_t>;
using Real = std::vector<double>;

const Dense expected = dense_rows({{2, 0, -1}, {0, 5, 0}, {0, 7, 0}});
const Dense transposed = dense_rows({{2, 0, 0}, {0, 5, 7}, {-1, 0, 0}});

/// A file that is made in memory. Steps that fail are printed by the library.
class Writer {
 public:
  explicit Writer(const std::string& before = "") : before_(before) {
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(list, 1 << 16, false);
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, before.size());
    const std::string name = "in memory, " + std::to_string(reinterpret_cast<std::uintptr_t>(this));
    file_ = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation, list);
    H5Pclose(creation);
    H5Pclose(list);
  }
  ~Writer() { H5Fclose(file_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& group(const std::string& name) {
    const hid_t group = H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    return *this;
  }
  /// `stored` is the type in the file. With `chunk`, deflated in pieces of this many rows.
  template <class T>
  Writer& array(const std::string& name, const std::vector<T>& values, const std::vector<hsize_t>& extents,
                hid_t stored, hsize_t chunk = 0) {
    const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk > 0) {
      std::vector<hsize_t> pieces(extents.size(), 2);
      pieces[0] = chunk;
      H5Pset_chunk(list, static_cast<int>(pieces.size()), pieces.data());
      H5Pset_deflate(list, 4);
    }
    const hid_t set = H5Dcreate2(file_, name.c_str(), stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
    const hid_t memory = std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    if (!values.empty()) H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
    return *this;
  }
  Writer& numbers(const std::string& name, const Whole& values) {
    return array(name, values, {values.size()}, H5T_STD_I32LE);
  }
  Writer& numbers(const std::string& name, const Real& values) {
    return array(name, values, {values.size()}, H5T_IEEE_F64LE);
  }
  /// As many complex numbers as `extents` have room for, whose parts are called so.
  Writer& pairs(const std::string& name, const Real& values, const std::vector<hsize_t>& extents,
                const char* real, const char* imaginary) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(type, real, 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, imaginary, 8, H5T_NATIVE_DOUBLE);
    const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    return *this;
  }
  Writer& attribute(const std::string& object, const char* name, const Whole& values) {
    const hsize_t count = values.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t set = H5Acreate_by_name(file_, object.c_str(), name, H5T_STD_U64LE, space, H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(set, H5T_NATIVE_INT64, values.data());
    H5Aclose(set);
    H5Sclose(space);
    return *this;
  }
  /// Writes a text of any length, as h5py does, or of a fixed one, as MATLAB does.
  Writer& attribute(const std::string& object, const char* name, const char* text, bool any_length = true) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, any_length ? H5T_VARIABLE : std::string_view(text).size());
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t set =
        H5Acreate_by_name(file_, object.c_str(), name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(set, type, any_length ? static_cast<const void*>(&text) : text);
    H5Aclose(set);
    H5Sclose(space);
    H5Tclose(type);
    return *this;
  }

  /// The arrays of `expected` by rows, or of its transpose by columns.
  Writer& arrays(const std::string& folder) {
    return numbers(folder + "data", Real{2, -1, 5, 7})
        .numbers(folder + "indices", Whole{0, 2, 1, 1})
        .numbers(folder + "indptr", Whole{0, 2, 3, 4});
  }
  Writer& anndata(const std::string& name, const char* form = "csr_matrix") {
    return group(name)
        .arrays(name + "/")
        .attribute(name, "shape", Whole{3, 3})
        .attribute(name, "encoding-type", form);
  }
  /// The transpose of what the same arrays are by rows.
  Writer& matlab(const std::string& name) {
    return group(name)
        .numbers(name + "/data", Real{2, 5, 7, -1})
        .numbers(name + "/ir", Whole{0, 1, 2, 0})
        .numbers(name + "/jc", Whole{0, 1, 3, 4})
        .attribute(name, "MATLAB_sparse", Whole{3})
        .attribute(name, "MATLAB_class", "double", false);
  }

  std::string bytes() const {
    H5Fflush(file_, H5F_SCOPE_GLOBAL);
    std::string content(static_cast<std::size_t>(H5Fget_file_image(file_, nullptr, 0)), '\0');
    H5Fget_file_image(file_, content.data(), content.size());
    return before_ + content;
  }

 private:
  std::string before_;
  hid_t file_;
};

LoadedMatrix read(const std::string& bytes, const std::string& name = "") {
  EXPECT_TRUE(looks_like_hdf5(bytes));
  return read_hdf5(world(), MemoryBytes(bytes, "A.h5"), name);
}

std::vector<double> values_of(const std::string& bytes, const std::string& name = "") {
  return to_dense(world(), read(bytes, name).block).value;
}

std::string error_of(const std::string& bytes, const std::string& name = "") {
  return input_error_of([&] { read(bytes, name); });
}

TEST(Hdf5, SparseMatricesOfScipyAndAnndata) {
  const auto loaded = read(Writer().anndata("X").bytes());
  EXPECT_EQ(loaded.facts.format, "hdf5");
  EXPECT_EQ(partition_of(world(), loaded.block), sparse::RowPartition::even(3, world().size()));
  EXPECT_EQ(to_dense(world(), loaded.block).value, expected.value);
  EXPECT_EQ(values_of(Writer().anndata("X", "csc_matrix").bytes()), transposed.value);
  EXPECT_EQ(values_of(Writer()
                          .group("X")
                          .arrays("X/")
                          .attribute("X", "h5sparse_shape", Whole{3, 3})
                          .attribute("X", "h5sparse_format", "csc", false)
                          .bytes()),
            transposed.value);
}

TEST(Hdf5, WhatTheArraysDoNotSay) {
  EXPECT_EQ(values_of(Writer().arrays("").attribute("/", "shape", Whole{3, 3}).bytes()), expected.value);
  const auto with_shape = [](const Whole& shape) {
    return Writer().group("g").arrays("g/").numbers("g/shape", shape).bytes();
  };
  EXPECT_EQ(values_of(with_shape({3, 4})), dense_rows({{2, 0, -1, 0}, {0, 5, 0, 0}, {0, 7, 0, 0}}).value);
  EXPECT_EQ(values_of(with_shape({4, 3})), dense_rows({{2, 0, 0}, {0, 5, 7}, {-1, 0, 0}, {0, 0, 0}}).value);
  Writer of_10x;
  of_10x.group("g").arrays("g/").numbers("g/shape", Whole{3, 3}).numbers("g/barcodes", Whole{1, 2, 3});
  EXPECT_EQ(values_of(of_10x.bytes()), transposed.value);
}

TEST(Hdf5, SparseMatricesOfMatlab) {
  const std::string text = "MATLAB 7.3 MAT-file" + std::string(493, ' ');
  const std::string bytes = Writer(text).matlab("A").numbers("b", Real{1, 2, 3}).bytes();
  EXPECT_EQ(values_of(bytes), expected.value);
  EXPECT_EQ(values_of(bytes, "b"), (Real{1, 2, 3}));
  Writer zeros;
  zeros.group("A").attribute("A", "MATLAB_sparse", Whole{2}).numbers("A/jc", Whole{0, 0, 0});
  EXPECT_EQ(values_of(zeros.bytes()), Real(4, 0.0));
  Writer roomy;  // for more entries than there are
  roomy.matlab("A").numbers("B", Real{1});
  roomy.group("R").numbers("R/data", Real{2, 5, 7, -1, 9}).numbers("R/ir", Whole{0, 1, 2, 0, 8});
  roomy.numbers("R/jc", Whole{0, 1, 3, 4}).attribute("R", "MATLAB_sparse", Whole{3});
  EXPECT_EQ(values_of(roomy.bytes(), "R"), expected.value);
}

TEST(Hdf5, Arrays) {
  const Real numbers{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Dense by_rows = dense_rows({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}});
  for (const hid_t stored : {H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I8LE, H5T_STD_U16BE}) {
    EXPECT_EQ(values_of(Writer().array("B", numbers, {5, 3}, stored).bytes()), by_rows.value);
    EXPECT_EQ(values_of(Writer().array("B", numbers, {5, 3}, stored, 2).bytes()), by_rows.value);
  }
  Writer of_matlab;
  of_matlab.array("B", numbers, {3, 5}, H5T_IEEE_F64LE).attribute("B", "MATLAB_class", "double", false);
  const auto columns = read(of_matlab.bytes());
  EXPECT_EQ(columns.block.global_rows, 5);
  EXPECT_EQ(to_dense(world(), columns.block).value, numbers);
  const std::string several = of_matlab.numbers("b", Real{1, 2}).numbers("scalar", Real{1}).bytes();
  EXPECT_EQ(find_hdf5_vectors(MemoryBytes(several), "B").columns, 3);
  EXPECT_EQ(to_dense(world(), read(several).block).value, numbers);  // the only matrix
  of_matlab.array("text", Whole{97, 98}, {1, 2}, H5T_STD_U16LE)
      .attribute("text", "MATLAB_class", "char", false);
  of_matlab.array("none", Whole{0, 0}, {2}, H5T_STD_U64LE).attribute("none", "MATLAB_class", "double", false);
  of_matlab.attribute("none", "MATLAB_empty", Whole{1}).group("#refs#").numbers("#refs#/a", Real{1, 2});
  EXPECT_EQ(error_of(of_matlab.bytes(), "c"),
            "A.h5: no variable is called 'c': it holds B (5 x 3), b (2 x 1), scalar (1 x 1)");
}

TEST(Hdf5, Complex) {
  using namespace std::complex_literals;
  const std::vector<std::vector<sparse::Complex>> rows{{2.0 + 1i, 0, -1i}, {0, 5, 0}, {0, 7.0 - 2i, 0}};
  const Real values{2, 1, 0, -1, 5, 0, 7, -2};
  Writer file;
  file.group("X").pairs("X/data", values, {4}, "r", "i").attribute("X", "shape", Whole{3, 3});
  file.numbers("X/indices", Whole{0, 2, 1, 1}).numbers("X/indptr", Whole{0, 2, 3, 4});
  file.pairs("b", {1, 2, 3, 4, 5, 6}, {3}, "real", "imag");
  const std::string bytes = file.bytes();
  expect_complex(read(bytes), rows);
  expect_complex(read(bytes, "b"), {{1.0 + 2i}, {3.0 + 4i}, {5.0 + 6i}});
  EXPECT_TRUE(hdf5_is_complex(MemoryBytes(bytes), ""));
  EXPECT_FALSE(hdf5_is_complex(MemoryBytes(Writer().anndata("X").bytes()), ""));
}

TEST(Hdf5, ByNameOnACommandLine) {
  const TemporaryFolder folder(world());
  Writer writer;
  writer.group("layers").anndata("layers/A").anndata("layers/T", "csc_matrix").numbers("b", Real{1, 2, 3});
  const std::string bytes = writer.bytes();
  const auto path = folder.file("A.h5", bytes);
  const auto packed = folder.file("A.h5.gz", compress_gzip(bytes));
  const auto partition = sparse::RowPartition::even(3, world().size());
  for (const std::string& file : {path, packed}) {
    for (const char* name : {":A", ":layers/A", ":/layers/A/"})
      EXPECT_EQ(to_dense(world(), load_matrix(world(), file + name).block).value, expected.value);
    for (const char* name : {"", ":b", ":/b:1"})
      EXPECT_EQ(gathered(load_vector(world(), file + name, partition)), (Real{1, 2, 3}));
    EXPECT_TRUE(
        contains(input_error_of([&] { load_matrix(world(), file); }),
                 ": holds b (3 x 1), layers/A (3 x 3, sparse), layers/T (3 x 3, sparse): say which, "));
  }
}

/// What is wrong with a group of these arrays.
std::string error_of_arrays(const Real& data, const Whole& indices, const Whole& indptr,
                            const Whole& shape = {3, 3}) {
  Writer writer;
  writer.group("X").numbers("X/data", data).numbers("X/indices", indices).numbers("X/indptr", indptr);
  return error_of(writer.attribute("X", "shape", shape).bytes());
}

TEST(Hdf5, DamagedSparseMatricesAreNamed) {
  const Real data{2, -1, 5, 7};
  const Whole indices{0, 2, 1, 1};
  const Whole indptr{0, 2, 3, 4};
  EXPECT_EQ(error_of_arrays(data, {0, 2, 1}, indptr),
            "A.h5, X/indices: 3 numbers, where there are 4 entries");
  EXPECT_EQ(error_of_arrays(data, indices, {0, 2, 4}), "A.h5, X/indptr: 3 numbers, where 4 are needed");
  EXPECT_EQ(error_of_arrays(data, {0, 2, 3, 1}, indptr),
            "A.h5, X/indices: number 3 is 3, but there are 3 (counted from 0)");
  EXPECT_EQ(error_of_arrays(data, {0, -2, 1, 1}, indptr),
            "A.h5, X/indices: number 2 is -2, but there are 3 (counted from 0)");
  EXPECT_EQ(error_of_arrays(data, indices, {0, 3, 2, 4}),
            "A.h5, X/indptr: number 3 is 2: pointers ascend from 0 to 4, the entries");
  EXPECT_EQ(error_of_arrays(data, indices, {1, 2, 3, 4}),
            "A.h5, X/indptr: number 1 is 1: pointers ascend from 0 to 4, the entries");
  EXPECT_EQ(error_of_arrays(data, indices, {0, 2, 3, 3}),
            "A.h5, X/indptr: number 4 is 3: pointers ascend from 0 to 4, the entries");
  EXPECT_EQ(error_of_arrays(data, indices, {0, 2, 5, 5}),
            "A.h5, X/indptr: number 3 is 5: pointers ascend from 0 to 4, the entries");
  EXPECT_EQ(error_of_arrays({2, -1, std::numeric_limits<double>::quiet_NaN(), 7}, indices, indptr),
            "A.h5, X/data: number 3 of its numbers is infinite or not a number");
  EXPECT_EQ(error_of_arrays(data, indices, indptr, {3}),
            "A.h5, X: the matrix has no shape of two integers, as attribute or array");
  EXPECT_EQ(error_of_arrays(data, indices, indptr, {0, 3}), "A.h5, X: the matrix is empty (0 x 3)");
  EXPECT_TRUE(contains(error_of_arrays(data, indices, indptr, {3, std::int64_t{1} << 50}),
                       "is out of all proportion to a file of"));
}

TEST(Hdf5, WrongTypesAreNamed) {
  const auto file = [](Writer& writer) { return writer.attribute("X", "shape", Whole{3, 3}).bytes(); };
  Writer floats;
  floats.group("X")
      .numbers("X/data", Real{1})
      .numbers("X/indices", Real{0})
      .numbers("X/indptr", Whole{0, 1, 1, 1});
  EXPECT_EQ(error_of(file(floats)), "A.h5, X/indices: not of integers, which are needed");
  Writer groups;
  groups.group("X").group("X/data").numbers("X/indices", Whole{0}).numbers("X/indptr", Whole{0, 1, 1, 1});
  EXPECT_EQ(error_of(file(groups)), "A.h5, X/data: missing, or no array of numbers of one or two dimensions");
  EXPECT_EQ(error_of(Writer().anndata("X", "bsr_matrix").bytes()),
            "A.h5, X: the matrix is in the form 'bsr_matrix', which is not read: save it anew, A.tocsr()");
  Writer matlab;
  matlab.group("A").attribute("A", "MATLAB_sparse", Whole{3});
  EXPECT_EQ(error_of(matlab.bytes()), "A.h5, A/jc: missing, or no array of numbers of one or two dimensions");
  EXPECT_EQ(error_of(Writer().group("g").bytes()),
            "A.h5: no matrix in this HDF5 file: an array, a group with data, indices, indptr and shape, or "
            "MATLAB's");
  // One that is damaged does not keep another from being read.
  EXPECT_EQ(values_of(matlab.anndata("X").bytes(), "X"), expected.value);
}

TEST(Hdf5, DamagedFilesAreNamed) {
  const std::string bytes = Writer().anndata("X").bytes();
  EXPECT_TRUE(contains(error_of(bytes.substr(0, bytes.size() - 100)),
                       "A.h5: the HDF5 file cannot be read: truncated file"));
  EXPECT_TRUE(contains(error_of("MATLAB 7.3 MAT-file" + std::string(600, ' ')),
                       "A.h5: the HDF5 file cannot be read: "));
  EXPECT_TRUE(contains(error_of(bytes.substr(0, 8) + std::string(600, '\0')),
                       "A.h5: the HDF5 file cannot be read: "));
  // Numbers that were never written take no room, but would take time and memory.
  const std::vector<hsize_t> large{1 << 20, 1 << 20};
  EXPECT_EQ(error_of(Writer().array("B", Real{}, large, H5T_IEEE_F64LE, 1 << 10).bytes()),
            "A.h5, B: 1099511627776 numbers are out of all proportion to the 0 bytes of them");
}

TEST(Hdf5, WrittenVectorsAreReadBack) {
  const TemporaryFolder folder(world());
  const auto partition = sparse::RowPartition::even(5, world().size());
  const Range mine = partition.range(world().rank());
  const Real all{1.5, -2, 1e-300, 0, 7};
  const std::vector<double> local(all.begin() + mine.begin, all.begin() + mine.end);
  const auto path = folder.path("x.h5");
  save_vector(world(), path, local, partition);
  const std::string bytes = content_of(path);
  EXPECT_EQ(gathered(load_vector(world(), path, partition)), all);
  EXPECT_EQ(gathered(load_vector(world(), path + ":x", partition)), all);
  world().barrier();
  save_vector(world(), path, local, partition);
  EXPECT_EQ(content_of(path), bytes);

  const auto pairs = sparse::of_pairs(partition);
  std::vector<double> with_parts;
  for (const double value : local) with_parts.insert(with_parts.end(), {value, value + 1});
  save_vector(world(), path, with_parts, pairs, true);
  const auto back = gathered(load_vector(world(), path, pairs, true));
  ASSERT_EQ(back.size(), 10U);
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(back[2 * k], all[k]);
    EXPECT_EQ(back[2 * k + 1], all[k] + 1);
  }
}

TEST(Hdf5, AnApplicationsErrorsAreStillPrinted) {
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  EXPECT_NE(before, nullptr);
  error_of(Writer().anndata("X").bytes().substr(0, 900));
  H5E_auto2_t after = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace ayatori::io
