#include <optional>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/io/binary/pointers.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/harwell_boeing.hpp"
#include "ayatori/io/harwell_boeing/field_reader.hpp"

namespace ayatori::io {

namespace {

using harwell_boeing::error_at;
using harwell_boeing::FieldReader;
using harwell_boeing::Header;
using harwell_boeing::Lines;
using harwell_boeing::Reals;
using harwell_boeing::WholeNumbers;

/// Reads all pointers, and keeps those that this share needs.
PointerSpan read_columns(const ByteSource& source, Lines& lines, const Header& header, Range share) {
  FieldReader fields(source, lines, header.pointer_format, header.columns + 1, "pointers", WholeNumbers{});
  return read_pointers(
      header.columns, header.entries, share, [&] { return fields.next() - 1; },
      [&](std::int64_t j, std::int64_t start) {
        throw error_at(source, lines,
                       fmt::format("pointer {} is {}: pointers ascend from 1 to {}, the entries plus one",
                                   j + 1, start + 1, header.entries + 1));
      });
}

/// Reads the row numbers of this share, and knows their columns from the pointers.
void read_places(const ByteSource& source, Lines& lines, const Header& header, Range share,
                 const PointerSpan& span, Array<sparse::Entry>& entries) {
  FieldReader fields(source, lines, header.index_format, header.entries, "row numbers", WholeNumbers{});
  fields.skip(share.begin);
  std::size_t column = 0;
  for (std::int64_t k = share.begin; k < share.end; ++k) {
    const std::int64_t row = fields.next() - 1;
    if (row < 0 || row >= header.rows) {
      throw error_at(source, lines,
                     fmt::format("row number {}, but there are rows 1 to {}", row + 1, header.rows));
    }
    const std::int64_t j = span.row_of(k, column);
    if (header.symmetry == Symmetry::skew && row == j) {
      throw error_at(
          source, lines,
          fmt::format("a skew-symmetric matrix has nothing on its diagonal, but row number {} in column {}",
                      row + 1, j + 1));
    }
    entries.push_back({row, j, 1.0});
  }
  fields.skip(header.entries - share.end);
}

void read_values(const ByteSource& source, Lines& lines, const Header& header, Range share,
                 Array<sparse::Entry>& entries) {
  const std::int64_t parts = parts_of(header.is_complex);
  FieldReader fields(source, lines, header.value_format, parts * header.entries, "values",
                     Reals{header.value_format});
  fields.skip(parts * share.begin);
  for (sparse::Entry& entry : entries) {
    entry.value = fields.next();
    const bool is_imaginary = header.is_complex && entry.column % 2 == 1;
    if (header.symmetry == Symmetry::hermitian && is_imaginary && entry.row == entry.column / 2 &&
        entry.value != 0) {
      throw error_at(source, lines,
                     fmt::format("a hermitian matrix is real on its diagonal, but row {} has the imaginary "
                                 "part {}",
                                 entry.row + 1, entry.value));
    }
  }
  fields.skip(parts * (header.entries - share.end));
}

/// Adds the triangle that the file leaves out.
void mirror(const Header& header, Array<sparse::Entry>& entries) {
  if (header.symmetry == Symmetry::general) return;
  const std::int64_t parts = parts_of(header.is_complex);
  const std::size_t stored = entries.size();
  for (std::size_t k = 0; k < stored; ++k) {
    const auto [row, at, value] = entries[k];
    const std::int64_t column = at / parts;
    const std::int64_t part = at % parts;
    if (row != column)
      entries.push_back({column, parts * row + part, mirrored(header.symmetry, part, value)});
  }
}

void check_end(const ByteSource& source, Lines& lines, const Header& header) {
  std::string line;
  while (!header.right_hand_sides && lines.next(line)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      throw error_at(source, lines, "something follows the last entry of the matrix");
    }
  }
}

/// What one rank takes from the file.
struct Share {
  Header header;
  Array<sparse::Entry> entries;
};

Share read_share(const ByteSource& source, int ranks, int rank) {
  Lines lines(source);
  Share result{harwell_boeing::read_header(source, lines), {}};
  const Header& header = result.header;
  const Range share = split_evenly(header.entries, ranks, rank);
  const PointerSpan span = read_columns(source, lines, header, share);
  read_places(source, lines, header, share, span, result.entries);
  if (header.is_complex) split_into_parts(result.entries);
  if (!header.pattern) read_values(source, lines, header, share, result.entries);
  check_end(source, lines, header);
  mirror(header, result.entries);
  return result;
}

}  // namespace

bool harwell_boeing_is_complex(const ByteSource& source) {
  Lines lines(source);
  return harwell_boeing::read_header(source, lines).is_complex;
}

LoadedMatrix read_harwell_boeing(const comm::Comm& comm, const ByteSource& source) {
  auto share = comm::agree(comm, [&] { return read_share(source, comm.size(), comm.rank()); });
  const Header& header = share.header;
  std::vector<Array<sparse::Entry>> batches;
  batches.push_back(std::move(share.entries));
  const auto self_adjoint = header.is_complex ? Symmetry::hermitian : Symmetry::symmetric;
  return {
      assemble_evenly(comm, header.rows, header.columns, header.is_complex, std::move(batches)),
      {source.name(), "harwell-boeing", header.symmetry == self_adjoint, source.size(), header.is_complex}};
}

LoadedMatrix read_harwell_boeing(const comm::Comm& comm, const std::string& path) {
  std::optional<FileBytes> file;
  comm::agree(comm, [&] { file.emplace(path); });
  return read_harwell_boeing(comm, *file);
}

}  // namespace ayatori::io
