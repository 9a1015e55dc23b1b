#include "ayatori/io/columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/io/matrix_market/header.hpp"
#include "ayatori/io/matrix_market/lines.hpp"
#include "ayatori/io/matrix_market/locate.hpp"
#include "ayatori/io/matrix_market/words.hpp"
#include "ayatori/io/number.hpp"

namespace ayatori::io {

namespace {

using matrix_market::Fault;
using matrix_market::nowhere;

/// By the words of a line.
enum class Kind : std::size_t { none, vector, edges, triplets };

constexpr std::size_t most_words = 3;

bool is_comment(char c) {
  return c == '%' || c == '#';
}

/// The first line with data, without its end; empty if there is none among these characters.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
    if (first != line.end() && !is_comment(*first)) return line;
  }
  return {};
}

bool is_number(std::string_view word) {
  const std::string text = std::string(word) + '\n';
  const char* p = text.data();
  double value = 0;
  return parse_real(p, text.data() + text.size(), value) != NumberFault::not_a_number && *p == '\n';
}

/// `none` if this is not the first line of such a file.
Kind kind_of(std::string_view line) {
  const auto words = matrix_market::words_of(line);
  if (words.size() > most_words || !std::ranges::all_of(words, is_number)) return Kind::none;
  return static_cast<Kind>(words.size());
}

Kind kind_of_beginning(std::string_view text) {
  return kind_of(first_line(matrix_market::without_byte_order_mark(text)));
}

/// What one rank finds in its lines. A vector's entries have the number of their line of data as row.
struct Share {
  Array<sparse::Entry> entries;  ///< as they are numbered in the file
  Fault fault;
  std::int64_t first_offset = nowhere;  ///< offset of the first entry's line
};

/// Reads lines, the last one ended too, until one is wrong.
class Parser {
 public:
  Parser(Kind kind, Share& share) : kind_(kind), share_(share) {}

  void parse(const matrix_market::Text& text) {
    const char* const begin = text.characters.data();
    end_ = begin + text.characters.size();
    const std::string_view whole(begin, text.characters.size());
    const char* const first = text.offset == 0 ? matrix_market::without_byte_order_mark(whole).data() : begin;
    for (const char* p = first; p < end_; p = std::find(p, end_, '\n') + 1) {
      const char* const start = skip_blanks(p);
      if (*start == '\n' || is_comment(*start)) continue;
      const std::int64_t offset = text.offset + (p == first ? 0 : p - begin);
      if (!line(start)) {
        const std::string_view refused(p, static_cast<std::size_t>(std::find(p, end_, '\n') - p));
        share_.fault = {offset, explain(refused)};
        return;
      }
      share_.first_offset = std::min(share_.first_offset, offset);
    }
  }

 private:
  bool line(const char* p) {
    sparse::Entry entry{static_cast<std::int64_t>(share_.entries.size()), 0, 1.0};
    if (kind_ != Kind::vector && !(index(p, end_, entry.row) && index(p, end_, entry.column))) return false;
    if (kind_ != Kind::edges && parse_real(p, end_, entry.value) != NumberFault::none) return false;
    if (*skip_blanks(p) != '\n') return false;
    share_.entries.push_back(entry);
    return true;
  }

  static bool ends_word(char c) { return is_blank(c) || c == '\n'; }

  static bool index(const char*& p, const char* end, std::int64_t& value) {
    const char* const start = p;
    if (!parse_index(p, value) || !ends_word(*p)) {
      p = start;
      if (!floating_index(p, end, value)) return false;
    }
    p = skip_blanks(p);
    return true;
  }

  /// A whole number as numpy.savetxt writes it: 1.000000000000000000e+00.
  static bool floating_index(const char*& p, const char* end, std::int64_t& value) {
    constexpr double first_inexact = 9007199254740992;
    double number = 0;
    if (parse_real(p, end, number) != NumberFault::none || !ends_word(*p)) return false;
    if (number < 0 || number >= first_inexact || number != std::floor(number)) return false;
    value = static_cast<std::int64_t>(number);
    return true;
  }

  /// What is wrong with a line that was refused.
  std::string explain(std::string_view line) const {
    const auto words = matrix_market::words_of(line);
    const auto expected = static_cast<std::size_t>(kind_);
    const std::size_t indices = kind_ == Kind::vector ? 0 : 2;
    for (std::size_t k = 0; k < std::min(indices, words.size()); ++k) {
      const std::string text = words[k] + '\n';
      const char* p = text.data();
      std::int64_t value = 0;
      if (!index(p, text.data() + text.size(), value))
        return fmt::format("{} where a {} number belongs", in_quotes(words[k]), k == 0 ? "row" : "column");
    }
    if (words.size() != expected)
      return fmt::format("{} words on the line, where the first line has {}", words.size(), expected);
    return fmt::format("{} where a finite number belongs", in_quotes(words.back()));
  }

  Kind kind_;
  Share& share_;
  const char* end_ = nullptr;
};

Share read_share(const ByteSource& source, Kind kind, Range range) {
  constexpr std::int64_t piece_bytes = std::int64_t{4} << 20;
  Share share;
  Parser parser(kind, share);
  Array<char> buffer;
  for (std::int64_t begin = range.begin; begin < range.end; begin += piece_bytes) {
    const Range piece{begin, std::min(begin + piece_bytes, range.end)};
    const auto lines = matrix_market::read_lines(source, piece, 0, buffer);
    share.fault = lines.fault;
    parser.parse(lines.text);
    if (share.fault.offset != nowhere) break;
  }
  return share;
}

