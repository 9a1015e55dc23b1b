#include "ayatori/sparse/pattern/row_order.hpp"

#include <algorithm>
#include <array>

#include "ayatori/base/parallel.hpp"

namespace ayatori::sparse {

namespace {

/// Fewer rows are learned by today's processors.
constexpr std::int64_t fewest_rows = 1 << 14;
/// In longer rows the ends matter less than that entries stream through.
constexpr std::int64_t longest_mean_row = 10;
constexpr double many_misses = 0.5;  ///< share of the rows looked at
constexpr std::int64_t rows_looked_at = 1 << 12;

constexpr std::int64_t window = 256;
/// Rows of at least this many entries count as equally long.
constexpr std::int64_t long_row = 32;

std::int64_t length(std::span<const std::int64_t> row_start, std::int64_t row) {
  return row_start[row + 1] - row_start[row];
}

/// How often the length of a row, modulo 8, is not what it was when the four before it were last the same:
/// a share of the second half of these rows, so that the first is there to learn from.
double share_of_surprises(std::span<const std::int64_t> row_start, Range rows) {
  constexpr std::uint32_t contexts = 1 << 12;  // four times three bits
  std::array<std::uint8_t, contexts> next{};
  std::uint32_t context = 0;
  std::int64_t surprises = 0;
  const std::int64_t half = rows.begin + rows.size() / 2;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const auto now = static_cast<std::uint8_t>(length(row_start, i) % 8);
    surprises += i >= half && next[context] != now ? 1 : 0;
    next[context] = now;
    context = (8 * context + now) % contexts;
  }
  return static_cast<double>(surprises) / static_cast<double>(rows.end - half);
}

bool has_unpredictable_ends(std::span<const std::int64_t> row_start) {
  const auto rows = static_cast<std::int64_t>(row_start.size()) - 1;
  if (rows < fewest_rows || row_start.back() > longest_mean_row * rows) return false;
  const std::int64_t first = (rows - rows_looked_at) / 2;
  return share_of_surprises(row_start, {first, first + rows_looked_at}) > many_misses;
}

/// Puts the numbers of a window's rows in ascending order of their lengths.
void sort_window(std::span<const std::int64_t> row_start, Range rows, std::int32_t* order) {
  std::array<std::int32_t, long_row + 2> place{};  // place of the next row of each length
  const auto length_class = [&](std::int64_t i) { return std::min(length(row_start, i), long_row); };
  for (std::int64_t i = rows.begin; i < rows.end; ++i) ++place[length_class(i) + 1];
  for (std::size_t c = 1; c < place.size(); ++c) place[c] += place[c - 1];
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    order[place[length_class(i)]++] = static_cast<std::int32_t>(i);
}

}  // namespace

RowOrder::RowOrder(std::span<const std::int64_t> row_start) {
  if (!has_unpredictable_ends(row_start)) return;
  const auto rows = static_cast<std::int64_t>(row_start.size()) - 1;
  order_.resize(rows);
  const std::int64_t windows = (rows + window - 1) / window;
  parallel_for(windows, [&](std::int64_t w) {
    const Range own{w * window, std::min((w + 1) * window, rows)};
    sort_window(row_start, own, order_.data() + own.begin);
  });
}

}  // namespace ayatori::sparse
