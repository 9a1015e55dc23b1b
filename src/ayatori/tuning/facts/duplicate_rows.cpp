#include "ayatori/tuning/facts/duplicate_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"

namespace ayatori::tuning {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;

struct RowEntry {
  std::int64_t column;  ///< global
  double value;
};
using RowEntries = std::vector<RowEntry>;

/// The nonzeros of a rank's rows with global columns, which ascend.
class WholeRows {
 public:
  explicit WholeRows(const SplitMatrix& parts, int rank)
      : parts_(parts), first_(parts.partition.range(rank).begin) {}

  std::int64_t count() const { return parts_.interior.rows; }

  void read(std::int64_t row, RowEntries& entries) const {
    entries.clear();
    const Csr& halo = parts_.halo;
    const auto place = std::ranges::lower_bound(parts_.halo_rows, row);
    const bool has_ghosts = place != parts_.halo_rows.end() && *place == row;
    const std::int64_t r = place - parts_.halo_rows.begin();
    std::int64_t h = has_ghosts ? halo.row_start[r] : 0;
    const std::int64_t h_end = has_ghosts ? halo.row_start[r + 1] : 0;
    const auto ghost = [&] { return parts_.plan.ghosts[halo.column[h]]; };
    const auto add = [&](std::int64_t column, double value) {
      if (value != 0) entries.push_back({column, value});
    };
    for (; h < h_end && ghost() < first_; ++h) add(ghost(), halo.value[h]);
    const Csr& interior = parts_.interior;
    for (std::int64_t k = interior.row_start[row]; k < interior.row_start[row + 1]; ++k)
      add(first_ + interior.column[k], interior.value[k]);
    for (; h < h_end; ++h) add(ghost(), halo.value[h]);
  }

 private:
  const SplitMatrix& parts_;
  std::int64_t first_;
};

/// Equal for x and for what rounding makes of it, but at the borders of digits that are left out.
std::uint32_t rounded_bits(double x) {
  constexpr std::uint32_t dropped_bits = 2;
  return (std::bit_cast<std::uint32_t>(static_cast<float>(x)) + (1U << (dropped_bits - 1))) >> dropped_bits;
}

/// Takes away keys that no other row has, as far as a table of bits tells. A key of 0: none.
void keep_repeated(Array<std::uint64_t>& key) {
  constexpr std::uint64_t bits_per_key = 16;
  const std::uint64_t slots = std::bit_ceil(bits_per_key * key.size() + 64);
  std::vector<bool> once(slots, false);
  std::vector<bool> again(slots, false);
  for (const std::uint64_t k : key) {
    if (k == 0) continue;
    const std::uint64_t slot = k & (slots - 1);
    if (once[slot]) again[slot] = true;
    once[slot] = true;
  }
  for (std::uint64_t& k : key)
    if (!again[k & (slots - 1)]) k = 0;
}

/// Rows of whose interior part the ends, columns and ratio of values, and the sum of sizes are those of
/// another one, and all rows that refer to ghosts. Few rows share their ends: only these are summed.
std::vector<std::int32_t> rows_worth_a_look(const SplitMatrix& parts) {
  const Csr& a = parts.interior;
  Array<std::uint64_t> key(a.rows);
  parallel_for(a.rows, [&](std::int64_t i) {
    std::int64_t k = a.row_start[i];
    std::int64_t end = a.row_start[i + 1];
    while (k < end && a.value[k] == 0) ++k;
    while (k < end && a.value[end - 1] == 0) --end;
    if (k == end) {
      key[i] = 0;
      return;
    }
    const std::uint64_t ends =
        (static_cast<std::uint64_t>(a.column[k]) << 32) | static_cast<std::uint64_t>(a.column[end - 1]);
    key[i] = random_bits(ends, rounded_bits(a.value[end - 1] / a.value[k]));
  });
  keep_repeated(key);
  parallel_for(a.rows, [&](std::int64_t i) {
    if (key[i] == 0) return;
    double first = 0;
    double sum = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      if (first == 0) first = std::abs(a.value[k]);
      sum += std::abs(a.value[k]);
    }
    key[i] = random_bits(key[i], rounded_bits(sum / first));
  });
  keep_repeated(key);
  std::vector<std::int32_t> rows;
  auto ghosts = parts.halo_rows.begin();
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const bool refers_to_ghosts = ghosts != parts.halo_rows.end() && *ghosts == i;
    if (refers_to_ghosts) ++ghosts;
    if (refers_to_ghosts || key[i] != 0) rows.push_back(i);
  }
  return rows;
}

