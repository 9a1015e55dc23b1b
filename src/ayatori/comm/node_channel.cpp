#include "ayatori/comm/node_channel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/shared_memory.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace ayatori::comm {

namespace {

constexpr std::int64_t line = 64;
constexpr std::uint32_t slots = 16;  ///< announcements under way from one rank to another
constexpr std::int64_t no_cell = -1;
constexpr int earlier_stage = -1;

/// A message is cut into so many pieces, unless they would be too short or too long: its receivers begin
/// soon.
constexpr std::int64_t pieces = 8;
constexpr std::int64_t shortest_piece = 4096;

/// Lets the other thread of a core proceed.
void relax() {
#ifdef __x86_64__
  _mm_pause();
#endif
}

}  // namespace

/// Announces a piece.
struct alignas(line) NodeChannel::Slot {
  static constexpr std::int64_t room = 240;

  std::atomic<std::uint32_t> message;  ///< its number, from 1, when the rest is there
  std::uint32_t length;
  std::int32_t cell;  ///< of the sender; -1: the piece is here
  alignas(16) std::byte inside[room];
};

/// Whether a cell is in use.
struct alignas(line) NodeChannel::Cell {
  std::atomic<std::int32_t> readers;  ///< that have not taken the piece
};

/// How far a reader has come.
struct alignas(line) NodeChannel::Consumed {
  std::atomic<std::uint32_t> messages;
};

/// Pieces stay in the cache between the two copies. Up to 128 ranks a rank has about as much memory for
/// pieces on every node; announcements take 4 KiB for each of the others.
NodeChannel::Geometry::Geometry(std::int64_t ranks)
    : cells(std::max<std::int64_t>(ranks, most_sends_to_land_after)) {
  constexpr std::int64_t longest_cell = 32768;
  constexpr std::int64_t together = 524288;
  cell_bytes = std::clamp(together / cells / line * line, longest_element, longest_cell);
  rings = ranks * static_cast<std::int64_t>(sizeof(Consumed));
  headers = rings + ranks * slots * static_cast<std::int64_t>(sizeof(Slot));
  contents = headers + cells * static_cast<std::int64_t>(sizeof(Cell));
}

inline NodeChannel::Consumed& NodeChannel::Geometry::consumed(std::byte* part, int from) const {
  return reinterpret_cast<Consumed*>(part)[from];
}

inline NodeChannel::Slot& NodeChannel::Geometry::slot(std::byte* part, int to, std::uint32_t message) const {
  return reinterpret_cast<Slot*>(part + rings)[to * slots + message % slots];
}

inline NodeChannel::Cell& NodeChannel::Geometry::cell(std::byte* part, std::int64_t number) const {
  return reinterpret_cast<Cell*>(part + headers)[number];
}

inline std::byte* NodeChannel::Geometry::content(std::byte* part, std::int64_t number) const {
  return part + contents + number * cell_bytes;
}

std::int64_t NodeChannel::bytes(int ranks_of_node) {
  return Geometry(ranks_of_node).bytes();
}

NodeChannel::NodeChannel(std::vector<std::byte*> parts, std::vector<int> numbers, int rank,
                         std::shared_ptr<const void> keeper)
    : parts_(std::move(parts)),
      numbers_(std::move(numbers)),
      own_(numbers_[rank]),
      keeper_(std::move(keeper)),
      geometry_(std::ssize(parts_)),
      links_(parts_.size()),
      senders_(geometry_.cells, earlier_stage) {
  shortest_piece_ = shortest_piece;
  longest_piece_ = geometry_.cell_bytes;
}

void NodeChannel::set_element(std::int64_t bytes) {
  if (bytes == element_) return;
  element_ = bytes;
  shortest_piece_ = std::max<std::int64_t>(shortest_piece / bytes, 1) * bytes;
  longest_piece_ = geometry_.cell_bytes / bytes * bytes;
}

