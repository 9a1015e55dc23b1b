#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"
#include "ayatori/io/byte_source.hpp"
#include "ayatori/io/matrix_source.hpp"

namespace ayatori::io {

/// Vectors in a file: the columns of something.
struct Vectors {
  std::string part;  ///< what it is called, if it has a name
  std::int64_t columns = 1;
};

/// A file format: how its content begins, and how to read it. Another one is a file and a line in
/// formats.cpp.
struct FileFormat {
  std::string_view name;
  bool (*recognises)(std::string_view first_bytes);
  /// Whether it is read from its beginning to its end. What is not cannot be read while it is compressed:
  /// rank 0 decompresses it into memory.
  bool in_order;
  /// Collective. `part` is what the user calls one of several things in the file; empty where nothing is
  /// said.
  LoadedMatrix (*read_matrix)(const comm::Comm& comm, const ByteSource& source, const std::string& part);
  /// What is taken for vectors, told by headers; null: it holds no vectors.
  Vectors (*find_vectors)(const ByteSource& source, const std::string& part);
  /// Whether the matrix or vectors of this name are complex, told by headers; null: only real ones can be.
  bool (*is_complex)(const ByteSource& source, const std::string& part);
  /// Collective. A file of one vector; null: a column of what read_matrix() gives. A complex one gives pairs,
  /// and `partition` is that of what it gives.
  Array<double> (*read_vector)(const comm::Comm& comm, const ByteSource& source,
                               const sparse::RowPartition& partition);
  bool has_parts = false;  ///< several things, with names
};

/// The list.
std::span<const FileFormat> formats();

/// The format of a source's content. Throws InputError that says what else it is, as far as that is known.
const FileFormat& format_of(const ByteSource& source);

}  // namespace ayatori::io
