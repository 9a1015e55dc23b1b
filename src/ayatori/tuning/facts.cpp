#include "ayatori/tuning/facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "ayatori/base/parallel.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

/// The figures that simple sums, minima and maxima over rows give.
struct RowFigures {
  std::int64_t min_row = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_row = 0;
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  std::int64_t zero = 0;
  std::int64_t dominant = 0;
  double max_abs = 0;
  double norm_infinity = 0;

  void add_row(std::int64_t length, double diagonal, double sum_abs, double largest) {
    min_row = std::min(min_row, length);
    max_row = std::max(max_row, length);
    positive += diagonal > 0 ? 1 : 0;
    negative += diagonal < 0 ? 1 : 0;
    zero += diagonal == 0 ? 1 : 0;
    dominant += diagonal != 0 && 2 * std::abs(diagonal) >= sum_abs * (1 - 1e-14) ? 1 : 0;
    max_abs = std::max(max_abs, largest);
    norm_infinity = std::max(norm_infinity, sum_abs);
  }

  void merge(const RowFigures& other) {
    min_row = std::min(min_row, other.min_row);
    max_row = std::max(max_row, other.max_row);
    positive += other.positive;
    negative += other.negative;
    zero += other.zero;
    dominant += other.dominant;
    max_abs = std::max(max_abs, other.max_abs);
    norm_infinity = std::max(norm_infinity, other.norm_infinity);
  }
};

/// Sum and maximum of absolute values.
struct Magnitudes {
  double sum = 0;
  double largest = 0;

  void add_row(const Csr& csr, std::int64_t row) {
    const std::int64_t end = csr.row_start[row + 1];
    for (std::int64_t k = csr.row_start[row]; k < end; ++k) {
      const double magnitude = std::abs(csr.value[k]);
      sum += magnitude;
      largest = std::max(largest, magnitude);
    }
  }
};

/// How far pairs a_ij, a_ji are from being equal.
struct Asymmetry {
  bool values = false;
  bool pattern = false;
  double largest = 0;  ///< max |a_ij - a_ji|

  /// `scale` gives the smaller of the largest entries of rows i and j. It is called only where it matters:
  /// most pairs are equal, or come when the matrix is known to be unsymmetric.
  template <class Scale>
  void compare(double a, double b, Scale&& scale) {
    if (a == b) return;
    const double difference = std::abs(a - b);
    if (!values) values = difference > 1e-13 * scale();
    largest = std::max(largest, difference);
  }
  template <class Scale>
  void add_unmirrored(double a, Scale&& scale) {
    pattern = true;
    compare(a, 0, scale);
  }
  /// Whether this entry, if it has no mirror image, changes nothing that is known.
  bool covers_unmirrored(double a) const { return pattern && values && std::abs(a) <= largest; }

  void merge(const Asymmetry& other) {
    values = values || other.values;
    pattern = pattern || other.pattern;
    largest = std::max(largest, other.largest);
  }
};

/// One pass over the rows of a rank, which share 2 x 8 bytes per row: traffic 12 bytes per nonzero and 24 per
/// row, as for a product. Only entries below the diagonal look for their mirror images. As rows are visited
/// in ascending order, those of row j are met from left to right, so that a cursor per row finds them without
/// a search; and the row was visited before, so that its largest entry is known.
///
/// Threads visit ranges of rows. Pairs of entries in two ranges are compared after that, by search.
class RowVisits {
 public:
  explicit RowVisits(const SplitMatrix& parts)
      : parts_(parts), matrix_(parts.interior), largest_(matrix_.rows), cursor_(matrix_.rows) {
    const auto ranges = ranges_of_equal_work();
    const int count = static_cast<int>(ranges.size());
    std::vector<std::int64_t> crossing_end(count);
#pragma omp parallel for schedule(static, 1) num_threads(count)
    for (int t = 0; t < count; ++t) crossing_end[t] = visit(ranges[t]);
    for (int t = 1; t < count; ++t) compare_across({ranges[t].begin, crossing_end[t]});
    if (upper_met_ < upper_) visit_unmet();
  }

  const RowFigures& figures() const {
    return figures_;
  }
  const Asymmetry& asymmetry() const {
    return asymmetry_;
  }
  /// The largest |a_ij| of a row, over interior and halo part.
  double largest(std::int64_t row) const {
    return largest_[row];
  }

 private:
  std::vector<Range> ranges_of_equal_work() const {
    const int count = threads_for(matrix_.nonzeros());
    std::vector<Range> ranges(count);
    for (int t = 1; t < count; ++t) {
      const std::int64_t before = split_evenly(matrix_.nonzeros(), count, t).begin;
      const auto row = std::lower_bound(matrix_.row_start.begin(), matrix_.row_start.end(), before);
      ranges[t - 1].end = ranges[t].begin = row - matrix_.row_start.begin();
    }
    ranges.back().end = matrix_.rows;
    return ranges;
  }

  double scale(std::int64_t i, std::int64_t j) const {
    return std::min(largest_[i], largest_[j]);
  }