void NodeChannel::begin_send(std::span<const std::byte> data, int rank) {
  if (data.empty()) return;
  const int number = numbers_[rank];
  Link& link = links_[number];
  const bool is_same = !sends_.empty() && sends_.back().data == data.data() && sends_.back().moved == 0 &&
                       sends_.back().length == std::ssize(data) && link.last_send != std::ssize(sends_) - 1;
  if (!is_same) sends_.push_back({data.data(), std::ssize(data), std::ssize(peers_), std::ssize(peers_)});
  peers_.push_back({number, link.begun_sends++});
  ++sends_.back().end;
  link.last_send = std::ssize(sends_) - 1;
}

void NodeChannel::begin_receive(std::span<std::byte> data, int rank, Landing landing) {
  if (data.empty()) return;
  const int number = numbers_[rank];
  receives_.push_back({data.data(), std::ssize(data), landing, number, links_[number].begun_receives++});
}

void NodeChannel::start() {
  for (Send& send : sends_) advance(send);
}

void NodeChannel::finish(ChannelUser& user) {
  constexpr int patience = 1000;  // before others get the core
  constexpr int seldom = 64;
  int idle = 0;
  for (bool is_done = false; !is_done;) {
    is_done = true;
    bool has_moved = false;
    for (Send& send : sends_) {
      if (send.moved == send.length) continue;
      has_moved |= advance(send);
      is_done = is_done && send.moved == send.length;
    }
    for (Receive& receive : receives_) {
      if (receive.moved == receive.length) continue;
      has_moved |= advance(receive, user);
      is_done = is_done && receive.moved == receive.length;
    }
    idle = has_moved ? 0 : idle + 1;
    if (is_done || has_moved) continue;
    if (idle % seldom == 0) user.poke();
    if (idle < patience)
      relax();
    else
      std::this_thread::yield();
  }
  forget_stage();
}

void NodeChannel::forget_stage() {
  for (const Peer& peer : peers_) {
    links_[peer.number].begun_sends = links_[peer.number].ended_sends = 0;
    links_[peer.number].last_send = no_send;
  }
  for (const Receive& receive : receives_)
    links_[receive.peer].begun_receives = links_[receive.peer].ended_receives = 0;
  sends_.clear();
  peers_.clear();
  receives_.clear();
  std::ranges::fill(senders_, earlier_stage);
}

std::span<const NodeChannel::Peer> NodeChannel::peers_of(const Send& send) const {
  return std::span(peers_).subspan(send.begin, send.end - send.begin);
}

/// Its turn has come, and there is room for one announcement.
bool NodeChannel::may_announce(const Send& send) {
  for (const Peer& peer : peers_of(send)) {
    Link& link = links_[peer.number];
    if (link.ended_sends != peer.turn) return false;
    if (link.sent - link.consumed < slots) continue;
    link.consumed = geometry_.consumed(parts_[peer.number], own_).messages.load(std::memory_order_acquire);
    if (link.sent - link.consumed == slots) return false;
  }
  return true;
}

/// Every send has its share of the cells, so that none waits for what another is to bring about.
std::int64_t NodeChannel::find_free_cell(const Send& send) const {
  const auto number = static_cast<int>(&send - sends_.data());
  const auto share = std::max<std::int64_t>(1, geometry_.cells / std::ssize(sends_));
  const bool is_alone = sends_.size() == 1;
  std::int64_t held = 0;
  std::int64_t free = no_cell;
  for (std::int64_t c = 0; c < geometry_.cells && !(is_alone && free != no_cell); ++c) {
    if (geometry_.cell(parts_[own_], c).readers.load(std::memory_order_acquire) != 0)
      held += senders_[c] == number ? 1 : 0;
    else if (free == no_cell)
      free = c;  // it was used last, and is in the cache
  }
  return held < share ? free : no_cell;
}

