#include "ayatori/tuning/facts/dropped_fill.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::tuning {

namespace {

constexpr std::int64_t most_cones = 32;
constexpr int most_steps = 8;
constexpr std::size_t most_rows = 256;
/// The work of all cones is one part in this many of the entries, and that of one cone one in this many of
/// this: it costs little beside a product, though an entry takes longer here.
constexpr std::int64_t parts_of_entries = 16;
constexpr std::int64_t parts_of_work = 2;

std::int64_t length_of(const sparse::Csr& a, std::int64_t row) {
  return a.row_start[row + 1] - a.row_start[row];
}

/// In entries: half of a row's are rows to subtract.
std::int64_t work_of(const sparse::Csr& a, const std::vector<std::int64_t>& rows) {
  std::int64_t work = 0;
  for (const std::int64_t row : rows) work += (length_of(a, row) * length_of(a, row) + 1) / 2;
  return work;
}

/// A row, the tip, and what has to be eliminated before it, but for rows that are too many steps away.
struct Cone {
  std::vector<std::int64_t> rows;  ///< ascending
  std::int64_t work = 0;           ///< work of eliminating them
};

/// Rows to be subtracted from these that are not in the cone.
std::vector<std::int64_t> rows_below(const sparse::Csr& a, const std::vector<std::int64_t>& rows,
                                     const Cone& cone) {
  std::vector<std::int64_t> below;
  for (const std::int64_t row : rows)
    for (std::int64_t k = a.row_start[row]; k < a.row_start[row + 1] && a.column[k] < row; ++k)
      below.push_back(a.column[k]);
  std::ranges::sort(below);
  below.erase(std::ranges::unique(below).begin(), below.end());
  std::erase_if(below, [&](std::int64_t row) { return std::ranges::binary_search(cone.rows, row); });
  return below;
}

/// Nothing if not even the first step may be taken.
std::optional<Cone> find_cone(const sparse::Csr& a, std::int64_t tip, std::int64_t most_work) {
  // One in this many of the rows to subtract from those of the last step is in the cone.
  constexpr std::int64_t few = 4;
  Cone cone{{tip}, 0};
  std::vector<std::int64_t> front = cone.rows;
  std::int64_t work_inside = 0;
  for (int step = 1; step <= most_steps; ++step) {
    work_inside += work_of(a, front);
    front = rows_below(a, front, cone);
    const std::int64_t work = work_inside + work_of(a, front) / few;
    if (work > most_work || cone.rows.size() + front.size() > most_rows)
      return step == 1 ? std::nullopt : std::optional(std::move(cone));
    cone.work = work;
    const auto old = static_cast<std::ptrdiff_t>(cone.rows.size());
    cone.rows.insert(cone.rows.end(), front.begin(), front.end());
    std::ranges::inplace_merge(cone.rows, cone.rows.begin() + old);
  }
  return cone;
}

/// Eliminates the rows of a cone one after the other, each in the places that its entries have.
class ConeFactors {
 public:
  explicit ConeFactors(const sparse::Csr& a) : a_(a) {}

  void eliminate(std::int64_t row) {
    const std::size_t begin = column_.size();
    column_.insert(column_.end(), a_.column.begin() + a_.row_start[row],
                   a_.column.begin() + a_.row_start[row + 1]);
    value_.insert(value_.end(), a_.value.begin() + a_.row_start[row],
                  a_.value.begin() + a_.row_start[row + 1]);
    const std::size_t end = column_.size();
    dropped_ = 0;
    auto other = rows_.begin();
    std::size_t place = begin;
    for (; place < end && column_[place] < row; ++place) {
      while (other != rows_.end() && other->number < column_[place]) ++other;
      if (other != rows_.end() && other->number == column_[place] && other->pivot != 0)
        subtract(*other, value_[place] / other->pivot, place, end);
    }
    const bool has_pivot = place < end && column_[place] == row;
    rows_.push_back({row, has_pivot ? value_[place] : 0, has_pivot ? place + 1 : place, end});
  }
  /// Sum of what the row eliminated last has no place for.
  double dropped() const { return dropped_; }

 private:
  struct Row {
    std::int64_t number;
    double pivot;       ///< or 0
    std::size_t upper;  ///< its first entry right of the diagonal
    std::size_t end;
  };

  void subtract(const Row& other, double factor, std::size_t place, std::size_t end) {
    for (std::size_t of_other = other.upper; of_other < other.end; ++of_other) {
      while (place < end && column_[place] < column_[of_other]) ++place;
      if (place < end && column_[place] == column_[of_other]) {
        value_[place] -= factor * value_[of_other];
      } else {
        dropped_ += factor * value_[of_other];
      }
    }
  }

  const sparse::Csr& a_;
  std::vector<Row> rows_;             ///< eliminated so far
  std::vector<std::int32_t> column_;  ///< columns of their entries
  std::vector<double> value_;
  double dropped_ = 0;
};

/// |what the last row of a cone leaves out / its diagonal|; not finite if there is none.
double dropped_at_tip(const sparse::Csr& a, const Cone& cone) {
  ConeFactors factors(a);
  for (const std::int64_t row : cone.rows) factors.eliminate(row);
  const std::int64_t tip = cone.rows.back();
  return std::abs(factors.dropped() / sparse::value_at(a, sparse::find_entry(a, tip, tip)));
}

}  // namespace

DroppedFill dropped_fill(const sparse::Csr& block) {
  DroppedFill found;
  const std::int64_t work = block.nonzeros() / parts_of_entries;
  std::int64_t work_left = work;
  for (std::int64_t r = 0; r < std::min<std::int64_t>(block.rows, most_cones); ++r) {
    // The first few are spread like all of them, and grids have no such period.
    constexpr double golden_ratio = 0.6180339887498949;
    const double place = std::fmod(golden_ratio * static_cast<double>(r + 1), 1);
    const auto tip = static_cast<std::int64_t>(place * static_cast<double>(block.rows));
    const auto cone = find_cone(block, tip, work / parts_of_work);
    work_left -= cone ? cone->work : length_of(block, tip);
    if (work_left < 0) break;
    const double left_out = cone ? dropped_at_tip(block, *cone) : std::numeric_limits<double>::infinity();
    if (!std::isfinite(left_out)) continue;
    found.rows += 1;
    found.sum += left_out;
  }
  return found;
}

}  // namespace ayatori::tuning
