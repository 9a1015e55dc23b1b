#include <algorithm>
#include <optional>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/binary/dense.hpp"
#include "ayatori/io/binary/pointers.hpp"
#include "ayatori/io/matlab.hpp"
#include "ayatori/io/matlab/variables.hpp"

namespace ayatori::io {

namespace {

using matlab::Cursor;

std::vector<Variable> list_variables(const ByteSource& source) {
  std::vector<Variable> variables;
  matlab::visit_variables(source, [&](const Variable& variable, Cursor& /*cursor*/) {
    variables.push_back(variable);
    return false;
  });
  return variables;
}

constexpr std::int64_t chunk = 8192;

/// Numbers in an element.
std::int64_t count(const Cursor& cursor, const Cursor::Element& element) {
  return element.bytes / cursor.number_type(element).bytes;
}

/// The row numbers of a share; the columns are known later.
Array<sparse::Entry> read_rows(Cursor& cursor, const Cursor::Element& element, Range share) {
  Array<sparse::Entry> entries;
  NumberStream numbers = cursor.numbers(element, "row numbers");
  numbers.for_each_in<std::int64_t>(share, [&](std::int64_t row) { entries.push_back({row, 0, 0.0}); });
  cursor.leave(element, share.end);
  return entries;
}

/// Where the columns start, as far as it concerns a share of the entries that there is room for.
PointerSpan read_starts(const Variable& variable, Cursor& cursor, std::int64_t room, Range share) {
  const auto element = cursor.next();
  if (count(cursor, element) != variable.columns + 1)
    cursor.refuse(fmt::format("has {} starts of the {} columns of {}", count(cursor, element),
                              variable.columns, variable.name));
  NumberStream numbers = cursor.numbers(element, "starts of columns");
  std::vector<std::int64_t> ahead;
  std::size_t used = 0;
  std::int64_t left = variable.columns + 1;
  const auto next = [&] {
    if (used == ahead.size()) {
      ahead.resize(static_cast<std::size_t>(std::min(chunk, left)));
      numbers.integers(ahead);
      left -= static_cast<std::int64_t>(ahead.size());
      used = 0;
    }
    return ahead[used++];
  };
  const auto refuse = [&](std::int64_t j, std::int64_t start) {
    cursor.refuse(fmt::format("says that column {} of {} starts at {} of {} entries", j + 1, variable.name,
                              start, room));
  };
  auto span = read_pointers(variable.columns, room, share, next, refuse, true);
  cursor.leave(element, variable.columns + 1);
  return span;
}

/// Reads one of the parts of the values of these entries.
void read_values(const Variable& variable, Cursor& cursor, const PointerSpan& span, Range share,
                 std::int64_t part, Array<sparse::Entry>& entries) {
  const auto element = cursor.next();
  if (count(cursor, element) < span.end)
    cursor.refuse(fmt::format("has {} values of the {} entries of {}", count(cursor, element), span.end,
                              variable.name));
  NumberStream numbers = cursor.numbers(element, "values");
  const std::int64_t parts = parts_of(variable.is_complex);
  const std::int64_t begin = std::min(share.begin, span.end);
  const std::int64_t end = begin + std::ssize(entries) / parts;
  std::int64_t k = part;
  numbers.for_each_in<double>({begin, end}, [&](double value) {
    entries[k].value = value;
    k += parts;
  });
  cursor.leave(element, end);
}

/// The entries of a share of a sparse variable.
Array<sparse::Entry> read_sparse(const Variable& variable, Cursor& cursor, int ranks, int rank) {
  const auto element = cursor.next();
  const std::int64_t room = count(cursor, element);
  const Range share = split_evenly(room, ranks, rank);
  auto entries = read_rows(cursor, element, share);
  const PointerSpan span = read_starts(variable, cursor, room, share);
  entries.resize(
      static_cast<std::size_t>(std::max<std::int64_t>(std::min(share.end, span.end) - share.begin, 0)));
  std::size_t column = 0;
  std::int64_t k = share.begin;
  for (auto& entry : entries) {
    if (entry.row < 0 || entry.row >= variable.rows)
      cursor.refuse(fmt::format("has an entry of {} in row {}, but there are {} (counted from 0)",
                                variable.name, entry.row, variable.rows));
    entry.column = span.row_of(k++, column);
  }
  if (variable.is_complex) split_into_parts(entries);
  for (std::int64_t part = 0; part < parts_of(variable.is_complex); ++part)
    read_values(variable, cursor, span, share, part, entries);
  return entries;
}

/// The entries of a share of one of the parts of a full variable.
Array<sparse::Entry> read_full_part(const Variable& variable, Cursor& cursor, int ranks, int rank) {
  const auto element = cursor.next();
  const std::int64_t stored = count(cursor, element);
  std::int64_t needed = 0;
  if (__builtin_mul_overflow(variable.rows, variable.columns, &needed) || needed != stored)
    cursor.refuse(fmt::format("has {} numbers of {} ({} x {})", stored, variable.name, variable.rows,
                              variable.columns));
  NumberStream numbers = cursor.numbers(element, "numbers");
  const Range share = split_evenly(needed, ranks, rank);
  auto entries = read_dense_share(numbers, {variable.rows, variable.columns, true}, share);
  cursor.leave(element, share.end);
  return entries;
}

Array<sparse::Entry> read_full(const Variable& variable, Cursor& cursor, int ranks, int rank) {
  const std::int64_t parts = parts_of(variable.is_complex);
  Array<sparse::Entry> entries;
  for (std::int64_t part = 0; part < parts; ++part) {
    for (const auto& [row, column, value] : read_full_part(variable, cursor, ranks, rank))
      entries.push_back({row, parts * column + part, value});
  }
  return entries;
}

}  // namespace

bool looks_like_mat(std::string_view first_bytes) {
  constexpr std::size_t header_bytes = 128;
  if (first_bytes.size() < header_bytes || first_bytes.starts_with("MATLAB 7.3")) return false;
  const auto mark = first_bytes.substr(header_bytes - 2, 2);
  const auto version = first_bytes.substr(header_bytes - 4, 2);
  return (mark == "IM" && version == std::string_view("\0\1", 2)) ||
         (mark == "MI" && version == std::string_view("\1\0", 2));
}

Vectors find_mat_vectors(const ByteSource& source, const std::string& name) {
  return vectors_of(choose_vectors(source, list_variables(source), name));
}

bool mat_is_complex(const ByteSource& source, const std::string& name) {
  return choose_matrix(source, list_variables(source), name).is_complex;
}

LoadedMatrix read_mat(const comm::Comm& comm, const ByteSource& source, const std::string& name) {
  std::optional<Variable> chosen;
  std::vector<Array<sparse::Entry>> batches(1);
  comm::agree(comm, [&] {
    chosen = choose_matrix(source, list_variables(source), name);
    check_sizes(source, *chosen);
    matlab::visit_variables(source, [&](const Variable& variable, Cursor& cursor) {
      if (variable.name != chosen->name) return false;
      const auto read = variable.is_sparse ? read_sparse : read_full;
      batches[0] = read(variable, cursor, comm.size(), comm.rank());
      return true;
    });
  });
  return {assemble_evenly(comm, chosen->rows, chosen->columns, chosen->is_complex, std::move(batches)),
          {source.name(), "mat", false, source.size(), chosen->is_complex}};
}

}  // namespace ayatori::io
