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
using matlab::Variable;

std::vector<Variable> list_variables(const ByteSource& source) {
  std::vector<Variable> variables;
  matlab::visit_variables(source, [&](const Variable& variable, Cursor& /*cursor*/) {
    variables.push_back(variable);
    return false;
  });
  return variables;
}

std::string describe(const std::vector<Variable>& variables) {
  std::string text;
  constexpr std::size_t longest = 400;
  for (const Variable& v : variables) {
    if (text.size() > longest) return text + ", ...";
    text += fmt::format("{}{} ({} x {}{})", text.empty() ? "" : ", ", v.name, v.rows, v.columns,
                        v.is_sparse ? ", sparse" : "");
  }
  return text.empty() ? "no matrix" : text;
}

/// The only one that is wanted, if there is one.
template <class Wanted>
const Variable* only(const std::vector<Variable>& variables, Wanted&& wanted) {
  if (std::ranges::count_if(variables, wanted) != 1) return nullptr;
  return &*std::ranges::find_if(variables, wanted);
}

bool is_sparse(const Variable& v) {
  return v.is_sparse;
}
bool is_full(const Variable& v) {
  return !v.is_sparse;
}
bool is_full_matrix(const Variable& v) {
  return !v.is_sparse && v.rows > 1 && v.columns > 1;
}
bool is_full_vector(const Variable& v) {
  return !v.is_sparse && v.rows * v.columns > 1;
}

/// The variable of this name; without a name, the only one of the first of these sorts that has any. Throws
/// InputError.
Variable choose(const ByteSource& source, const std::string& name,
                std::initializer_list<bool (*)(const Variable&)> sorts) {
  const auto variables = list_variables(source);
  const Variable* chosen = nullptr;
  if (!name.empty()) {
    chosen = only(variables, [&](const Variable& v) { return v.name == name; });
    if (chosen == nullptr)
      chosen = only(variables, [&](const Variable& v) { return v.name.ends_with("." + name); });
    if (chosen == nullptr)
      throw InputError(fmt::format("{}: no variable is called {}: it holds {}", source.name(),
                                   in_quotes(name), describe(variables)));
  }
  for (const auto sort : sorts) {
    if (chosen != nullptr || !std::ranges::any_of(variables, sort)) continue;
    chosen = only(variables, sort);
    break;
  }
  if (chosen == nullptr) {
    throw InputError(
        fmt::format("{}: holds {}: say which, {}:NAME", source.name(), describe(variables), source.name()));
  }
  return *chosen;
}

Variable choose_matrix(const ByteSource& source, const std::string& name) {
  return choose(source, name, {is_sparse, is_full_matrix, is_full_vector, is_full});
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
  numbers.skip(share.begin);
  std::vector<std::int64_t> rows;
  for (std::int64_t begin = share.begin; begin < share.end; begin += chunk) {
    rows.resize(static_cast<std::size_t>(std::min(chunk, share.end - begin)));
    numbers.integers(rows);
    for (const std::int64_t row : rows) entries.push_back({row, 0, 0.0});
  }
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
  numbers.skip(std::min(share.begin, span.end));
  const std::int64_t parts = parts_of(variable.is_complex);
  const std::int64_t mine = std::ssize(entries) / parts;
  std::vector<double> values;
  for (std::int64_t begin = 0; begin < mine; begin += std::ssize(values)) {
    values.resize(static_cast<std::size_t>(std::min(chunk, mine - begin)));
    numbers.reals(values);
    for (std::int64_t k = 0; k < std::ssize(values); ++k)
      entries[parts * (begin + k) + part].value = values[k];
  }
  cursor.leave(element, std::min(share.begin, span.end) + mine);
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

/// Empty rows cost memory, but nothing in the file: what is out of proportion is a damaged number.
void check_sizes(const ByteSource& source, const Variable& variable) {
  constexpr std::int64_t harmless = std::int64_t{1} << 20;
  constexpr std::int64_t most_rows_per_byte = 1024;
  if (std::max(variable.rows, variable.columns) / most_rows_per_byte > source.size() + harmless) {
    throw InputError(fmt::format("{}: {} x {} of {} is out of all proportion to a file of {} bytes",
                                 source.name(), variable.rows, variable.columns, variable.name,
                                 source.size()));
  }
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

MatVectors find_mat_vectors(const ByteSource& source, const std::string& name) {
  const Variable chosen = choose(source, name, {is_full_vector, is_full});
  return {chosen.name, chosen.rows == 1 ? 1 : chosen.columns};
}

bool mat_is_complex(const ByteSource& source, const std::string& name) {
  return choose_matrix(source, name).is_complex;
}

LoadedMatrix read_mat(const comm::Comm& comm, const ByteSource& source, const std::string& name) {
  std::optional<Variable> chosen;
  std::vector<Array<sparse::Entry>> batches(1);
  comm::agree(comm, [&] {
    chosen = choose_matrix(source, name);
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
