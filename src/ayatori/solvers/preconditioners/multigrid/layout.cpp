#include "ayatori/solvers/preconditioners/multigrid/layout.hpp"

#include <numeric>

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers::amg {

namespace {

/// Elements [begin, end) of a buffer, in units that rows begin at.
template <class T>
std::span<T> piece(Array<T>& buffer, std::int64_t begin, std::int64_t end) {
  return std::span(buffer).subspan(begin, end - begin);
}

template <class T>
std::span<const T> piece(const Array<T>& buffer, std::int64_t begin, std::int64_t end) {
  return std::span(buffer).subspan(begin, end - begin);
}

}  // namespace

Layout make_layout(const comm::Comm& comm, sparse::RowPartition partition, std::vector<std::int64_t> ghosts) {
  auto plan = sparse::make_halo_plan(comm, partition, std::move(ghosts));
  return {comm, std::move(partition), std::move(plan)};
}

sparse::RowPartition partition_by_sizes(const comm::Comm& comm, std::int64_t own) {
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t size : comm.allgather(own)) starts.push_back(starts.back() + size);
  return sparse::RowPartition(std::move(starts));
}

TravellingRows exchange_rows(const comm::Comm& comm, std::span<const comm::Neighbour> to,
                             const TravellingRows& rows, std::span<const comm::Neighbour> from,
                             std::int64_t received, int per_entry) {
  Array<std::int64_t> lengths;
  TravellingRows result;
  comm::agree(comm, [&] {
    lengths.resize(rows.start.size());
    std::adjacent_difference(rows.start.begin(), rows.start.end(), lengths.begin());
    result.start.assign(received + 1, 0);
  });
  std::vector<comm::Request> requests;
  for (const auto& n : from)
    requests.push_back(comm.irecv(piece(result.start, n.begin + 1, n.end + 1), n.rank, amg_tag));
  for (const auto& n : to)
    requests.push_back(comm.isend(piece(std::as_const(lengths), n.begin + 1, n.end + 1), n.rank, amg_tag));
  comm::wait_all(requests);
  comm::agree(comm, [&] {
    std::partial_sum(result.start.begin(), result.start.end(), result.start.begin());
    result.column.resize(result.start.back());
    result.value.resize(result.start.back() * per_entry);
  });
  requests.clear();
  const auto exchange = [&](auto& incoming, const auto& outgoing, std::int64_t units) {
    for (const auto& n : from)
      requests.push_back(comm.irecv(
          piece(incoming, units * result.start[n.begin], units * result.start[n.end]), n.rank, amg_tag));
    for (const auto& n : to)
      requests.push_back(comm.isend(piece(outgoing, units * rows.start[n.begin], units * rows.start[n.end]),
                                    n.rank, amg_tag));
    comm::wait_all(requests);
    requests.clear();
  };
  exchange(result.column, rows.column, 1);
  exchange(result.value, rows.value, per_entry);
  return result;
}

}  // namespace ayatori::solvers::amg
