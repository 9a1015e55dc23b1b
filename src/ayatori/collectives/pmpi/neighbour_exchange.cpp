#include "ayatori/collectives/pmpi/neighbour_exchange.hpp"

#include <algorithm>
#include <cstring>

#include "ayatori/collectives/pmpi/pair_exchange.hpp"

namespace ayatori::pmpi {

namespace {

/// From here on an MPI's single copy out of the sender's memory is as fast (docs/measured/shim.md).
constexpr std::int64_t longest_in_memory = 8192;

/// Longer blocks gain nothing by company: they would be copied once more on a second rank.
constexpr std::int64_t longest_in_bundle = 4096;

/// Length of a block, before the blocks of a bundle where the taker does not know it.
using Length = std::int32_t;

/// What is not there is no block that MPI allows, and is found out as one that goes straight.
bool fits_in_bundle(const Buffer& block) {
  return block.bytes() > 0 && block.bytes() <= longest_in_bundle && block.is_there();
}

/// What of a block goes in a bundle.
std::int64_t bundled_bytes(const Buffer& block) {
  return fits_in_bundle(block) ? block.bytes() : 0;
}

bool is_bundled(const NeighbourPlan::Received& received) {
  return received.taker != NeighbourPlan::no_taker;
}

std::byte* append(std::vector<std::byte>& data, std::int64_t bytes) {
  data.resize(data.size() + bytes);
  return data.data() + data.size() - bytes;
}

}  // namespace

Buffer NeighbourExchange::bytes(std::byte* data, std::int64_t length) const {
  Buffer buffer = bytes_;
  buffer.data = data;
  buffer.count = length;
  return buffer;
}

bool NeighbourExchange::run_straight(const NeighbourBlocks& blocks) {
  PairExchange pairs(s_, longest_in_memory);
  for (const auto& sent : plan_.sent) {
    if (!pairs.send(sent.reader, blocks.sent_to(sent.block))) return false;
  }
  for (const auto& received : plan_.received) {
    if (!pairs.receive(received.owner, blocks.received[received.block])) return false;
  }
  pairs.run();
  return true;
}

bool NeighbourExchange::run_bundled(const NeighbourBlocks& blocks) {
  PairExchange pairs(s_, longest_in_memory);
  // Bundles first: their takers expect them before what comes straight from the same rank.
  bundles_.resize(plan_.bundles.size());
  for (std::size_t i = 0; i < bundles_.size(); ++i) {
    pack_bundle(plan_.bundles[i], blocks, bundles_[i]);
    if (!pairs.send(plan_.bundles[i].taker, bytes(bundles_[i]))) return false;
  }
  taken_.resize(plan_.taken.size());
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    taken_[i].resize(most_bytes(plan_.taken[i], blocks));
    if (!pairs.receive(plan_.taken[i].owner, bytes(taken_[i]))) return false;
  }
  for (const auto& sent : plan_.sent) {
    const Buffer& block = blocks.sent_to(sent.block);
    if (sent.is_bundled && fits_in_bundle(block)) continue;
    if (!pairs.send(sent.reader, block)) return false;
  }
  for (const auto& received : plan_.received) {
    const Buffer& block = blocks.received[received.block];
    if (is_bundled(received) && fits_in_bundle(block)) continue;
    if (!pairs.receive(received.owner, block)) return false;
  }
  pairs.run();
  opened_.resize(taken_.size());
  for (int i = 0; i < std::ssize(taken_); ++i) open_bundle(i, blocks);
  deal_out(blocks);
  return true;
}

void NeighbourExchange::pack_bundle(const NeighbourPlan::Bundle& bundle, const NeighbourBlocks& blocks,
                                    std::vector<std::byte>& to) const {
  to.clear();
  if (!blocks.is_even) {
    for (const int block : bundle.blocks) {
      const auto length = static_cast<Length>(bundled_bytes(blocks.sent_to(block)));
      std::memcpy(append(to, sizeof(length)), &length, sizeof(length));
    }
  }
  for (const int block : bundle.blocks) {
    const Buffer& buffer = blocks.sent_to(block);
    if (fits_in_bundle(buffer)) pack(&s_, buffer, 0, 1, append(to, buffer.bytes()));
    if (blocks.is_gather) break;
  }
}

std::int64_t NeighbourExchange::most_bytes(const NeighbourPlan::TakenBundle& taken,
                                           const NeighbourBlocks& blocks) const {
  const std::int64_t readers = std::ssize(taken.readers);
  if (!blocks.is_even) return readers * (std::int64_t{sizeof(Length)} + longest_in_bundle);
  const auto own = std::ranges::find(taken.readers, s_.rank(), &NeighbourPlan::Reader::rank);
  return bundled_bytes(blocks.received[own->block]) * (blocks.is_gather ? 1 : readers);
}

void NeighbourExchange::open_bundle(int number, const NeighbourBlocks& blocks) {
  const NeighbourPlan::TakenBundle& bundle = plan_.taken[number];
  const std::byte* const lengths = taken_[number].data();
  const std::int64_t readers = std::ssize(bundle.readers);
  const std::byte* place = blocks.is_even ? lengths : lengths + readers * sizeof(Length);
  auto length =
      static_cast<Length>(blocks.is_even ? std::ssize(taken_[number]) / (blocks.is_gather ? 1 : readers) : 0);
  auto& opened = opened_[number];
  opened.clear();
  for (std::int64_t i = 0; i < readers; ++i) {
    if (!blocks.is_even) std::memcpy(&length, lengths + i * sizeof(length), sizeof(length));
    opened.emplace_back(place, length);
    if (!blocks.is_gather) place += length;
    const auto& [reader, block] = bundle.readers[i];
    if (reader == s_.rank() && length > 0) unpack(&s_, opened.back().data(), blocks.received[block], 0, 1);
  }
}

void NeighbourExchange::deal_out(const NeighbourBlocks& blocks) {
  if (plan_.deals.empty() && plan_.shares.empty()) return;
  PairExchange pairs(s_, longest_in_memory);
  deals_.resize(plan_.deals.size());
  for (std::size_t i = 0; i < deals_.size(); ++i) {
    deals_[i].clear();
    for (const auto& [bundle, place] : plan_.deals[i].blocks)
      deals_[i].insert(deals_[i].end(), opened_[bundle][place].begin(), opened_[bundle][place].end());
    check(pairs.send(plan_.deals[i].reader, bytes(deals_[i])) ? MPI_SUCCESS : MPI_ERR_INTERN);
  }
  shares_.resize(plan_.shares.size());
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    std::int64_t length = 0;
    for (const int block : plan_.shares[i].blocks) length += bundled_bytes(blocks.received[block]);
    shares_[i].resize(length);
    check(pairs.receive(plan_.shares[i].taker, bytes(shares_[i])) ? MPI_SUCCESS : MPI_ERR_INTERN);
  }
  pairs.run();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const std::byte* place = shares_[i].data();
    for (const int block : plan_.shares[i].blocks) {
      const Buffer& buffer = blocks.received[block];
      if (fits_in_bundle(buffer)) unpack(&s_, place, buffer, 0, 1);
      place += bundled_bytes(buffer);
    }
  }
}

}  // namespace ayatori::pmpi
