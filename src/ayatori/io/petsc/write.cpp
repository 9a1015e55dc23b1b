#include <algorithm>
#include <limits>
#include <vector>

#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/petsc/big_endian.hpp"
#include "ayatori/io/petsc/header.hpp"
#include "ayatori/io/petsc_binary.hpp"
#include "ayatori/io/shared_file.hpp"

namespace ayatori::io {

namespace {

/// Writes value_of(0), ..., value_of(count - 1) as Stored from `offset` on.
template <class Stored, class ValueOf>
void write_array(const SharedFile& file, std::int64_t offset, std::int64_t count, ValueOf&& value_of) {
  constexpr std::int64_t chunk = 65536;
  constexpr auto bytes_each = static_cast<std::int64_t>(sizeof(Stored));
  std::string buffer;
  for (std::int64_t begin = 0; begin < count; begin += chunk) {
    const std::int64_t end = std::min(begin + chunk, count);
    buffer.resize(static_cast<std::size_t>((end - begin) * bytes_each));
    for (std::int64_t k = begin; k < end; ++k) {
      petsc::store_big_endian(static_cast<Stored>(value_of(k)), buffer.data() + (k - begin) * bytes_each);
    }
    file.write(buffer, offset + begin * bytes_each);
  }
}

/// This rank's part of a matrix, each of whose nonzeros is `parts` of the block; rank 0 also writes the
/// header.
template <class Index>
void write_matrix(const SharedFile& file, bool with_header, const sparse::RowBlock& block, std::int64_t parts,
                  std::int64_t all_nonzeros, std::int64_t first_nonzero) {
  const std::int64_t header[]{petsc::matrix_id, block.global_rows, block.global_columns / parts,
                              all_nonzeros};
  constexpr auto index_bytes = static_cast<std::int64_t>(sizeof(Index));
  if (with_header) write_array<Index>(file, 0, 4, [&](std::int64_t k) { return header[k]; });
  const std::int64_t lengths_at = 4 * index_bytes;
  const std::int64_t columns_at = lengths_at + block.global_rows * index_bytes;
  const std::int64_t values_at = columns_at + all_nonzeros * index_bytes;
  write_array<Index>(file, lengths_at + block.first_row * index_bytes, block.rows(),
                     [&](std::int64_t i) { return (block.row_start[i + 1] - block.row_start[i]) / parts; });
  write_array<Index>(file, columns_at + first_nonzero * index_bytes, block.nonzeros() / parts,
                     [&](std::int64_t k) { return block.column[parts * k] / parts; });
  write_array<double>(file, values_at + 8 * parts * first_nonzero, block.nonzeros(),
                      [&](std::int64_t k) { return block.value[k]; });
}

bool fits_32_bits(std::int64_t count) {
  return count <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

void write_petsc_matrix(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
                        bool is_complex) {
  const std::int64_t parts = parts_of(is_complex);
  const StoredRows stored(comm, block, is_complex);
  const sparse::RowBlock& rows = stored.rows();
  const ValueCounts values = count_values(comm, rows, parts);
  const bool narrow =
      fits_32_bits(rows.global_rows) && fits_32_bits(rows.global_columns / parts) && fits_32_bits(values.all);
  write_shared_file(comm, path, [&](const SharedFile& file) {
    if (narrow) {
      write_matrix<std::int32_t>(file, comm.rank() == 0, rows, parts, values.all, values.before);
    } else {
      write_matrix<std::int64_t>(file, comm.rank() == 0, rows, parts, values.all, values.before);
    }
  });
}

void write_petsc_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                        const sparse::RowPartition& partition, bool is_complex) {
  const std::int64_t length = partition.rows() / parts_of(is_complex);
  const bool narrow = fits_32_bits(length);
  const std::int64_t header[]{petsc::vector_id, length};
  const auto header_at = [&](std::int64_t k) { return header[k]; };
  const std::int64_t values_at = narrow ? 8 : 16;
  write_shared_file(comm, path, [&](const SharedFile& file) {
    if (comm.rank() == 0) {
      narrow ? write_array<std::int32_t>(file, 0, 2, header_at)
             : write_array<std::int64_t>(file, 0, 2, header_at);
    }
    write_array<double>(file, values_at + 8 * partition.range(comm.rank()).begin,
                        static_cast<std::int64_t>(local.size()),
                        [&](std::int64_t k) { return local[static_cast<std::size_t>(k)]; });
  });
}

}  // namespace ayatori::io
