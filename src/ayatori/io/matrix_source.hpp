#pragma once

#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::io {

/// Properties that a file or a generator states, rather than what the values show.
struct SourceFacts {
  std::string name;    ///< file name or generator spec
  std::string format;  ///< "matrix-market", "harwell-boeing", "petsc", "npz", "npy", "mat", "hdf5",
                       ///< "columns", "generator"
  bool declared_symmetric = false;  ///< hermitian, if the matrix is complex
  std::int64_t bytes = 0;           ///< length of the file, 0 for a generator
  bool is_complex = false;  ///< the block is the real form of a complex matrix: sparse/complex_form.hpp
};

struct LoadedMatrix {
  sparse::RowBlock block;
  SourceFacts facts;
};

/// Collective. MATRIX of the command line: a file if one exists at that path, else a generator spec
/// ("poisson3d-7:n=80"). The format is told by the content, which may be compressed (docs/io.md has the
/// lists). "FILE:NAME" is one of several things in a file, and "-" standard input, which rank 0 reads for
/// all. Rows come evenly spread, those of a complex matrix in pairs. Throws InputError, agreed, naming file,
/// line and what is wrong.
LoadedMatrix load_matrix(const comm::Comm& comm, const std::string& source);

/// Collective. A vector of a file, spread by `partition`, whose length it must have. "FILE:3" is the third of
/// several columns. For a complex matrix `partition` is that of pairs, and pairs are the result, of a file of
/// real values with zeros for the imaginary parts; for a real matrix complex values are refused. Throws
/// InputError, agreed.
Array<double> load_vector(const comm::Comm& comm, const std::string& source,
                          const sparse::RowPartition& partition, bool for_complex = false);

/// Collective. Vectors that `source` names: the columns of a file; 1 for anything that is no file, for one
/// column of a file, and for standard input. Throws InputError, agreed.
std::int64_t count_vectors(const comm::Comm& comm, const std::string& source);

/// The file that a source names: "B.mat" of "B.mat:B:2". What names none is given back as it is.
std::string file_of(const std::string& source);

/// Whether a source is in standard input: "-", "/dev/stdin", or "/dev/stdin:NAME".
bool is_standard_input(const std::string& source);

/// Throws InputError unless the path ends as a format that a vector, or a matrix, can be written in.
void check_vector_output(const std::string& path);
void check_matrix_output(const std::string& path);

/// Collective. Writes by the extension of the path: .mtx, also compressed (.mtx.gz, .bz2, .xz, .zst), .petsc,
/// or .npz. Whole or not at all; "-" is standard output, as Matrix Market, to which rank 0 writes. With
/// is_complex the block is the real form of the complex matrix that is written. Throws EnvironmentError,
/// agreed.
void save_matrix(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                 bool is_complex = false);
/// The same of a vector, with is_complex of pairs: .mtx, also compressed, .petsc, .npy,
/// or .h5 where HDF5 was found.
void save_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                 const sparse::RowPartition& partition, bool is_complex = false);

}  // namespace ayatori::io
