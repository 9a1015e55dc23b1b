#include "ayatori/tuning/facts/asymmetry.hpp"

#include <array>
#include <mutex>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/pattern/mirror.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::MirrorImages;
using sparse::SplitMatrix;
using sparse::value_at;

/// The rows of an unsymmetric matrix that are compared with their columns first: all up to this many entries,
/// and at least one of this many. Looking up a mirror image takes as long as multiplying by tens of entries.
constexpr std::int64_t entries_per_step = 1 << 10;
constexpr std::int64_t longest_step = 4096;

/// A rank's own rows: the largest |a_ij| of one, and where the halo part has it.
class OwnRows {
 public:
  explicit OwnRows(const SplitMatrix& parts) : parts_(parts) {}

  double largest(std::int64_t i) const {
    const std::int64_t r = halo_row(i);
    return std::max(largest_of(parts_.interior, i), r < 0 ? 0 : largest_of(parts_.halo, r));
  }
  /// The row of the halo part that belongs to row i, or -1.
  std::int64_t halo_row(std::int64_t i) const {
    const auto place = std::ranges::lower_bound(parts_.halo_rows, i);
    return place != parts_.halo_rows.end() && *place == i ? place - parts_.halo_rows.begin() : -1;
  }

 private:
  static double largest_of(const Csr& csr, std::int64_t row) {
    double largest = 0;
    for (std::int64_t k = csr.row_start[row]; k < csr.row_start[row + 1]; ++k)
      largest = std::max(largest, std::abs(csr.value[k]));
    return largest;
  }

  const SplitMatrix& parts_;
};

/// Notes a pair. `scale()`, the smaller of the largest entries of the two rows, is no smaller than both of
/// them: it is asked for only where that leaves open whether they differ, and until one pair is known to.
template <class Scale>
void note(Asymmetry& asymmetry, double a, double b, Scale&& scale) {
  const double difference = std::abs(a - b);
  const bool is_open =
      !asymmetry.exceeds_rounding && difference > asymmetry_by_rounding * std::min(std::abs(a), std::abs(b));
  asymmetry.exceeds_rounding =
      asymmetry.exceeds_rounding || (is_open && difference > asymmetry_by_rounding * scale());
  asymmetry.largest = std::max(asymmetry.largest, difference);
}

/// The entries that are compared with their mirror images.
struct Selection {
  std::int64_t row_step = 1;  ///< step from row to row: 0, row_step, 2 row_step, ...
  bool lower_only = false;    ///< those below the diagonal only, which are enough on a symmetric pattern

  std::int64_t first_row_from(std::int64_t row) const { return (row + row_step - 1) / row_step * row_step; }
  bool contains(std::int64_t row, std::int64_t column) const {
    return row % row_step == 0 && (column < row || (column > row && !lower_only));
  }
};

/// Asymmetry of all rows.
Asymmetry whole_asymmetry(const Csr& interior, const OwnRows& rows, bool lower_only) {
  Array<double> largest(interior.rows);
  parallel_for(interior.rows, [&](std::int64_t i) { largest[i] = rows.largest(i); });
  Asymmetry total;
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    Asymmetry mine;
    MirrorImages images(interior, interior.rows);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k) {
        const std::int32_t j = interior.column[k];
        if (lower_only && j >= i) break;
        // Whether a pair differs by rounding at all is often unforeseeable: no jump depends on it.
        const double difference = std::abs(interior.value[k] - value_at(interior, images.find(i, j)));
        mine.exceeds_rounding |= difference > asymmetry_by_rounding * std::min(largest[i], largest[j]);
        mine.largest = std::max(mine.largest, difference);
      }
    }
    const std::scoped_lock lock(merging);
    total.merge(mine);
  });
  return total;
}

