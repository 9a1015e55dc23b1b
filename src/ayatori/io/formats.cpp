#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/io/format.hpp"
#include "ayatori/io/harwell_boeing.hpp"
#include "ayatori/io/known_kinds.hpp"
#include "ayatori/io/matrix_market.hpp"
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

std::int64_t one(const ByteSource& /*source*/, const std::string& /*part*/) {
  return 1;
}

constexpr std::array list{
    FileFormat{"Matrix Market", looks_like_matrix_market, true, whole<read_text>, matrix_market_columns,
               read_text_vector},
    FileFormat{"PETSc binary", looks_like_petsc, false, whole<read_petsc_matrix>, one, read_petsc_vector},
    FileFormat{"Harwell-Boeing", looks_like_harwell_boeing, true, whole<read_harwell_boeing>, nullptr,
               nullptr},
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
