#include "ayatori/collectives/pmpi/pair_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori::pmpi {

namespace {

constexpr int tag = TagSpace::of_pairs;

/// Pieces of what goes through memory begin at multiples of this.
constexpr std::int64_t unit = 64;

}  // namespace

struct PairExchange::Block {
  int peer;
  Buffer buffer;
  bool is_near;       ///< goes through memory
  std::byte* packed;  ///< there, of what has holes or another order; null for all else

  bool is_packed() const { return is_near && !buffer.layout.is_contiguous; }
  std::byte* begin() const { return is_packed() ? packed : buffer.at(0); }
  std::span<std::byte> bytes() const { return {begin(), static_cast<std::size_t>(buffer.bytes())}; }
};

/// Kept from call to call.
struct PairExchange::Blocks {
  std::vector<Block> sent;
  std::vector<Block> received;
  std::vector<Buffer> own_sent;  ///< this rank's blocks to itself
  std::vector<Buffer> own_received;

  static Blocks& of_this_thread() {
    thread_local Blocks blocks;
    blocks.sent.clear();
    blocks.received.clear();
    blocks.own_sent.clear();
    blocks.own_received.clear();
    return blocks;
  }
};

PairExchange::PairExchange(CommSchedules& s, collectives::Operation operation)
    : s_(s),
      entries_(s.entries(operation)),
      memory_(s.sends_blocks_by_memory(operation) ? s.memory_of_all() : nullptr),
      blocks_(Blocks::of_this_thread()) {}

PairExchange::PairExchange(CommSchedules& s, std::int64_t longest_in_memory)
    : s_(s), longest_in_memory_(longest_in_memory), memory_(s.memory()), blocks_(Blocks::of_this_thread()) {}

bool PairExchange::goes_through_memory(int peer, std::int64_t bytes) {
  if (longest_in_memory_) return memory_ != nullptr && bytes <= *longest_in_memory_ && memory_->reaches(peer);
  if (bytes == known_length_) return known_is_near_;
  const collectives::TableEntry* const entry = nearest(entries_, bytes * s_.size());
  known_length_ = bytes;
  return known_is_near_ = entry != nullptr && entry->sends_blocks_by_memory();
}

bool PairExchange::add(std::vector<Block>& blocks, std::vector<Buffer>& own, int peer, const Buffer& block) {
  if (!block.layout.is_type || block.count < 0) return false;
  const std::int64_t bytes = block.bytes();
  if (bytes > 0 && !block.is_there()) return false;
  if (peer == s_.rank())
    own.push_back(block);
  else if (bytes > 0)
    are_packed_ |=
        blocks.emplace_back(Block{peer, block, goes_through_memory(peer, bytes), nullptr}).is_packed();
  return true;
}

bool PairExchange::send(int peer, const Buffer& block) {
  return add(blocks_.sent, blocks_.own_sent, peer, block);
}

bool PairExchange::receive(int peer, const Buffer& block) {
  return add(blocks_.received, blocks_.own_received, peer, block);
}

void PairExchange::find_room_to_pack() {
  if (!are_packed_) return;
  std::int64_t bytes = 0;
  for (const auto* blocks : {&blocks_.sent, &blocks_.received}) {
    for (const Block& block : *blocks) bytes += block.is_packed() ? block.buffer.bytes() : 0;
  }
  std::byte* room = s_.scratch(bytes);
  for (auto* blocks : {&blocks_.sent, &blocks_.received}) {
    for (Block& block : *blocks) {
      block.packed = room;
      room += block.is_packed() ? block.buffer.bytes() : 0;
    }
  }
}

/// A rank's own block: copied, or else a message to itself.
void PairExchange::begin_own(const Buffer& sent, const Buffer& received) {
  if (sent.bytes() == 0) return;
  if (sent.layout.is_contiguous && received.layout.is_contiguous) {
    std::memcpy(received.data, sent.data, std::min(sent.bytes(), received.bytes()));
    return;
  }
  s_.transport().begin_receive(received.data, received.count, received.type, s_.rank(), tag);
  s_.transport().begin_send(sent.data, sent.count, sent.type, s_.rank(), tag);
}

void PairExchange::run() {
  PmpiTransport& messages = s_.transport();
  messages.begin(MPI_DATATYPE_NULL, MPI_OP_NULL);
  if (memory_ != nullptr) {
    if (!memory_->is_idle()) throw EnvironmentError("an earlier collective call has failed");
    memory_->set_element(unit);
  }
  find_room_to_pack();
  for (const Block& block : blocks_.sent) {
    if (are_packed_ && block.is_packed()) pack(&s_, block.buffer, 0, 1, block.packed);
  }
  for (const auto& block : blocks_.received) {
    if (block.is_near)
      memory_->begin_receive(block.bytes(), block.peer);
    else
      messages.begin_receive(block.buffer.data, block.buffer.count, block.buffer.type, block.peer, tag);
  }
  for (const auto& block : blocks_.sent) {
    if (block.is_near)
      memory_->begin_send(block.bytes(), block.peer);
    else
      messages.begin_send(block.buffer.data, block.buffer.count, block.buffer.type, block.peer, tag);
  }
  if (memory_ != nullptr) memory_->start();
  const std::size_t own_blocks = std::min(blocks_.own_sent.size(), blocks_.own_received.size());
  for (std::size_t i = 0; i < own_blocks; ++i) begin_own(blocks_.own_sent[i], blocks_.own_received[i]);
  if (memory_ != nullptr && !memory_->is_idle()) memory_->finish(messages);
  messages.wait_all();
  for (const Block& block : blocks_.received) {
    if (are_packed_ && block.is_packed()) unpack(&s_, block.packed, block.buffer, 0, 1);
  }
}

}  // namespace ayatori::pmpi
