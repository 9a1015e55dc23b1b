#include "bench/papers/splitters.hpp"

#include <algorithm>
#include <limits>

#include "ayatori/base/parallel.hpp"
#include "bench/papers/spread_keys.hpp"

namespace ayatori::bench {

namespace {

/// A splitter while it is looked for: the keys with these leading digits hold it.
template <class Key>
struct Search {
  Key prefix = 0;
  std::int64_t missing = 0;  ///< keys from the first with this prefix to the splitter
  bool found = false;        ///< near enough to the first
};

/// Distinct prefixes of searches that go on, ascending.
template <class Key>
std::vector<Key> open_prefixes(const std::vector<Search<Key>>& searches) {
  std::vector<Key> prefixes;
  for (const auto& search : searches) {
    if (!search.found && (prefixes.empty() || prefixes.back() != search.prefix))
      prefixes.push_back(search.prefix);
  }
  return prefixes;
}

/// Collective. For every prefix, the counts of the digit behind it, which is at `shift`.
template <class Key>
std::vector<std::int64_t> histograms(const comm::Comm& comm, std::span<const Key> mine,
                                     const std::vector<Key>& prefixes, int shift, int width) {
  const std::size_t values = std::size_t{1} << width;
  const std::size_t others = prefixes.size() * values;  // bucket of keys that have none of the prefixes
  const auto bucket_of = [&](Key key) {
    const Key digit = (key >> shift) & static_cast<Key>(values - 1);
    const Key prefix = (key >> shift) >> width;
    const std::size_t place = count_less(prefixes, prefix);
    return place < prefixes.size() && prefixes[place] == prefix ? place * values + digit : others;
  };
  const auto n = static_cast<std::int64_t>(mine.size());
  const auto counts = count_keys(mine.data(), n, static_cast<int>(others) + 1, bucket_of, threads_for(n));
  std::vector<std::int64_t> sums(others);
  for (const auto& of_thread : counts) {
    for (std::size_t b = 0; b < others; ++b) sums[b] += of_thread[b];
  }
  comm.allreduce(std::span<std::int64_t>(sums), comm::ReduceOp::sum);
  return sums;
}

/// One digit further, by the counts of this digit.
template <class Key>
void refine(Search<Key>& search, const std::int64_t* counts, int width, std::int64_t tolerance) {
  Key digit = 0;
  while (search.missing >= counts[digit]) search.missing -= counts[digit++];
  search.prefix = static_cast<Key>(search.prefix << width) | digit;
  search.found = counts[digit] <= tolerance;
}

/// Collective. Turns the numbers of equal keys before each splitter, of all ranks, into those of this rank:
/// lower ranks first.
template <class Key>
void share_equal_keys(const comm::Comm& comm, std::span<const Key> mine,
                      std::vector<Splitter<Key>>& splitters) {
  std::vector<Key> keys;
  for (const auto& splitter : splitters) keys.push_back(splitter.key);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const auto bucket_of = [&](Key key) {
    const auto place = std::lower_bound(keys.begin(), keys.end(), key);
    return place != keys.end() && *place == key ? static_cast<std::size_t>(place - keys.begin())
                                                : keys.size();
  };
  const auto n = static_cast<std::int64_t>(mine.size());
  const auto counts =
      count_keys(mine.data(), n, static_cast<int>(keys.size()) + 1, bucket_of, threads_for(n));
  std::vector<std::int64_t> equal(keys.size());
  for (const auto& of_thread : counts) {
    for (std::size_t b = 0; b < keys.size(); ++b) equal[b] += of_thread[b];
  }
  std::vector<std::int64_t> before = equal;
  comm.collectives().exclusive_scan(comm, before.data(), static_cast<std::int64_t>(before.size()),
                                    comm::DataType::int64, comm::ReduceOp::sum);
  if (comm.rank() == 0) std::fill(before.begin(), before.end(), 0);
  for (auto& splitter : splitters) {
    const std::size_t b = bucket_of(splitter.key);
    splitter.equal = std::clamp<std::int64_t>(splitter.equal - before[b], 0, equal[b]);
  }
}

}  // namespace

template <class Key>
std::vector<Splitter<Key>> find_splitters(const comm::Comm& comm, std::span<const Key> mine, int parts,
                                          int digit_bits) {
  const int ranks = comm.size();
  const int pieces = ranks * parts;
  const std::int64_t keys = comm.allreduce(static_cast<std::int64_t>(mine.size()), comm::ReduceOp::sum);
  if (pieces == 1 || keys == 0) return std::vector<Splitter<Key>>(pieces - 1);
  const std::int64_t tolerance = keys / (std::int64_t{100} * ranks);
  std::vector<Search<Key>> searches(pieces - 1);
  for (int p = 1; p < pieces; ++p) {
    const Range of_rank = split_evenly(keys, ranks, p / parts);
    searches[p - 1].missing = of_rank.begin + split_evenly(of_rank.size(), parts, p % parts).begin;
  }
  std::vector<Splitter<Key>> splitters(pieces - 1);
  for (auto& search : searches)
    search.found = search.missing == keys;  // fewer keys than ranks: no key is here
  for (int shift = std::numeric_limits<Key>::digits; shift > 0;) {
    const int width = std::min(shift, digit_bits);
    shift -= width;
    const auto prefixes = open_prefixes(searches);
    if (prefixes.empty()) break;
    const auto counts = histograms(comm, mine, prefixes, shift, width);
    for (int p = 1; p < pieces; ++p) {
      auto& search = searches[p - 1];
      if (search.found) continue;
      const std::size_t place = count_less(prefixes, search.prefix);
      refine(search, counts.data() + (place << width), width, tolerance);
      splitters[p - 1] = {static_cast<Key>(search.prefix << shift), search.found ? 0 : search.missing};
    }
  }
  for (int p = 1; p < pieces; ++p) {
    if (searches[p - 1].missing == keys) splitters[p - 1] = {std::numeric_limits<Key>::max(), keys};
  }
  share_equal_keys(comm, mine, splitters);
  return splitters;
}

template std::vector<Splitter<std::uint32_t>> find_splitters(const comm::Comm&,
                                                             std::span<const std::uint32_t>, int, int);
template std::vector<Splitter<std::uint64_t>> find_splitters(const comm::Comm&,
                                                             std::span<const std::uint64_t>, int, int);

}  // namespace ayatori::bench
