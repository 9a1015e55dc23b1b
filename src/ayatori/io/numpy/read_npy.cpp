#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/binary/dense.hpp"
#include "ayatori/io/numpy.hpp"
#include "ayatori/io/numpy/npy.hpp"

namespace ayatori::io {

namespace {

using numpy::ArrayHeader;

/// Reads the header of an array of one or two dimensions.
ArrayHeader read_matrix_header(ByteStream& stream, const ByteSource& source) {
  ArrayHeader header = numpy::read_array_header(stream, source.size(), source.name());
  if (header.is_text) throw InputError(source.name() + ": the array is of text, where numbers are needed");
  if (header.shape.empty() || header.shape.size() > 2 || header.count == 0)
    throw InputError(
        fmt::format("{}: the array has {} dimensions and {} numbers: a vector or a matrix is needed",
                    source.name(), header.shape.size(), header.count));
  header.shape.resize(2, 1);
  return header;
}

}  // namespace

bool looks_like_npy(std::string_view first_bytes) {
  return first_bytes.starts_with(numpy::npy_magic);
}

std::int64_t npy_columns(const ByteSource& source) {
  const auto header = read_matrix_header(*open_stream(source), source);
  return header.shape[0] == 1 ? 1 : header.shape[1];
}

bool npy_is_complex(const ByteSource& source) {
  return read_matrix_header(*open_stream(source), source).type.is_complex;
}

LoadedMatrix read_npy(const comm::Comm& comm, const ByteSource& source) {
  DenseShape shape;
  bool is_complex = false;
  std::vector<Array<sparse::Entry>> batches(1);
  comm::agree(comm, [&] {
    const auto stream = open_stream(source);
    const ArrayHeader header = read_matrix_header(*stream, source);
    shape = {header.shape[0], header.shape[1], header.by_columns};
    is_complex = header.type.is_complex;
    NumberStream numbers(*stream, header.type, source.name(), "numbers");
    batches[0] = read_dense_share(numbers, shape, split_evenly(header.count, comm.size(), comm.rank()));
  });
  return {assemble_evenly(comm, shape.rows, shape.columns, is_complex, std::move(batches)),
          {source.name(), "npy", false, source.size(), is_complex}};
}

}  // namespace ayatori::io
