#include "ayatori/comm/shared_memory/node_channel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/shared_memory/shared_memory.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace ayatori::comm {

namespace {

constexpr std::int64_t line = 64;
constexpr std::uint32_t slots = 16;  ///< announcements under way from one rank to another
constexpr std::int64_t no_cell = -1;
constexpr std::int32_t at_sender = -2;  ///< instead of a cell: all of the message is where it was
constexpr int earlier_stage = -1;

/// A message is cut into this many pieces, unless they would be too short or too long: its receivers begin
/// soon.
constexpr std::int64_t pieces = 8;
constexpr std::int64_t shortest_piece = 4096;
/// What is copied out of another's memory to be combined from there stays in the cache.
constexpr std::int64_t longest_piece_beside = 65536;

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
  std::int32_t cell;  ///< the sender's cell; -1: the piece is here; -2: the address of the message is
  alignas(16) std::byte inside[room];
};

/// Whether a cell is in use.
struct alignas(line) NodeChannel::Cell {
  std::atomic<std::int32_t> readers;  ///< that have not taken the piece
};

/// How far a reader has come.
struct alignas(line) NodeChannel::Consumed {
  std::atomic<std::uint32_t> messages;
  /// Bytes read of the next one, if that is where its sender has it; ~bytes: and the kernel does not
  /// give the rest.
  std::atomic<std::int64_t> bytes;
};

/// Pieces stay in the cache between the two copies. Up to 128 ranks a rank has about as much memory for
/// pieces on every node; announcements take 4 KiB for each of the others.
NodeChannel::Geometry::Geometry(std::int64_t ranks)
    : cells(std::max<std::int64_t>(ranks, most_sends_to_land_after)) {
  constexpr std::int64_t longest_cell = 32768;
  constexpr std::int64_t together = 524288;
  cell_bytes = std::clamp(together / cells / line * line, longest_element, longest_cell);
  consumptions = sizeof(Introduction);
  rings = consumptions + ranks * static_cast<std::int64_t>(sizeof(Consumed));
  headers = rings + ranks * slots * static_cast<std::int64_t>(sizeof(Slot));
  contents = headers + cells * static_cast<std::int64_t>(sizeof(Cell));
}

inline NodeChannel::Consumed& NodeChannel::Geometry::consumed(std::byte* part, int from) const {
  return reinterpret_cast<Consumed*>(part + consumptions)[from];
}

inline NodeChannel::Slot& NodeChannel::Geometry::slot(std::byte* part, int to, std::uint32_t message) const {
  return reinterpret_cast<Slot*>(part + rings)[to * slots + message % slots];
}

inline NodeChannel::Cell& NodeChannel::Geometry::cell(std::byte* part, std::int64_t number) const {
  return reinterpret_cast<Cell*>(part + headers)[number];
}

inline Introduction& NodeChannel::Geometry::introduction(std::byte* part) const {
  return *reinterpret_cast<Introduction*>(part);
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
  piece_beside_ = longest_piece_beside;
  std::vector<Introduction*> introductions;
  for (std::byte* part : parts_) introductions.push_back(&geometry_.introduction(part));
  memory_ = ProcessMemory(introductions, own_);
}

void NodeChannel::set_element(std::int64_t bytes) {
  if (bytes == element_) return;
  element_ = bytes;
  shortest_piece_ = std::max<std::int64_t>(shortest_piece / bytes, 1) * bytes;
  longest_piece_ = geometry_.cell_bytes / bytes * bytes;
  piece_beside_ = longest_piece_beside / bytes * bytes;
}