/// A row that may be a multiple of others of the same hash.
struct Suspect {
  std::uint64_t hash;
  std::int64_t number;  ///< number of the row
};

/// Equal for multiples: of the pattern and of the ratios to the first entry, of which the last digits are
/// left out.
std::uint64_t hash_of(const RowEntries& entries) {
  std::uint64_t hash = entries.size();
  for (const RowEntry& entry : entries) {
    const std::uint32_t ratio = rounded_bits(entry.value / entries.front().value);
    hash = random_bits(random_bits(hash, static_cast<std::uint64_t>(entry.column)), ratio);
  }
  return hash;
}

bool are_multiples(std::span<const RowEntry> a, std::span<const RowEntry> b) {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double of_a = a[k].value / a.front().value;
    const double of_b = b[k].value / b.front().value;
    if (a[k].column != b[k].column || !(std::abs(of_a - of_b) <= rounding * std::abs(of_a))) return false;
  }
  return true;
}

/// Elements on their way to ranks, and the order they were in.
template <class T>
struct Dealt {
  std::vector<T> values;              ///< grouped by rank
  std::vector<std::int64_t> offsets;  ///< ranks + 1
  std::vector<std::size_t> from;      ///< place of each before
};

template <class T, class RankOf>
Dealt<T> deal(const std::vector<T>& values, int ranks, RankOf&& rank_of) {
  Dealt<T> dealt{{}, std::vector<std::int64_t>(ranks + 1, 0), {}};
  dealt.values.resize(values.size());
  dealt.from.resize(values.size());
  for (const T& value : values) ++dealt.offsets[rank_of(value) + 1];
  for (int r = 0; r < ranks; ++r) dealt.offsets[r + 1] += dealt.offsets[r];
  std::vector<std::int64_t> next(dealt.offsets.begin(), dealt.offsets.end() - 1);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::int64_t place = next[rank_of(values[k])]++;
    dealt.values[place] = values[k];
    dealt.from[place] = k;
  }
  return dealt;
}

/// The rows of some suspects, one after the other: for each its size, hash and number, then its entries.
struct Parcel {
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> offsets{0};  ///< by rank
};

struct Parsed {
  std::uint64_t hash;
  std::int64_t number;
  std::span<const RowEntry> entries;
};

static_assert(sizeof(RowEntry) == 2 * sizeof(std::int64_t));

}  // namespace