  /// Everything that the rows of a range tell on their own. Returns the row after the last one that has
  /// entries left of the range.
  std::int64_t visit(Range range) {
    const std::int64_t* start = matrix_.row_start.data();
    const std::int32_t* column = matrix_.column.data();
    const double* value = matrix_.value.data();
    RowFigures figures;
    Asymmetry asymmetry;
    std::int64_t upper = 0;
    std::int64_t upper_met = 0;
    std::int64_t crossing_end = range.begin;
    auto halo_row = std::ranges::lower_bound(parts_.halo_rows, range.begin) - parts_.halo_rows.begin();
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t end = start[i + 1];
      std::int64_t length = end - start[i];
      Magnitudes magnitudes;
      magnitudes.add_row(matrix_, i);
      if (halo_row < parts_.halo.rows && parts_.halo_rows[halo_row] == i) {
        length += parts_.halo.row_start[halo_row + 1] - parts_.halo.row_start[halo_row];
        magnitudes.add_row(parts_.halo, halo_row++);
      }
      largest_[i] = magnitudes.largest;

      std::int64_t k = start[i];
      if (k < end && column[k] < range.begin) {
        crossing_end = i + 1;
        while (k < end && column[k] < range.begin) ++k;
      }
      for (; k < end && column[k] < i; ++k) {
        const std::int32_t j = column[k];
        std::int64_t mirror = cursor_[j];
        const std::int64_t mirror_end = start[j + 1];
        for (; mirror < mirror_end && column[mirror] < i; ++mirror) {
          ++upper_met;
          asymmetry.add_unmirrored(value[mirror], [&] { return scale(j, column[mirror]); });
        }
        if (mirror < mirror_end && column[mirror] == i) {
          ++upper_met;
          asymmetry.compare(value[k], value[mirror++], [&] { return scale(i, j); });
        } else {
          asymmetry.add_unmirrored(value[k], [&] { return scale(i, j); });
        }
        cursor_[j] = mirror;
      }
      const double diagonal = k < end && column[k] == i ? value[k++] : 0;
      cursor_[i] = k;
      upper += end - k;
      figures.add_row(length, diagonal, magnitudes.sum, magnitudes.largest);
    }
    const std::scoped_lock lock(merging_);
    figures_.merge(figures);
    asymmetry_.merge(asymmetry);
    upper_ += upper;
    upper_met_ += upper_met;
    return crossing_end;
  }

  /// The place of a(j, i) among the entries of row j that no visit has met, or -1.
  std::int64_t find_unmet(std::int64_t j, std::int64_t i) const {
    const auto begin = matrix_.column.begin() + cursor_[j];
    const auto end = matrix_.column.begin() + matrix_.row_start[j + 1];
    const auto place = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
    return place != end && *place == i ? place - matrix_.column.begin() : -1;
  }

  /// Compares the entries of these rows left of the first one with their mirror images.
  void compare_across(Range rows) {
    parallel_ranges(rows.size(), [&](Range share) {
      Asymmetry asymmetry;
      std::int64_t upper_met = 0;
      for (std::int64_t i = rows.begin + share.begin; i < rows.begin + share.end; ++i) {
        const std::int64_t end = matrix_.row_start[i + 1];
        for (std::int64_t k = matrix_.row_start[i]; k < end && matrix_.column[k] < rows.begin; ++k) {
          const std::int32_t j = matrix_.column[k];
          const std::int64_t mirror = find_unmet(j, i);
          if (mirror >= 0) {
            ++upper_met;
            asymmetry.compare(matrix_.value[k], matrix_.value[mirror], [&] { return scale(i, j); });
          } else {
            asymmetry.add_unmirrored(matrix_.value[k], [&] { return scale(i, j); });
          }
        }
      }
      const std::scoped_lock lock(merging_);
      asymmetry_.merge(asymmetry);
      upper_met_ += upper_met;
    });
  }

  /// Looks at the entries above the diagonal that were not met from below: those without a mirror image, and
  /// those whose mirror image is in another range.
  void visit_unmet() {
    asymmetry_.pattern = true;
    parallel_ranges(matrix_.rows, [&](Range range) {
      Asymmetry asymmetry;
      {
        const std::scoped_lock lock(merging_);
        asymmetry = asymmetry_;
      }
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        for (std::int64_t k = cursor_[i]; k < matrix_.row_start[i + 1]; ++k) {
          const std::int32_t j = matrix_.column[k];
          if (asymmetry.covers_unmirrored(matrix_.value[k]) || is_stored(j, i)) continue;
          asymmetry.add_unmirrored(matrix_.value[k], [&] { return scale(i, j); });
        }
      }
      const std::scoped_lock lock(merging_);
      asymmetry_.merge(asymmetry);
    });
  }

  bool is_stored(std::int64_t i, std::int64_t j) const {
    const std::int32_t* column = matrix_.column.data();
    return std::binary_search(column + matrix_.row_start[i], column + matrix_.row_start[i + 1],
                              static_cast<std::int32_t>(j));
  }

  const SplitMatrix& parts_;
  const Csr& matrix_;
  Array<double> largest_;
  Array<std::int64_t> cursor_;  ///< of each row: the first entry right of the diagonal that was not met yet
  std::mutex merging_;          ///< guards what follows
  RowFigures figures_;
  Asymmetry asymmetry_;
  std::int64_t upper_ = 0;      ///< entries above the diagonal
  std::int64_t upper_met_ = 0;  ///< of these, met from below: compared, or found to have no mirror image
};

