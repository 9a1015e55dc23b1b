#include "ayatori/io/matrix_market/place.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/complex_parts.hpp"
#include "ayatori/io/matrix_market/locate.hpp"

namespace ayatori::io::matrix_market {

namespace {

/// Where a piece is in the content, and how many values it has.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t lines = 0;
};

/// Walks the stored places of an array: column by column, from the first stored row of each.
class ArrayCursor {
 public:
  /// At the place of value number `ordinal`, from 0.
  ArrayCursor(const Header& header, std::int64_t ordinal) : header_(header) {
    // The last column that begins at or before the value, by bisection: begins_ is the sum of the columns
    // before.
    std::int64_t above = header.columns;
    while (above - column_ > 1) {
      const std::int64_t middle = column_ + (above - column_) / 2;
      (stored_before(middle) <= ordinal ? column_ : above) = middle;
    }
    row_ = first_row(column_) + ordinal - stored_before(column_);
  }

  std::int64_t row() const { return row_; }
  std::int64_t column() const { return column_; }
  void advance() {
    if (++row_ == header_.rows) row_ = first_row(++column_);
  }

 private:
  std::int64_t first_row(std::int64_t column) const {
    if (header_.symmetry == Symmetry::general) return 0;
    return header_.symmetry == Symmetry::skew ? column + 1 : column;
  }
  /// Values stored in the columns before this one.
  std::int64_t stored_before(std::int64_t column) const {
    if (header_.symmetry == Symmetry::general) return column * header_.rows;
    const std::int64_t first_column = header_.rows - first_row(0);
    return column * first_column - column * (column - 1) / 2;
  }

  const Header& header_;
  std::int64_t column_ = 0;
  std::int64_t row_ = 0;
};

/// Turns the values of a piece, the first of which has number `first_ordinal`, into entries. Gives the number
/// of the first that a hermitian matrix must not have on its diagonal.
std::int64_t place_values(const Header& header, Piece& piece, std::int64_t first_ordinal) {
  const std::int64_t parts = parts_of(header.is_complex());
  const Array<sparse::Entry> numbered = std::exchange(piece.entries, {});
  std::int64_t first_wrong = nowhere;
  ArrayCursor cursor(header, first_ordinal);
  for (std::size_t k = 0; k < numbered.size(); k += parts, cursor.advance()) {
    const auto value = std::span(numbered).subspan(k, parts);
    if (std::ranges::all_of(value, [](const sparse::Entry& part) { return part.value == 0; })) continue;
    const std::int64_t row = cursor.row();
    const std::int64_t column = cursor.column();
    for (const auto& [ordinal, part, number] : value) {
      piece.entries.push_back({row, parts * column + part, number});
      if (header.symmetry != Symmetry::general && row != column)
        piece.entries.push_back({column, parts * row + part, mirrored(header.symmetry, part, number)});
    }
    if (header.symmetry == Symmetry::hermitian && row == column && value.back().value != 0)
      first_wrong = std::min(first_wrong, first_ordinal + value.back().row);
  }
  return first_wrong;
}

/// Collective. `ordinal` is on every rank that of the first wrong value of its pieces.
void check_diagonal(const comm::Comm& comm, const ByteSource& source, const Header& header,
                    std::int64_t ordinal) {
  ordinal = comm.allreduce(ordinal, comm::ReduceOp::min);
  if (ordinal == nowhere) return;
  comm::agree(comm, [&] {
    if (comm.rank() != 0) return;
    throw InputError(located(source.name(), line_of_entry(source, header, ordinal),
                             complex_diagonal(ArrayCursor(header, ordinal).row() + 1)));
  });
}

}  // namespace

void place_array_values(const comm::Comm& comm, const ByteSource& source, const Header& header,
                        std::vector<Piece>& pieces) {
  std::vector<Extent> mine;
  for (const Piece& piece : pieces) mine.push_back({piece.offset, piece.lines});
  std::vector<Extent> extents = comm.allgatherv(std::span<const Extent>(mine)).values;
  const auto by_offset = [](const Extent& a, const Extent& b) { return a.offset < b.offset; };
  std::sort(extents.begin(), extents.end(), by_offset);
  const std::int64_t first_wrong = comm::agree(comm, [&] {
    std::int64_t wrong = nowhere;
    std::vector<std::int64_t> first(extents.size() + 1, 0);
    for (std::size_t k = 0; k < extents.size(); ++k) first[k + 1] = first[k] + extents[k].lines;
    for (Piece& piece : pieces) {
      if (piece.lines == 0) continue;
      // Pieces without text may share the offset of the one that has it; they come to nothing in the sum.
      const auto at = std::lower_bound(extents.begin(), extents.end(), Extent{piece.offset, 0}, by_offset);
      wrong =
          std::min(wrong, place_values(header, piece, first[static_cast<std::size_t>(at - extents.begin())]));
    }
    return wrong;
  });
  check_diagonal(comm, source, header, first_wrong);
}

}  // namespace ayatori::io::matrix_market
