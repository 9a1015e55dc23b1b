#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/sparse/row_block.hpp"

// PETSc binary files (MatView and VecView on a binary viewer), big-endian:
//   matrix: 1211216, rows, columns, nonzeros; the length of each row; the columns; the values
//   vector: 1211214, length; the values
// Integers have 32 bits, or 64 where PETSc was configured so, which the first one shows; values are doubles,
// or pairs of them where PETSc was configured for complex numbers, which only the size of the file shows. A
// matrix with -1 for the nonzeros is dense: its values follow by rows, and what is not zero is kept. Columns
// may come in any order, and equal ones are summed. A file holds one object: what follows it is an error.
// Compressed files are decompressed first.

namespace ayatori::io {

/// Whether a content that begins so is a PETSc matrix or vector.
bool looks_like_petsc(std::string_view first_bytes);

/// Collective. A matrix with its rows evenly spread; each rank reads its own part of the file. Throws
/// InputError, agreed, that names file, byte offset and what is wrong; nothing is allocated for counts that
/// the file cannot hold.
LoadedMatrix read_petsc_matrix(const comm::Comm& comm, const std::string& path);

/// Collective. The same from any source, which every rank has.
LoadedMatrix read_petsc_matrix(const comm::Comm& comm, const ByteSource& source);

/// Whether the values of a matrix or vector are complex. Throws InputError.
bool petsc_is_complex(const ByteSource& source);

/// Collective. A vector spread by `partition`, whose length it must have; of complex numbers the pairs, to
/// which `partition` then belongs. Errors as above.
Array<double> read_petsc_vector(const comm::Comm& comm, const std::string& path,
                                const sparse::RowPartition& partition);
Array<double> read_petsc_vector(const comm::Comm& comm, const ByteSource& source,
                                const sparse::RowPartition& partition);

/// Collective. All ranks write their rows at the same time into a file system that they share; integers have
/// 64 bits only if a count or a column needs them. With is_complex the block is the real form of a complex
/// matrix, and the vector one of pairs. Whole or not at all. Throws EnvironmentError, agreed.
void write_petsc_matrix(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                        bool is_complex = false);
void write_petsc_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                        const sparse::RowPartition& partition, bool is_complex = false);

}  // namespace ayatori::io