bool NodeChannel::advance(Send& send) {
  bool has_moved = false;
  while (send.moved < send.length && may_announce(send)) {
    const std::int64_t rest = send.length - send.moved;
    const bool is_inside = rest <= Slot::room;
    std::int64_t length = rest;
    std::int64_t cell = no_cell;
    if (!is_inside) {
      const std::int64_t part = send.length / pieces / element_ * element_;
      length = std::min(rest, std::clamp(part, shortest_piece_, longest_piece_));
      cell = find_free_cell(send);
      if (cell == no_cell) return has_moved;
      std::memcpy(geometry_.content(parts_[own_], cell), send.data + send.moved, length);
      geometry_.cell(parts_[own_], cell)
          .readers.store(static_cast<std::int32_t>(send.end - send.begin), std::memory_order_relaxed);
      senders_[cell] = static_cast<int>(&send - sends_.data());
    }
    const bool is_last = length == rest;
    for (const Peer& peer : peers_of(send)) {
      Link& link = links_[peer.number];
      Slot& slot = geometry_.slot(parts_[own_], peer.number, link.sent);
      slot.length = static_cast<std::uint32_t>(length);
      slot.cell = static_cast<std::int32_t>(cell);
      if (is_inside) std::memcpy(slot.inside, send.data + send.moved, length);
      slot.message.store(++link.sent, std::memory_order_release);
      if (is_last) ++link.ended_sends;
    }
    send.moved += length;
    has_moved = true;
  }
  return has_moved;
}

std::int64_t NodeChannel::limit(const Receive& receive) const {
  std::int64_t limit = receive.length;
  if (receive.landing.after_sends) {
    for (const Send& send : sends_) {
      if (send.data == receive.data) limit = std::min(limit, send.moved);
    }
  }
  if (receive.landing.after_previous) limit = std::min(limit, (&receive - 1)->moved);
  return limit;
}

bool NodeChannel::advance(Receive& receive, ChannelUser& user) {
  Link& link = links_[receive.peer];
  if (link.ended_receives != receive.turn) return false;
  std::byte* const part = parts_[receive.peer];
  bool has_moved = false;
  while (receive.moved < receive.length) {
    Slot& slot = geometry_.slot(part, own_, link.received);
    if (slot.message.load(std::memory_order_acquire) != link.received + 1) return has_moved;
    const std::int64_t length = slot.length;
    if (receive.moved + length > limit(receive)) return has_moved;
    const std::byte* const from = slot.cell == no_cell ? slot.inside : geometry_.content(part, slot.cell);
    std::byte* const to = receive.data + receive.moved;
    if (receive.landing.combines)
      user.combine(from, to, length / element_);
    else
      std::memcpy(to, from, length);
    if (slot.cell != no_cell) geometry_.cell(part, slot.cell).readers.fetch_sub(1, std::memory_order_release);
    ++link.received;
    geometry_.consumed(parts_[own_], receive.peer).messages.store(link.received, std::memory_order_release);
    receive.moved += length;
    has_moved = true;
  }
  ++link.ended_receives;
  return has_moved;
}

std::unique_ptr<NodeChannel> make_node_channel(const Comm& comm, const Comm& node) {
#ifdef AYATORI_SMPI
  (void)comm;  // simulated ranks do not run at the same time
  (void)node;
  return nullptr;
#else
  if (node.size() == 1) return nullptr;
  std::shared_ptr<const SharedMemory> memory;
  try {
    memory = std::make_shared<SharedMemory>(node, NodeChannel::bytes(node.size()));
  } catch (const EnvironmentError&) {
    return nullptr;
  }
  std::vector<std::byte*> parts;
  std::vector<int> numbers(comm.size(), -1);
  for (const int rank : node.allgather(comm.rank())) {
    numbers[rank] = static_cast<int>(std::ssize(parts));
    parts.push_back(memory->part(numbers[rank]));
  }
  return std::make_unique<NodeChannel>(std::move(parts), std::move(numbers), comm.rank(), std::move(memory));
#endif
}

}  // namespace ayatori::comm