DuplicateRows find_duplicate_rows(const comm::Comm& comm, const SplitMatrix& parts, bool at_all,
                                  std::span<const std::int64_t> row_number) {
  const WholeRows rows(parts, comm.rank());
  const auto ranks = comm.size();
  const auto rank_of = [ranks](const Suspect& suspect) {
    return static_cast<int>(suspect.hash % static_cast<std::uint64_t>(ranks));
  };
  std::vector<std::int32_t> row_of;  // row of each suspect
  const auto dealt = comm::agree(comm, [&] {
    std::vector<std::int32_t> looked_at;
    if (at_all && ranks > 1) {  // one rank sees both ends of all rows
      looked_at.resize(rows.count());
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(looked_at.size()); ++i) looked_at[i] = i;
    } else {
      looked_at = rows_worth_a_look(parts);
    }
    std::vector<Suspect> suspects;
    RowEntries entries;
    for (const std::int32_t i : looked_at) {
      rows.read(i, entries);
      if (entries.empty()) continue;
      suspects.push_back({hash_of(entries), row_number[i]});
      row_of.push_back(i);
    }
    return deal(suspects, ranks, rank_of);
  });

  // Whoever gets the hashes asks for the rows of those that occur more than once.
  const auto hashes = comm::sparse_alltoallv(comm, std::span<const Suspect>(dealt.values), dealt.offsets);
  const auto wanted = comm::agree(comm, [&] {
    std::vector<std::uint64_t> sorted;
    for (const Suspect& suspect : hashes.values) sorted.push_back(suspect.hash);
    std::ranges::sort(sorted);
    std::vector<char> wants;
    for (const Suspect& suspect : hashes.values)
      wants.push_back(std::ranges::equal_range(sorted, suspect.hash).size() > 1 ? 1 : 0);
    return wants;
  });
  const auto asked = comm::sparse_alltoallv(comm, std::span<const char>(wanted), hashes.offsets);
  const auto sent = comm::agree(comm, [&] {
    Parcel parcel;
    RowEntries entries;
    for (int r = 0; r < ranks; ++r) {
      for (std::int64_t k = dealt.offsets[r]; k < dealt.offsets[r + 1]; ++k) {
        if (asked.values[k] == 0) continue;
        rows.read(row_of[dealt.from[k]], entries);
        parcel.words.insert(parcel.words.end(),
                            {static_cast<std::int64_t>(entries.size()),
                             static_cast<std::int64_t>(dealt.values[k].hash), dealt.values[k].number});
        for (const RowEntry& entry : entries)
          parcel.words.insert(parcel.words.end(), {entry.column, std::bit_cast<std::int64_t>(entry.value)});
      }
      parcel.offsets.push_back(static_cast<std::int64_t>(parcel.words.size()));
    }
    return parcel;
  });
  const auto arrived = comm::sparse_alltoallv(comm, std::span<const std::int64_t>(sent.words), sent.offsets);

  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  DuplicateRows found{0, nowhere, nowhere};
  comm::agree(comm, [&] {
    std::vector<RowEntry> entries;
    std::vector<Parsed> parsed;
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; at < arrived.values.size();) {
      const auto size = static_cast<std::size_t>(arrived.values[at]);
      parsed.push_back({static_cast<std::uint64_t>(arrived.values[at + 1]), arrived.values[at + 2], {}});
      begins.push_back(entries.size());
      at += 3;
      for (std::size_t k = 0; k < size; ++k, at += 2)
        entries.push_back({arrived.values[at], std::bit_cast<double>(arrived.values[at + 1])});
    }
    begins.push_back(entries.size());
    for (std::size_t p = 0; p < parsed.size(); ++p)
      parsed[p].entries = std::span(entries).subspan(begins[p], begins[p + 1] - begins[p]);
    std::ranges::sort(parsed, {}, [](const Parsed& p) { return std::pair(p.hash, p.number); });
    for (std::size_t begin = 0, p = 0; p < parsed.size(); ++p) {
      if (parsed[p].hash != parsed[begin].hash) begin = p;
      if (p == begin || !are_multiples(parsed[begin].entries, parsed[p].entries)) continue;
      ++found.count;
      if (parsed[p].number < found.first) {
        found.first = parsed[p].number;
        found.of = parsed[begin].number;
      }
    }
  });
  const std::int64_t mine = found.first;
  found.count = comm.allreduce(found.count, comm::ReduceOp::sum);
  found.first = comm.allreduce(found.first, comm::ReduceOp::min);
  found.of = comm.allreduce(mine == found.first ? found.of : nowhere, comm::ReduceOp::min);
  if (found.count == 0) found.first = found.of = -1;
  return found;
}

}  // namespace ayatori::tuning
