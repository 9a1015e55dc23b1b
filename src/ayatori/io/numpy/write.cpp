#include <zlib.h>

#include <bit>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/numpy.hpp"
#include "ayatori/io/numpy/npy.hpp"
#include "ayatori/io/shared_file.hpp"

namespace ayatori::io {

namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// An array on its way to an archive: each rank has a piece.
struct Piece {
  std::string name;
  std::string header;      ///< header of the array, the same on all ranks
  std::string_view local;  ///< this rank's bytes of the numbers
};

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += static_cast<char>(value >> (8 * k));
  return text;
}

/// A member of the archive, with its place, known to all ranks.
struct Placed {
  Piece piece;
  std::uint32_t checksum = 0;
  std::int64_t bytes = 0;
  std::int64_t header_at = 0;
  std::int64_t local_at = 0;  ///< place of this rank's bytes

  /// What stands in front of the member, or, with more in it, in the directory. Sizes always have 64 bits.
  std::string record(bool in_directory) const {
    const std::string large = little_endian(static_cast<std::uint64_t>(bytes), 8);
    std::string extra = little_endian(1, 2) + little_endian(in_directory ? 24 : 16, 2) + large + large;
    if (in_directory) extra += little_endian(static_cast<std::uint64_t>(header_at), 8);
    std::string text = in_directory ? "PK\1\2" + little_endian(45, 2) : std::string("PK\3\4");
    text += little_endian(45, 2) + little_endian(0, 2) + little_endian(0, 2);  // version, flags, stored
    text += little_endian(0, 2) + little_endian(0x21, 2);                      // 1 January 1980
    text += little_endian(checksum, 4) + std::string(8, '\xff');               // sizes: see extra
    text += little_endian(piece.name.size(), 2) + little_endian(extra.size(), 2);
    if (in_directory) text += std::string(10, '\0') + std::string(4, '\xff');  // offset: see extra
    return text + piece.name + extra;
  }
};

/// Collective. Where a piece goes that follows `at`.
Placed place(const comm::Comm& comm, Piece piece, std::int64_t at) {
  const auto mine = static_cast<std::int64_t>(piece.local.size());
  const auto lengths = comm.allgather(mine);
  const auto checksums = comm.allgather(static_cast<std::int64_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(piece.local.data()), piece.local.size())));
  Placed placed{std::move(piece), 0, 0, at, 0};
  const auto& header = placed.piece.header;
  uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(header.data()), header.size());
  placed.bytes = static_cast<std::int64_t>(header.size());
  const std::int64_t data_at = at + static_cast<std::int64_t>(placed.record(false).size());
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) placed.local_at = data_at + placed.bytes;
    checksum = crc32_combine(checksum, static_cast<uLong>(checksums[rank]), lengths[rank]);
    placed.bytes += lengths[rank];
  }
  placed.checksum = static_cast<std::uint32_t>(checksum);
  return placed;
}

/// The name of a number's type in the header of an array.
const char* type_name(bool is_complex) {
  return is_complex ? "<c16" : "<f8";
}

/// The directory and what ends an archive.
std::string make_directory(const std::vector<Placed>& members, std::int64_t at) {
  std::string directory;
  for (const Placed& member : members) directory += member.record(true);
  const std::string count = little_endian(members.size(), 8);
  const std::string bytes = little_endian(directory.size(), 8);
  const auto end_at = static_cast<std::uint64_t>(at) + directory.size();
  directory += "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
               std::string(8, '\0') + count + count + bytes +
               little_endian(static_cast<std::uint64_t>(at), 8);
  directory += "PK\6\7" + std::string(4, '\0') + little_endian(end_at, 8) + little_endian(1, 4);
  return directory + "PK\5\6" + std::string(4, '\0') + std::string(12, '\xff') + std::string(2, '\0');
}

}  // namespace

void write_npy_vector(const comm::Comm& comm, const std::string& path, std::span<const double> local,
                      const sparse::RowPartition& partition, bool is_complex) {
  const std::string header =
      numpy::array_header(type_name(is_complex), fmt::format("{},", partition.rows() / parts_of(is_complex)));
  const std::int64_t first = partition.range(comm.rank()).begin;
  write_shared_file(comm, path, [&](const SharedFile& file) {
    if (comm.rank() == 0) file.write(header, 0);
    file.write(bytes_of(local), static_cast<std::int64_t>(header.size()) + 8 * first);
  });
}

void write_npz(const comm::Comm& comm, const std::string& path, const sparse::RowBlock& block,
               bool is_complex) {
  const std::int64_t parts = parts_of(is_complex);
  const StoredRows stored(comm, block, is_complex);
  const sparse::RowBlock& rows = stored.rows();
  const ValueCounts values = count_values(comm, rows, parts);
  Array<std::int64_t> pointers;
  Array<std::int64_t> columns;  // columns of a complex matrix, whose rows have each of them twice
  comm::agree(comm, [&] {
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      pointers.push_back(values.before + rows.row_start[i] / parts);
    if (comm.rank() == comm.size() - 1) pointers.push_back(values.all);
    for (std::int64_t k = 0; is_complex && k < values.mine; ++k) columns.push_back(rows.column[2 * k] / 2);
  });
  const std::int64_t shape[2] = {rows.global_rows, rows.global_columns / parts};
  const bool first = comm.rank() == 0;
  const std::string_view nothing;
  const auto numbers = [](const char* type, std::int64_t count) {
    return numpy::array_header(type, fmt::format("{},", count));
  };
  std::vector<Placed> members;
  std::int64_t at = 0;
  for (Piece piece : {Piece{"indices.npy", numbers("<i8", values.all),
                            bytes_of(std::span<const std::int64_t>(is_complex ? columns : rows.column))},
                      Piece{"indptr.npy", numbers("<i8", rows.global_rows + 1),
                            bytes_of(std::span<const std::int64_t>(pointers))},
                      Piece{"format.npy", numpy::array_header("|S3", ""), first ? "csr" : nothing},
                      Piece{"shape.npy", numbers("<i8", 2),
                            first ? bytes_of(std::span<const std::int64_t>(shape)) : nothing},
                      Piece{"data.npy", numbers(type_name(is_complex), values.all),
                            bytes_of(std::span<const double>(rows.value))}}) {
    members.push_back(place(comm, std::move(piece), at));
    const Placed& last = members.back();
    at += static_cast<std::int64_t>(last.record(false).size()) + last.bytes;
  }
  write_shared_file(comm, path, [&](const SharedFile& file) {
    for (const Placed& member : members) {
      if (first) file.write(member.record(false) + member.piece.header, member.header_at);
      file.write(member.piece.local, member.local_at);
    }
    if (first) file.write(make_directory(members, at), at);
  });
}

}  // namespace ayatori::io
