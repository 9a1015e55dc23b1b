#include "ayatori/comm/transfers/sparse_exchange.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ayatori::comm {

namespace {

constexpr int announcement_tag = 32006;

/// An announcement on its way.
struct Parcel {
  int from;
  int to;
  std::int64_t count;
};

/// What a round begins with: how many parcels travel, and the first of them. So a round takes one message
/// where few travel.
struct Head {
  std::int64_t parcels = 0;
  std::array<Parcel, 15> first{};
};

/// Sends the parcels to one rank while as many as come arrive from another, behind those of `kept`.
void pass_on(const Comm& comm, const std::vector<Parcel>& leaving, int to, int from,
             std::vector<Parcel>& kept) {
  Head sent{static_cast<std::int64_t>(leaving.size()), {}};
  const std::size_t in_head = std::min(leaving.size(), sent.first.size());
  std::copy_n(leaving.begin(), in_head, sent.first.begin());
  Head got;
  Request receive = comm.irecv(std::span(&got, 1), from, announcement_tag);
  comm.send(std::span<const Head>(&sent, 1), to, announcement_tag);
  receive.wait();

  const auto before = static_cast<std::ptrdiff_t>(kept.size());
  const std::size_t came_in_head = std::min<std::size_t>(got.parcels, got.first.size());
  kept.resize(kept.size() + got.parcels);
  std::copy_n(got.first.begin(), came_in_head, kept.begin() + before);
  const std::span<Parcel> rest = std::span(kept).subspan(before + came_in_head);
  if (!rest.empty()) receive = comm.irecv(rest, from, announcement_tag);
  if (in_head < leaving.size())
    comm.send(std::span<const Parcel>(leaving).subspan(in_head), to, announcement_tag);
  receive.wait();
}

}  // namespace

std::vector<Announcement> announce(const Comm& comm, const std::vector<Announcement>& sends) {
  const int size = comm.size();
  const int rank = comm.rank();
  const auto distance = [&](const Parcel& parcel) { return (parcel.to - rank + size) % size; };
  std::vector<Parcel> here;
  for (const auto& [to, count] : sends) here.push_back({rank, to, count});
  // After the round of a bit, no parcel is that far from its receiver.
  for (int step = 1; step < size; step *= 2) {
    const auto stays = [&](const Parcel& parcel) { return (distance(parcel) & step) == 0; };
    const auto leave = std::partition(here.begin(), here.end(), stays);
    const std::vector<Parcel> leaving(leave, here.end());
    here.erase(leave, here.end());
    pass_on(comm, leaving, (rank + step) % size, (rank - step % size + size) % size, here);
  }
  std::ranges::sort(here, {}, &Parcel::from);
  std::vector<Announcement> arrived;
  for (const Parcel& parcel : here) arrived.push_back({parcel.from, parcel.count});
  return arrived;
}

}  // namespace ayatori::comm
