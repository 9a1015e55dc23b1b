#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_source.hpp"

// NumPy's arrays (.npy, https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html) and sparse
// matrices as scipy.sparse.save_npz writes them: a zip archive of such arrays. Numbers are real or complex,
// of any size and order of bytes. An array of one dimension is a column.

namespace ayatori::io {

/// Whether a content that begins so is an array, or a zip archive.
bool looks_like_npy(std::string_view first_bytes);
bool looks_like_zip(std::string_view first_bytes);

/// Collective. An array of one or two dimensions as a matrix with its rows evenly spread; what is not zero is
/// kept. Every rank reads its own share of the numbers. Throws InputError, agreed, that names the file and
/// what is wrong; nothing is allocated for sizes that the file cannot hold.
LoadedMatrix read_npy(const comm::Comm& comm, const ByteSource& source);

/// Columns of an array, told by its header. Throws InputError.
std::int64_t npy_columns(const ByteSource& source);

/// Whether the numbers of an array, or of a sparse matrix, are complex, told by its header. Throw InputError.
bool npy_is_complex(const ByteSource& source);
bool npz_is_complex(const ByteSource& source);

/// Collective. A sparse matrix in csr, csc or coo form. Every rank streams the archive and keeps its share of
/// the entries. Errors as above; damage is told by the archive's checksums.
LoadedMatrix read_npz(const comm::Comm& comm, const ByteSource& source);

/// Collective. Writes a vector as an array of one dimension; pairs as one of complex numbers. All ranks write
/// at the same time, into a file system that they share. Whole or not at all. Throws EnvironmentError,
/// agreed.
void write_npy_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                      const sparse::RowPartition& partition, bool is_complex = false);

/// Collective. Writes a matrix, with is_complex the one of which this is the real form, in csr form, not
/// compressed, as scipy.sparse.load_npz reads it; in the same way.
void write_npz(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
               bool is_complex = false);

}  // namespace ayatori::io