/// An error at the line that begins at `offset`.
InputError error_at(const ByteSource& source, std::int64_t offset, std::string_view what) {
  const matrix_market::Header all{.entries = nowhere};
  return InputError(
      matrix_market::located(source.name(), matrix_market::locate(source, all, offset).line, what));
}

/// Collective. Throws for the first fault of all ranks.
void check(const comm::Comm& comm, const ByteSource& source, const Fault& fault) {
  const auto first = comm.allreduce<std::int64_t>(fault.offset, comm::ReduceOp::min);
  comm::agree(comm, [&] {
    if (first != nowhere && fault.offset == first) throw error_at(source, first, fault.what);
  });
}

/// Bounds of all ranks' entries.
struct Bounds {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t row = -1;
  std::int64_t column = -1;
};

Bounds bounds_of(const comm::Comm& comm, const Array<sparse::Entry>& entries) {
  Bounds mine;
  for (const auto& [row, column, value] : entries) {
    mine.least = std::min({mine.least, row, column});
    mine.row = std::max(mine.row, row);
    mine.column = std::max(mine.column, column);
  }
  std::array most{-mine.least, mine.row, mine.column};
  comm.allreduce(std::span<std::int64_t>(most), comm::ReduceOp::max);
  return {-most[0], most[1], most[2]};
}

/// Collective. Refuses the size line of Matrix Market, which would be taken for an entry: it names the number
/// of lines that follow, and rows and columns that none of them is beyond.
void check_no_size_line(const comm::Comm& comm, const ByteSource& source, const Share& share,
                        const Bounds& bounds) {
  const auto count =
      comm.allreduce<std::int64_t>(static_cast<std::int64_t>(share.entries.size()), comm::ReduceOp::sum);
  const auto first = comm.allreduce<std::int64_t>(share.first_offset, comm::ReduceOp::min);
  comm::agree(comm, [&] {
    if (share.first_offset != first || share.entries.empty()) return;
    const auto& [row, column, value] = share.entries.front();
    if (value != 0 && value == static_cast<double>(count - 1) && row == bounds.row && column == bounds.column)
      throw error_at(source, first,
                     "this is the size line of a Matrix Market file: put its banner before it, "
                     "'%%MatrixMarket matrix coordinate real general'");
  });
}

/// Collective. Turns numbers of the file into rows and columns from 0, and gives the matrix's size.
std::array<std::int64_t, 2> number(const comm::Comm& comm, const ByteSource& source, Kind kind,
                                   Share& share) {
  if (kind == Kind::vector) {
    const auto mine = static_cast<std::int64_t>(share.entries.size());
    const auto counts = comm.allgather(mine);
    const std::int64_t before =
        std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::int64_t{0});
    for (sparse::Entry& entry : share.entries) entry.row += before;
    return {std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), 1};
  }
  const Bounds bounds = bounds_of(comm, share.entries);
  if (kind == Kind::triplets) check_no_size_line(comm, source, share, bounds);
  const std::int64_t base = bounds.least == 0 ? 0 : 1;
  constexpr std::int64_t most_per_byte = 16;
  constexpr std::int64_t always = 1000000;
  const std::int64_t most = std::max(always, most_per_byte * source.size());
  comm::agree(comm, [&] {
    if (std::max(bounds.row, bounds.column) > most)
      throw InputError(
          fmt::format("{}: the greatest row number is {}, and the greatest column number {}, in a "
                      "file of {} bytes: number them without gaps",
                      source.name(), bounds.row, bounds.column, source.size()));
  });
  for (sparse::Entry& entry : share.entries) {
    entry.row -= base;
    entry.column -= base;
  }
  std::array size{bounds.row + 1 - base, bounds.column + 1 - base};
  if (kind == Kind::edges) size.fill(std::max(size[0], size[1]));
  return size;
}

}  // namespace

bool looks_like_columns(std::string_view first_bytes) {
  return kind_of_beginning(first_bytes) != Kind::none;
}

std::size_t numbers_between_commas(std::string_view first_bytes) {
  std::string_view line = first_line(matrix_market::without_byte_order_mark(first_bytes));
  std::size_t numbers = 0;
  for (bool is_last = false; !is_last; ++numbers) {
    const std::size_t comma = line.find(',');
    is_last = comma == std::string_view::npos;
    const auto words = matrix_market::words_of(line.substr(0, comma));
    if (words.size() != 1 || !is_number(words[0])) break;
    line.remove_prefix(std::min(comma, line.size() - 1) + 1);
  }
  return numbers;
}

LoadedMatrix read_columns(const comm::Comm& comm, const ByteSource& source) {
  constexpr std::size_t enough_to_tell = 65536;
  const auto kind_here = comm::agree(comm, [&] {
    return comm.rank() == 0 ? kind_of_beginning(first_bytes(source, enough_to_tell)) : Kind::none;
  });
  const auto kind = comm.broadcast(kind_here, 0);
  auto share = comm::agree(comm, [&] {
    if (kind == Kind::none) throw InputError(source.name() + ": no columns of one to three numbers");
    return read_share(source, kind, split_evenly(source.size(), comm.size(), comm.rank()));
  });
  check(comm, source, share.fault);
  const auto [rows, columns] = number(comm, source, kind, share);
  std::erase_if(share.entries, [](const sparse::Entry& entry) { return entry.value == 0; });
  std::vector<Array<sparse::Entry>> batches;
  batches.push_back(std::move(share.entries));
  return {sparse::assemble(comm, sparse::RowPartition::even(rows, comm.size()), columns, std::move(batches)),
          {source.name(), "columns", false, source.size()}};
}

}  // namespace ayatori::io
