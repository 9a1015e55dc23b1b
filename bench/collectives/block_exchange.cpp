#include "bench/collectives/block_exchange.hpp"

#include <algorithm>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/window.hpp"

namespace ayatori::bench {

namespace {

std::int64_t size_of(const Rect& rect) {
  return rect.rows.size() * rect.columns.size();
}

Range sent_part(const Range& own, int side, std::int64_t depth) {
  if (side < 0) return {own.begin, own.begin + depth};
  return side > 0 ? Range{own.end - depth, own.end} : own;
}

Range received_part(const Range& own, int side, std::int64_t depth) {
  if (side < 0) return {own.begin - depth, own.begin};
  return side > 0 ? Range{own.end, own.end + depth} : own;
}

/// What both kinds of exchange have: the links, and values packed.
class PackedExchange : public BlockExchange {
 protected:
  explicit PackedExchange(std::vector<BlockLink> links) : links_(std::move(links)) {
    std::int64_t size = 0;
    for (const auto& link : links_) size += size_of(link.sent);
    outgoing_.resize(size);
  }

  std::span<const double> pack(const GridBlock& block, const BlockLink& link) {
    double* to = outgoing_.data() + link.send_at;
    for (std::int64_t i = link.sent.rows.begin; i < link.sent.rows.end; ++i) {
      const double* from = block.at(i, link.sent.columns.begin);
      to = std::copy(from, from + link.sent.columns.size(), to);
    }
    return std::span<const double>(outgoing_).subspan(link.send_at, size_of(link.sent));
  }

  void unpack(const double* incoming, GridBlock& block) const {
    for (const auto& link : links_) {
      const double* from = incoming + link.receive_at;
      const std::int64_t columns = link.received.columns.size();
      for (std::int64_t i = link.received.rows.begin; i < link.received.rows.end; ++i, from += columns)
        std::copy(from, from + columns, block.at(i, link.received.columns.begin));
    }
  }

  const std::vector<BlockLink> links_;

 private:
  Array<double> outgoing_;
};

std::int64_t received_size(const std::vector<BlockLink>& links) {
  std::int64_t size = 0;
  for (const auto& link : links) size += size_of(link.received);
  return size;
}

class MessageExchange final : public PackedExchange {
 public:
  MessageExchange(comm::Comm comm, std::vector<BlockLink> links)
      : PackedExchange(std::move(links)), comm_(std::move(comm)), incoming_(received_size(links_)) {
    requests_.reserve(2 * links_.size());
  }

  void begin(const GridBlock& block) override {
    for (const auto& link : links_) {
      const auto to = std::span<double>(incoming_).subspan(link.receive_at, size_of(link.received));
      requests_.push_back(comm_.irecv(to, link.rank, 7 - link.direction));
    }
    for (const auto& link : links_)
      requests_.push_back(comm_.isend(pack(block, link), link.rank, link.direction));
  }

  void finish(GridBlock& block) override {
    comm::wait_all(requests_);
    requests_.clear();
    unpack(incoming_.data(), block);
  }

 private:
  comm::Comm comm_;
  Array<double> incoming_;
  std::vector<comm::Request> requests_;
};

class PutExchange final : public PackedExchange {
 public:
  /// positions: where each link's values go in its neighbour's memory.
  PutExchange(comm::Window window, std::vector<BlockLink> links, std::vector<std::int64_t> positions)
      : PackedExchange(std::move(links)), window_(std::move(window)), positions_(std::move(positions)) {}

  void begin(const GridBlock& block) override {
    window_.post();
    std::vector<std::span<const double>> packed;
    packed.reserve(links_.size());
    for (const auto& link : links_) packed.push_back(pack(block, link));
    window_.start();
    for (std::size_t i = 0; i < links_.size(); ++i) window_.put(packed[i], links_[i].rank, positions_[i]);
  }

  void finish(GridBlock& block) override {
    window_.complete();
    window_.wait();
    unpack(reinterpret_cast<const double*>(window_.data()), block);
  }

 private:
  comm::Window window_;
  std::vector<std::int64_t> positions_;
};

}  // namespace

Rect block_of(const RankGrid& grid, std::int64_t n, int rank) {
  return {split_evenly(n, grid.rows, grid.row_of(rank)), split_evenly(n, grid.columns, grid.column_of(rank))};
}

std::vector<BlockLink> links_of(const RankGrid& grid, std::int64_t n, std::int64_t depth, int rank) {
  const Rect own = block_of(grid, n, rank);
  std::vector<BlockLink> links;
  std::int64_t send_at = 0;
  std::int64_t receive_at = 0;
  for (int place = 0; place < 9; ++place) {
    if (place == 4) continue;  // itself
    const int down = place / 3 - 1;
    const int right = place % 3 - 1;
    const int other = grid.rank_at(grid.row_of(rank) + down, grid.column_of(rank) + right);
    if (other < 0) continue;
    const BlockLink link{place < 4 ? place : place - 1,
                         other,
                         {sent_part(own.rows, down, depth), sent_part(own.columns, right, depth)},
                         {received_part(own.rows, down, depth), received_part(own.columns, right, depth)},
                         send_at,
                         receive_at};
    send_at += size_of(link.sent);
    receive_at += size_of(link.received);
    links.push_back(link);
  }
  return links;
}

std::unique_ptr<BlockExchange> make_block_exchange(const comm::Comm& comm, const RankGrid& grid,
                                                   std::int64_t n, std::int64_t depth, bool one_sided) {
  auto links = comm::agree(comm, [&] { return links_of(grid, n, depth, comm.rank()); });
  if (!one_sided)
    return comm::agree(comm, [&] { return std::make_unique<MessageExchange>(comm, std::move(links)); });
  std::vector<int> ranks;
  std::vector<std::int64_t> positions;
  for (const auto& link : links) {
    ranks.push_back(link.rank);
    for (const auto& theirs : links_of(grid, n, depth, link.rank)) {
      if (theirs.direction == 7 - link.direction) positions.push_back(theirs.receive_at);
    }
  }
  comm::Window window(comm, static_cast<std::int64_t>(sizeof(double)) * received_size(links), ranks, ranks);
  return comm::agree(comm, [&] {
    return std::make_unique<PutExchange>(std::move(window), std::move(links), std::move(positions));
  });
}

}  // namespace ayatori::bench
