#include <algorithm>
#include <optional>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/petsc/header.hpp"
#include "ayatori/io/petsc/read_array.hpp"
#include "ayatori/io/petsc_binary.hpp"

namespace ayatori::io {

namespace {

using petsc::error_at;
using petsc::MatrixLayout;

/// Collective. Opens the file on every rank and gives what `read` makes of it.
template <class Read>
auto with_file(const comm::Comm& comm, const std::string& path, Read&& read) {
  std::optional<FileBytes> file;
  comm::agree(comm, [&] { file.emplace(path); });
  return read(*file);
}

/// Sets row_start from the lengths of this rank's rows.
void read_lengths(const ByteSource& source, const MatrixLayout& layout, Range mine, sparse::RowBlock& block) {
  const std::int64_t at = layout.lengths_at + mine.begin * layout.index_bytes;
  block.row_start.resize(static_cast<std::size_t>(mine.size() + 1));
  block.row_start[0] = 0;
  petsc::read_integers(source, layout.index_bytes, at, mine.size(), [&](std::int64_t i, std::int64_t length) {
    if (length < 0 || length > layout.nonzeros) {
      throw error_at(
          source, at + i * layout.index_bytes,
          fmt::format("row {} has {} nonzeros of {} in all", mine.begin + i + 1, length, layout.nonzeros));
    }
    block.row_start[i + 1] = length;
  });
  for (std::int64_t i = 0; i < mine.size(); ++i) {
    block.row_start[i + 1] += block.row_start[i];
    // Checked at every row, so that the sum cannot overflow.
    if (block.row_start[i + 1] > layout.nonzeros) {
      throw error_at(source, at + i * layout.index_bytes,
                     fmt::format("up to row {} there are more than the {} nonzeros of the header",
                                 mine.begin + i + 1, layout.nonzeros));
    }
  }
}

/// Collective. Nonzeros of the lower ranks; InputError if those of all are not what the header says.
std::int64_t first_nonzero(const comm::Comm& comm, const ByteSource& source, const MatrixLayout& layout,
                           std::int64_t mine) {
  const auto counts = comm.allgather(mine);
  std::int64_t before = 0;
  comm::agree(comm, [&] {
    std::int64_t sum = 0;
    for (int r = 0; r < comm.size() && sum <= layout.nonzeros; ++r) {
      if (r == comm.rank()) before = sum;
      sum += counts[r];
    }
    if (sum != layout.nonzeros) {
      throw error_at(source, layout.lengths_at,
                     fmt::format("the rows have {}{} nonzeros together, but the header says {}",
                                 sum > layout.nonzeros ? "more than " : "", std::min(sum, layout.nonzeros),
                                 layout.nonzeros));
    }
  });
  return before;
}

/// Reads the entries of this rank's rows, of complex ones the parts.
void read_entries(const ByteSource& source, const MatrixLayout& layout, std::int64_t first,
                  sparse::RowBlock& block) {
  const std::int64_t parts = parts_of(layout.is_complex);
  const std::int64_t count = block.row_start.back();
  const std::int64_t at = layout.columns_at + first * layout.index_bytes;
  block.column.resize(static_cast<std::size_t>(parts * count));
  block.value.resize(static_cast<std::size_t>(parts * count));
  for (std::int64_t& start : block.row_start) start *= parts;
  petsc::read_integers(source, layout.index_bytes, at, count, [&](std::int64_t k, std::int64_t column) {
    if (column < 0 || column >= layout.columns) {
      throw error_at(source, at + k * layout.index_bytes,
                     fmt::format("column {}, but there are {} (counted from 0)", column, layout.columns));
    }
    for (std::int64_t part = 0; part < parts; ++part) block.column[parts * k + part] = parts * column + part;
  });
  petsc::read_values(source, layout.values_at + 8 * parts * first, block.value);
}

/// Makes the columns of every row ascend and be unique.
void sort_rows(sparse::RowBlock& block) {
  std::vector<std::pair<std::int64_t, double>> row;
  std::int64_t kept = 0;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    const std::int64_t end = block.row_start[i + 1];
    row.clear();
    for (std::int64_t k = begin; k < end; ++k) row.emplace_back(block.column[k], block.value[k]);
    std::ranges::stable_sort(row, {}, &std::pair<std::int64_t, double>::first);
    const std::int64_t row_begin = kept;
    for (const auto& [column, value] : row) {
      if (kept > row_begin && block.column[kept - 1] == column) {
        block.value[kept - 1] += value;
      } else {
        block.column[kept] = column;
        block.value[kept++] = value;
      }
    }
    begin = end;
    block.row_start[i + 1] = kept;
  }
  block.column.resize(static_cast<std::size_t>(kept));
  block.value.resize(static_cast<std::size_t>(kept));
}

bool rows_ascend(const sparse::RowBlock& block) {
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i] + 1; k < block.row_start[i + 1]; ++k) {
      if (block.column[k - 1] >= block.column[k]) return false;
    }
  }
  return true;
}