Asymmetry interior_asymmetry(const Csr& interior, const OwnRows& rows, std::int64_t first_row,
                             const Selection& selection) {
  if (selection.row_step == 1) return whole_asymmetry(interior, rows, selection.lower_only);
  Asymmetry total;
  std::mutex merging;
  parallel_ranges(interior.rows, [&](Range range) {
    Asymmetry mine;
    for (std::int64_t i = selection.first_row_from(first_row + range.begin) - first_row; i < range.end;
         i += selection.row_step) {
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k) {
        const std::int32_t j = interior.column[k];
        if (!selection.contains(first_row + i, first_row + j)) continue;
        note(mine, interior.value[k], value_at(interior, sparse::find_mirror_image(interior, i, k)),
             [&] { return std::min(rows.largest(i), rows.largest(j)); });
      }
    }
    const std::scoped_lock lock(merging);
    total.merge(mine);
  });
  return total;
}

/// An entry of a halo part on its way to the rank that owns its column, and so its mirror image.
struct TravellingEntry {
  std::int64_t row;
  std::int64_t column;
  double value;
  double row_largest;
};

comm::Gathered<TravellingEntry> send_to_owners(const comm::Comm& comm, const SplitMatrix& parts,
                                               const OwnRows& rows, const Selection& selection) {
  const Range mine = parts.partition.range(comm.rank());
  std::vector<std::vector<TravellingEntry>> by_owner(comm.size());
  for (std::int32_t r = 0; r < parts.halo.rows; ++r) {
    const std::int32_t i = parts.halo_rows[r];
    if ((mine.begin + i) % selection.row_step != 0) continue;
    const double largest = rows.largest(i);
    for (std::int64_t k = parts.halo.row_start[r]; k < parts.halo.row_start[r + 1]; ++k) {
      const std::int64_t column = parts.plan.ghosts[parts.halo.column[k]];
      if (!selection.contains(mine.begin + i, column)) continue;
      by_owner[parts.partition.owner(column)].push_back(
          {mine.begin + i, column, parts.halo.value[k], largest});
    }
  }
  std::vector<TravellingEntry> sent;
  std::vector<std::int64_t> offsets{0};
  for (const auto& entries : by_owner) {
    sent.insert(sent.end(), entries.begin(), entries.end());
    offsets.push_back(static_cast<std::int64_t>(sent.size()));
  }
  return comm::sparse_alltoallv(comm, std::span<const TravellingEntry>(sent), offsets);
}

Asymmetry halo_asymmetry(const comm::Comm& comm, const SplitMatrix& parts, const OwnRows& rows,
                         const Selection& selection) {
  const std::int64_t first_row = parts.partition.range(comm.rank()).begin;
  Asymmetry result;
  for (const TravellingEntry& entry : send_to_owners(comm, parts, rows, selection).values) {
    const std::int64_t i = entry.column - first_row;
    const auto ghost = std::ranges::lower_bound(parts.plan.ghosts, entry.row);
    const bool is_ghost = ghost != parts.plan.ghosts.end() && *ghost == entry.row;
    const std::int64_t r = is_ghost ? rows.halo_row(i) : -1;
    const double mirrored =
        r < 0 ? 0
              : value_at(parts.halo, sparse::find_entry(parts.halo, r, ghost - parts.plan.ghosts.begin()));
    note(result, entry.value, mirrored, [&] { return std::min(entry.row_largest, rows.largest(i)); });
  }
  return result;
}

/// Collective. The asymmetry of the entries of a selection.
Asymmetry compare(const comm::Comm& comm, const SplitMatrix& parts, const Selection& selection) {
  const OwnRows rows(parts);
  Asymmetry mine =
      interior_asymmetry(parts.interior, rows, parts.partition.range(comm.rank()).begin, selection);
  mine.merge(halo_asymmetry(comm, parts, rows, selection));
  std::array<double, 2> maxima{mine.largest, mine.exceeds_rounding ? 1.0 : 0.0};
  comm.allreduce(std::span<double>(maxima), comm::ReduceOp::max);
  return {maxima[1] != 0, maxima[0]};
}

}  // namespace

Asymmetry find_asymmetry(const comm::Comm& comm, const SplitMatrix& parts, std::int64_t nonzeros,
                         bool symmetric_pattern) {
  const std::int64_t step = std::clamp<std::int64_t>(nonzeros / entries_per_step, 1, longest_step);
  Asymmetry found = compare(comm, parts, {step, symmetric_pattern});
  if (!found.exceeds_rounding && step > 1) found = compare(comm, parts, {1, symmetric_pattern});
  return found;
}

}  // namespace ayatori::tuning
