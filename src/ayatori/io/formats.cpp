#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/io/columns.hpp"
#include "ayatori/io/format.hpp"
#include "ayatori/io/harwell_boeing.hpp"
#include "ayatori/io/hdf5.hpp"
#include "ayatori/io/known_kinds.hpp"
#include "ayatori/io/matlab.hpp"
#include "ayatori/io/matrix_market.hpp"
#include "ayatori/io/numpy.hpp"
#include "ayatori/io/petsc_binary.hpp"

namespace ayatori::io {

namespace {

/// A reader of files that hold one thing.
template <LoadedMatrix (*read)(const comm::Comm& comm, const ByteSource& source)>
LoadedMatrix whole(const comm::Comm& comm, const ByteSource& source, const std::string& /*part*/) {
  return read(comm, source);
}

LoadedMatrix read_text(const comm::Comm& comm, const ByteSource& source) {
  return read_matrix_market(comm, source);
}

Array<double> read_text_vector(const comm::Comm& comm, const ByteSource& source,
                               const sparse::RowPartition& partition) {
  return read_matrix_market_vector(comm, source, partition);
}

Vectors one(const ByteSource& /*source*/, const std::string& /*part*/) {
  return {};
}

/// The columns of a file that holds one thing.
template <std::int64_t (*count)(const ByteSource& source)>
Vectors columns(const ByteSource& source, const std::string& /*part*/) {
  return {"", count(source)};
}

/// What a file is that holds one thing.
template <bool (*is_complex)(const ByteSource& source)>
bool of_whole(const ByteSource& source, const std::string& /*part*/) {
  return is_complex(source);
}

constexpr std::array list{
    FileFormat{"Matrix Market", looks_like_matrix_market, true, whole<read_text>,
               columns<matrix_market_columns>, of_whole<matrix_market_is_complex>, read_text_vector},
    FileFormat{"PETSc binary", looks_like_petsc, false, whole<read_petsc_matrix>, one,
               of_whole<petsc_is_complex>, read_petsc_vector},
    FileFormat{"NumPy array", looks_like_npy, false, whole<read_npy>, columns<npy_columns>,
               of_whole<npy_is_complex>, nullptr},
    FileFormat{"SciPy npz", looks_like_zip, false, whole<read_npz>, nullptr, of_whole<npz_is_complex>,
               nullptr},
    FileFormat{"MATLAB 5 to 7", looks_like_mat, false, read_mat, find_mat_vectors, mat_is_complex, nullptr,
               true},
#ifdef AYATORI_HAS_HDF5
    FileFormat{"HDF5", looks_like_hdf5, false, read_hdf5, find_hdf5_vectors, hdf5_is_complex, nullptr, true},
#endif
    FileFormat{"Harwell-Boeing", looks_like_harwell_boeing, true, whole<read_harwell_boeing>, nullptr,
               of_whole<harwell_boeing_is_complex>, nullptr},
    FileFormat{"plain columns", looks_like_columns, false, whole<read_columns>, one, nullptr, nullptr},
};

}  // namespace

std::span<const FileFormat> formats() {
  return list;
}

const FileFormat& format_of(const ByteSource& source) {
  if (source.size() == 0) throw InputError(source.name() + ": the file is empty");
  constexpr std::size_t enough_to_tell = 1024;
  const std::string beginning = first_bytes(source, enough_to_tell);
  for (const FileFormat& format : list) {
    if (format.recognises(beginning)) return format;
  }
  throw InputError(fmt::format("{}: {}", source.name(), describe_unreadable(beginning, names_of(formats()))));
}

}  // namespace ayatori::io