/// a(i, j) of the matrix, 0 where nothing is stored; `stored` tells which.
double find(const Csr& csr, std::int64_t i, std::int32_t j, bool& stored) {
  const auto begin = csr.column.begin() + csr.row_start[i];
  const auto end = csr.column.begin() + csr.row_start[i + 1];
  const auto place = std::lower_bound(begin, end, j);
  stored = place != end && *place == j;
  return stored ? csr.value[place - csr.column.begin()] : 0;
}

/// An entry of a halo part on its way to the rank that owns its column, and so its mirror image.
struct TravellingEntry {
  std::int64_t row;
  std::int64_t column;
  double value;
  double row_largest;
};

Asymmetry halo_asymmetry(const comm::Comm& comm, const SplitMatrix& parts, const RowVisits& visits) {
  if (comm.size() == 1) return {};
  const Range mine = parts.partition.range(comm.rank());
  std::vector<std::vector<TravellingEntry>> by_owner(comm.size());
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) {
    const std::int32_t i = parts.halo_rows[r];
    for (std::int64_t k = parts.halo.row_start[r]; k < parts.halo.row_start[r + 1]; ++k) {
      const std::int64_t column = parts.plan.ghosts[parts.halo.column[k]];
      by_owner[parts.partition.owner(column)].push_back(
          {mine.begin + i, column, parts.halo.value[k], visits.largest(i)});
    }
  }
  std::vector<TravellingEntry> sent;
  std::vector<std::int64_t> offsets{0};
  for (const auto& entries : by_owner) {
    sent.insert(sent.end(), entries.begin(), entries.end());
    offsets.push_back(static_cast<std::int64_t>(sent.size()));
  }
  const auto received = comm.alltoallv(std::span<const TravellingEntry>(sent), offsets);

  std::vector<std::int32_t> halo_row_of(parts.interior.rows, -1);
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) halo_row_of[parts.halo_rows[r]] = r;
  Asymmetry result;
  for (const TravellingEntry& entry : received.values) {
    const auto i = static_cast<std::int32_t>(entry.column - mine.begin);
    const auto ghost = std::ranges::lower_bound(parts.plan.ghosts, entry.row);
    const bool known = halo_row_of[i] >= 0 && ghost != parts.plan.ghosts.end() && *ghost == entry.row;
    bool stored = false;
    const double mirrored = known ? find(parts.halo, halo_row_of[i],
                                         static_cast<std::int32_t>(ghost - parts.plan.ghosts.begin()), stored)
                                  : 0;
    result.pattern = result.pattern || !stored;
    result.compare(entry.value, mirrored, [&] { return std::min(entry.row_largest, visits.largest(i)); });
  }
  return result;
}

}  // namespace

MatrixFacts examine(const comm::Comm& comm, const SplitMatrix& parts) {
  const RowVisits visits(parts);
  const RowFigures& figures = visits.figures();
  Asymmetry asymmetry = visits.asymmetry();
  asymmetry.merge(halo_asymmetry(comm, parts, visits));

  std::array<std::int64_t, 5> sums{parts.interior.nonzeros() + parts.halo.nonzeros(), figures.positive,
                                   figures.negative, figures.zero, figures.dominant};
  comm.allreduce(std::span<std::int64_t>(sums), comm::ReduceOp::sum);
  std::array<double, 7> maxima{-static_cast<double>(figures.min_row),
                               static_cast<double>(figures.max_row),
                               figures.max_abs,
                               figures.norm_infinity,
                               asymmetry.largest,
                               asymmetry.values ? 1.0 : 0.0,
                               asymmetry.pattern ? 1.0 : 0.0};
  comm.allreduce(std::span<double>(maxima), comm::ReduceOp::max);

  MatrixFacts facts;
  facts.rows = parts.partition.rows();
  facts.nonzeros = sums[0];
  facts.positive_diagonals = sums[1];
  facts.negative_diagonals = sums[2];
  facts.zero_diagonals = sums[3];
  facts.dominant_rows =
      static_cast<double>(sums[4]) / static_cast<double>(std::max<std::int64_t>(facts.rows, 1));
  facts.min_row_nonzeros = static_cast<std::int64_t>(-maxima[0]);
  facts.max_row_nonzeros = static_cast<std::int64_t>(maxima[1]);
  facts.max_abs = maxima[2];
  facts.norm_infinity = maxima[3];
  facts.asymmetry = facts.max_abs > 0 ? maxima[4] / facts.max_abs : 0;
  facts.symmetric = maxima[5] == 0;
  facts.pattern_symmetric = maxima[6] == 0;
  return facts;
}

}  // namespace ayatori::tuning