/// Keeps what is not zero of this rank's rows of a dense matrix.
void read_dense_rows(const ByteSource& source, const MatrixLayout& layout, Range mine,
                     sparse::RowBlock& block) {
  block.row_start.assign(1, 0);
  if (mine.empty()) return;  // no row in the file limits the number of columns
  const std::int64_t parts_in_row = parts_of(layout.is_complex) * layout.columns;
  std::vector<double> row(static_cast<std::size_t>(parts_in_row));
  for (std::int64_t i = mine.begin; i < mine.end; ++i) {
    petsc::read_values(source, layout.values_at + 8 * i * parts_in_row, row);
    for (std::int64_t j = 0; j < parts_in_row; ++j) {
      if (row[j] == 0) continue;
      block.column.push_back(j);
      block.value.push_back(row[j]);
    }
    block.row_start.push_back(static_cast<std::int64_t>(block.value.size()));
  }
}

}  // namespace

LoadedMatrix read_petsc_matrix(const comm::Comm& comm, const ByteSource& source) {
  const MatrixLayout layout = comm::agree(comm, [&] { return petsc::read_matrix_layout(source); });
  const Range mine = split_evenly(layout.rows, comm.size(), comm.rank());
  sparse::RowBlock block{layout.rows, parts_of(layout.is_complex) * layout.columns, mine.begin, {}, {}, {}};
  if (layout.dense()) {
    comm::agree(comm, [&] { read_dense_rows(source, layout, mine, block); });
  } else {
    comm::agree(comm, [&] { read_lengths(source, layout, mine, block); });
    const std::int64_t first = first_nonzero(comm, source, layout, block.row_start.back());
    comm::agree(comm, [&] {
      read_entries(source, layout, first, block);
      if (!rows_ascend(block)) sort_rows(block);
    });
  }
  if (layout.is_complex) block = comm::agree(comm, [&] { return to_real_form(block); });
  return {std::move(block), {source.name(), "petsc", false, source.size(), layout.is_complex}};
}

LoadedMatrix read_petsc_matrix(const comm::Comm& comm, const std::string& path) {
  return with_file(comm, path, [&](const ByteSource& file) { return read_petsc_matrix(comm, file); });
}

Array<double> read_petsc_vector(const comm::Comm& comm, const ByteSource& source,
                                const sparse::RowPartition& partition) {
  return comm::agree(comm, [&] {
    const auto layout = petsc::read_vector_layout(source);
    const std::int64_t parts = parts_of(layout.is_complex);
    if (parts * layout.length != partition.rows()) {
      throw error_at(source, layout.values_at,
                     fmt::format("the vector has {} elements, but {} are needed", layout.length,
                                 partition.rows() / parts));
    }
    const Range mine = partition.range(comm.rank());
    Array<double> values(static_cast<std::size_t>(mine.size()));
    petsc::read_values(source, layout.values_at + 8 * mine.begin, values);
    return values;
  });
}

Array<double> read_petsc_vector(const comm::Comm& comm, const std::string& path,
                                const sparse::RowPartition& partition) {
  return with_file(comm, path,
                   [&](const ByteSource& file) { return read_petsc_vector(comm, file, partition); });
}

}  // namespace ayatori::io
