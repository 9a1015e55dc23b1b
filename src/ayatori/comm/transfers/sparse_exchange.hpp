#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Elements that this rank sends to another, or another to this one.
struct Announcement {
  int rank;
  std::int64_t count;
};

/// Collective. Every rank says how many elements it sends to whom, and learns who
/// sends how many to it, by ascending rank. Announcements travel by powers of two (Bruck et al. 1997, with
/// only what there is): a rank sends about log2 P messages, with 16 bytes for each announcement that passes
/// it, and keeps nothing of ranks that have nothing to do with it.
std::vector<Announcement> announce(const Comm& comm, const std::vector<Announcement>& sends);

/// Collective. Comm::alltoallv for ranks that have to do with few others: only these exchange messages. Sends
/// [offsets[r], offsets[r + 1]) of `data` to rank r; gives what all ranks sent to this one.
template <class T>
Gathered<T> sparse_alltoallv(const Comm& comm, std::span<const T> data,
                             std::span<const std::int64_t> offsets) {
  constexpr int tag = 32007;
  std::vector<Announcement> sends;
  for (int r = 0; r < comm.size(); ++r) {
    if (offsets[r] < offsets[r + 1]) sends.push_back({r, offsets[r + 1] - offsets[r]});
  }
  const auto arriving = announce(comm, sends);
  Gathered<T> result{{}, std::vector<std::int64_t>(comm.size() + 1, 0)};
  for (const auto& [rank, count] : arriving) result.offsets[rank + 1] = count;
  for (int r = 0; r < comm.size(); ++r) result.offsets[r + 1] += result.offsets[r];
  result.values.resize(result.offsets.back());
  const auto piece = [](auto whole, std::span<const std::int64_t> from, int r) {
    return whole.subspan(from[r], from[r + 1] - from[r]);
  };
  std::vector<Request> requests;
  for (const auto& from : arriving) {
    const std::span<T> place = piece(std::span(result.values), result.offsets, from.rank);
    if (from.rank == comm.rank())
      std::ranges::copy(piece(data, offsets, from.rank), place.begin());
    else
      requests.push_back(comm.irecv(place, from.rank, tag));
  }
  for (const auto& to : sends) {
    if (to.rank != comm.rank()) requests.push_back(comm.isend(piece(data, offsets, to.rank), to.rank, tag));
  }
  wait_all(requests);
  return result;
}

}  // namespace ayatori::comm
