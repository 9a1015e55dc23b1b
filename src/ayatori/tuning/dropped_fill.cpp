#include "ayatori/tuning/dropped_fill.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ayatori/sparse/mirror.hpp"

namespace ayatori::tuning {

namespace {

constexpr std::int64_t most_rows = 128;
/// A look costs little beside a product, though an entry takes longer here.
constexpr std::int64_t share_of_entries = 16;

double diagonal(const sparse::Csr& a, std::int64_t row) {
  return sparse::value_at(a, sparse::find_entry(a, row, row));
}

/// The fill of row i that eliminating its entry in column k would give and that row i has no place for.
double dropped_by(const sparse::Csr& a, std::int64_t i, std::int64_t k) {
  std::int64_t place = a.row_start[i];
  const std::int64_t end = a.row_start[i + 1];
  double sum = 0;
  for (std::int64_t entry = a.row_start[k]; entry < a.row_start[k + 1]; ++entry) {
    const std::int32_t j = a.column[entry];
    if (j <= k) continue;
    while (place < end && a.column[place] < j) ++place;
    if (place == end || a.column[place] != j) sum += a.value[entry];
  }
  return sum;
}

/// Looks at the entries of one row after the other until it has looked at so many.
class Look {
 public:
  Look(const sparse::Csr& a, std::int64_t most_entries) : a_(a), entries_left_(most_entries) {}

  /// |what row i leaves out / a_ii|, or nothing if there is no a_ii or too much to look at.
  std::optional<double> at_row(std::int64_t i) {
    const double pivot = diagonal(a_, i);
    if (pivot == 0) return {};
    double sum = 0;
    for (std::int64_t entry = a_.row_start[i]; entry < a_.row_start[i + 1]; ++entry) {
      const std::int32_t k = a_.column[entry];
      if (k >= i) break;
      entries_left_ -= a_.row_start[k + 1] - a_.row_start[k];
      if (is_over()) return {};
      const double of_k = diagonal(a_, k);
      if (of_k != 0) sum += a_.value[entry] * dropped_by(a_, i, k) / of_k;
    }
    return std::abs(sum / pivot);
  }
  bool is_over() const { return entries_left_ < 0; }

 private:
  const sparse::Csr& a_;
  std::int64_t entries_left_;
};

}  // namespace

DroppedFill dropped_fill(const sparse::Csr& block) {
  DroppedFill found;
  Look look(block, block.nonzeros() / share_of_entries);
  for (std::int64_t r = 0; r < std::min<std::int64_t>(block.rows, most_rows) && !look.is_over(); ++r) {
    // The first few are spread as well as all, and grids have no such period.
    constexpr double golden_ratio = 0.6180339887498949;
    const double place = std::fmod(golden_ratio * static_cast<double>(r + 1), 1);
    const auto left_out = look.at_row(static_cast<std::int64_t>(place * block.rows));
    if (!left_out || !std::isfinite(*left_out)) continue;
    found.rows += 1;
    found.sum += *left_out;
  }
  return found;
}

}  // namespace ayatori::tuning
