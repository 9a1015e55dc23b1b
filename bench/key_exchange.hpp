#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/window.hpp"

namespace ayatori::bench {

/// How keys come to their ranks.
struct RadixSortForm {
  std::string_view name;
  std::string_view description;
  bool one_sided;
};

std::span<const RadixSortForm> radix_sort_forms();

/// Brings keys to their ranks, again and again; the one-sided form keeps the memory that others write into.
template <class Key>
class KeyExchange {
 public:
  KeyExchange(const comm::Comm& comm, const RadixSortForm& form) : comm_(comm), form_(form) {}

  const comm::Comm& comm() const { return comm_; }

  /// Collective. Keys [offsets[r], offsets[r + 1]) go to rank r; what came is by ascending rank.
  std::vector<Key> operator()(std::span<const Key> keys, const std::vector<std::int64_t>& offsets) {
    return form_.one_sided ? put(keys, offsets) : comm_.alltoallv(keys, offsets).values;
  }

 private:
  std::vector<Key> put(std::span<const Key> keys, const std::vector<std::int64_t>& offsets) {
    const int ranks = comm_.size();
    std::vector<std::int64_t> sizes(ranks);
    for (int r = 0; r < ranks; ++r) sizes[r] = offsets[r + 1] - offsets[r];
    const auto table = comm_.allgatherv(std::span<const std::int64_t>(sizes)).values;  // from x to
    // Where this rank's keys begin in every rank's memory, and how many come there.
    std::vector<std::int64_t> place(ranks, 0);
    std::vector<std::int64_t> arriving(ranks, 0);
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        if (from < comm_.rank()) place[to] += table[from * ranks + to];
        arriving[to] += table[from * ranks + to];
      }
    }
    make_room(*std::ranges::max_element(arriving));
    window_->post();
    window_->start();
    for (int step = 1; step < ranks; ++step) {  // not all to the same rank at once
      const int to = (comm_.rank() + step) % ranks;
      if (sizes[to] > 0) window_->put(keys.subspan(offsets[to], sizes[to]), to, place[to]);
    }
    const int me = comm_.rank();
    std::vector<Key> result = comm::agree(comm_, [&] { return std::vector<Key>(arriving[me]); });
    window_->complete();
    window_->wait();
    const Key* const memory = reinterpret_cast<const Key*>(window_->data());
    std::copy(memory, memory + arriving[me], result.begin());
    std::ranges::copy(keys.subspan(offsets[me], sizes[me]), result.begin() + place[me]);
    return result;
  }

  /// Collective. All ranks know the same number.
  void make_room(std::int64_t keys) {
    if (window_ && keys <= room_) return;
    room_ = keys + keys / 32;
    std::vector<int> others;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      if (rank != comm_.rank()) others.push_back(rank);
    }
    window_.reset();
    window_ =
        std::make_unique<comm::Window>(comm_, room_ * static_cast<std::int64_t>(sizeof(Key)), others, others);
  }

  comm::Comm comm_;
  RadixSortForm form_;
  std::unique_ptr<comm::Window> window_;
  std::int64_t room_ = 0;  ///< keys that the window holds
};

}  // namespace ayatori::bench