void NodeChannel::begin_send(std::span<const std::byte> data, int rank, Copies copies) {
  if (data.empty()) return;
  const int number = numbers_[rank];
  Link& link = links_[number];
  const bool is_same = !sends_.empty() && sends_.back().data == data.data() && sends_.back().moved == 0 &&
                       !sends_.back().is_announced && sends_.back().length == std::ssize(data) &&
                       link.last_send != std::ssize(sends_) - 1;
  if (!is_same) sends_.push_back({data.data(), std::ssize(data), std::ssize(peers_), std::ssize(peers_)});
  peers_.push_back({number, link.begun_sends++});
  Send& send = sends_.back();
  ++send.end;
  send.is_single_copy =
      !is_same && copies == Copies::one && can_copy_once() && send.length >= least_single_copy;
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

/// Says where it is, or looks how far its reader has come.
bool NodeChannel::advance_single_copy(Send& send) {
  const int number = peers_of(send).front().number;
  Link& link = links_[number];
  if (!send.is_announced) {
    if (link.is_refused) send.is_single_copy = false;
    if (link.is_refused || !may_announce(send)) return false;
    Slot& slot = geometry_.slot(parts_[own_], number, link.sent);
    slot.cell = at_sender;
    std::memcpy(slot.inside, &send.data, sizeof send.data);
    slot.message.store(++link.sent, std::memory_order_release);
    return send.is_announced = true;
  }
  const Consumed& consumed = geometry_.consumed(parts_[number], own_);
  if (consumed.messages.load(std::memory_order_acquire) == link.sent) {
    send.moved = send.length;
    ++link.ended_sends;
    return true;
  }
  const std::int64_t before = send.moved;
  const std::int64_t bytes = consumed.bytes.load(std::memory_order_acquire);
  if (bytes < 0) {
    link.is_refused = true;
    send.is_single_copy = false;
  }
  send.moved = std::max(before, bytes < 0 ? ~bytes : bytes);
  return send.moved > before || link.is_refused;
}

bool NodeChannel::advance(Send& send) {
  if (send.is_single_copy) return advance_single_copy(send);
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

/// Where a receive has what it has read and what may not land yet.
std::byte* NodeChannel::beside(const Receive& receive) {
  const std::int64_t place = (&receive - receives_.data()) * longest_piece_beside;
  if (std::ssize(beside_) < place + longest_piece_beside) beside_.resize(place + longest_piece_beside);
  return beside_.data() + place;
}

/// What comes next out of the sender's memory: to its place, if it may land there as it is.
void NodeChannel::read_from_sender(Receive& receive, const Slot& slot) {
  const std::byte* from = nullptr;
  std::memcpy(&from, slot.inside, sizeof from);
  const std::int64_t free = limit(receive) - receive.moved;
  const bool lands = !receive.landing.combines && free > 0;
  const std::int64_t wanted = lands ? free : std::min(receive.length - receive.moved, piece_beside_);
  std::byte* const to = lands ? receive.data + receive.moved : beside(receive);
  std::int64_t length =
      memory_.read(receive.peer, from + receive.moved, {to, static_cast<std::size_t>(wanted)});
  if (length < wanted) length = length / element_ * element_;
  (lands ? receive.moved : receive.waiting) += length;
  Link& link = links_[receive.peer];
  Consumed& consumed = geometry_.consumed(parts_[own_], receive.peer);
  const std::int64_t read = receive.moved + receive.waiting;
  if (length > 0 && read < receive.length) {
    consumed.bytes.store(read, std::memory_order_release);
  } else if (length > 0) {
    consumed.bytes.store(0, std::memory_order_relaxed);
    consumed.messages.store(++link.received, std::memory_order_release);
  } else {
    ++link.received;  // the rest comes by cells
    consumed.bytes.store(~read, std::memory_order_release);
  }
}

/// As much as may of what waits; whether anything has.
bool NodeChannel::land(Receive& receive, ChannelUser& user) {
  const std::int64_t length = std::min(receive.waiting, limit(receive) - receive.moved);
  if (length <= 0) return false;
  const std::byte* const from = beside(receive);
  std::byte* const to = receive.data + receive.moved;
  if (receive.landing.combines)
    user.combine(from, to, length / element_);
  else
    std::memcpy(to, from, length);
  receive.moved += length;
  receive.waiting -= length;
  if (receive.waiting > 0) std::memmove(beside(receive), from + length, receive.waiting);
  return true;
}

bool NodeChannel::advance(Receive& receive, ChannelUser& user) {
  Link& link = links_[receive.peer];
  if (link.ended_receives != receive.turn) return false;
  std::byte* const part = parts_[receive.peer];
  bool has_moved = false;
  while (receive.moved < receive.length) {
    if (receive.waiting > 0) {
      if (!land(receive, user)) return has_moved;
      has_moved = true;
      continue;
    }
    Slot& slot = geometry_.slot(part, own_, link.received);
    if (slot.message.load(std::memory_order_acquire) != link.received + 1) return has_moved;
    if (slot.cell == at_sender) {
      read_from_sender(receive, slot);
      has_moved = true;
      continue;
    }
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
