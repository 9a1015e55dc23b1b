#pragma once

#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/format.hpp"

// HDF5 files, by the HDF Group's library, where a build has found it (AYATORI_HAS_HDF5):
//   sparse matrices as groups of data, indices and indptr, with a shape (SciPy's arrays, AnnData, 10x)
//   sparse matrices of MATLAB 7.3: groups of data, ir and jc with the attribute MATLAB_sparse, the rows
//   arrays of one or two dimensions; MATLAB's, which have the attribute MATLAB_class, are by columns
// Numbers are real or complex (pairs called r and i, or real and imag), of any size and order of bytes.

namespace ayatori::io {

/// Whether a content that begins so is an HDF5 file, also behind MATLAB's 512 bytes of text.
bool looks_like_hdf5(std::string_view first_bytes);

/// Collective. The matrix of this name, in full or behind its last '/'; without a name the only sparse one,
/// or the only array of more than one row and column. Rows come evenly spread. Every rank reads its own range
/// of compressed rows or columns, or of the numbers of an array. Throws InputError, agreed, that names the
/// file and what is wrong.
LoadedMatrix read_hdf5(const comm::Comm& comm, const ByteSource& source, const std::string& name);

/// The array of this name, as above; without one the only array with more than one number. Throws InputError.
Vectors find_hdf5_vectors(const ByteSource& source, const std::string& name);

/// Whether the matrix that read_hdf5() takes is complex. Throws InputError.
bool hdf5_is_complex(const ByteSource& source, const std::string& name);

/// Collective. Writes a vector as an array of one dimension, called x; pairs as complex numbers, as h5py has
/// them. Rank 0 writes what it gathers. Whole or not at all. Throws EnvironmentError, agreed.
void write_hdf5_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                       const sparse::RowPartition& partition, bool is_complex = false);

}  // namespace ayatori::io
