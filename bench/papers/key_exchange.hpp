#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/transfers/window.hpp"

namespace ayatori::bench {

/// How keys come to their ranks.
struct RadixSortForm {
  std::string_view name;
  std::string_view description;
  bool one_sided;
  bool overlap;  ///< in parts: while one is sorted the next is under way
};

std::span<const RadixSortForm> radix_sort_forms();

/// Brings keys to their ranks, again and again; the one-sided forms keep the memory that others write into.
template <class Key>
class KeyExchange {
 public:
  KeyExchange(const comm::Comm& comm, const RadixSortForm& form) : comm_(comm), form_(form) {}

  const comm::Comm& comm() const { return comm_; }
  /// That the keys of every rank come in.
  int parts() const { return form_.overlap && comm_.size() > 1 ? parts_of_overlap : 1; }
  /// For `arrived` to call now and then.
  void progress() const { comm_.poke(); }

  /// Collective. Keys [offsets[p], offsets[p + 1]) with p = r parts() + k are part k of those for rank r.
  /// Calls arrived(part), which must not throw and may change it, for the keys of every part, in order, as
  /// soon as they are there and the next part is under way. What came is by ascending part.
  template <class Arrived>
  std::vector<Key> operator()(std::span<const Key> keys, const std::vector<std::int64_t>& offsets,
                              const Arrived& arrived) {
    if (!form_.one_sided && !form_.overlap) {
      auto result = comm_.alltoallv(keys, offsets).values;
      arrived(std::span(result));
      return result;
    }
    const Layout layout = layout_of(offsets);
    if (form_.one_sided) make_room(layout.most);
    auto result = comm::agree(comm_, [&] { return std::vector<Key>(layout.begin.back()); });
    const auto part_of = [&](int part) {
      const std::int64_t begin = layout.begin[part * comm_.size()];
      return std::span(result).subspan(begin, layout.begin[(part + 1) * comm_.size()] - begin);
    };
    start(0, keys, offsets, layout, result);
    for (int part = 0; part < parts(); ++part) {
      finish(part_of(part), layout.begin[part * comm_.size()]);
      copy_own(part, keys, offsets, layout, result);
      if (part + 1 < parts()) start(part + 1, keys, offsets, layout, result);
      arrived(part_of(part));
    }
    return result;
  }

 private:
  static constexpr int parts_of_overlap = 4;  // enough to have most of their travel behind sorting

  /// Where keys are put.
  struct Layout {
    std::vector<std::int64_t> begin;  ///< first key of part k from rank r: [k ranks + r]; and the end
    std::vector<std::int64_t> place;  ///< place of this rank's part k in rank r's memory: [r parts + k]
    std::int64_t most;                ///< that come to a rank
  };

  /// Collective.
  Layout layout_of(const std::vector<std::int64_t>& offsets) const {
    const int ranks = comm_.size();
    const int pieces = ranks * parts();
    std::vector<std::int64_t> sizes(pieces);
    for (int p = 0; p < pieces; ++p) sizes[p] = offsets[p + 1] - offsets[p];
    const auto table = comm_.allgatherv(std::span<const std::int64_t>(sizes)).values;
    Layout layout{std::vector<std::int64_t>(pieces + 1), std::vector<std::int64_t>(pieces), 0};
    for (int to = 0; to < ranks; ++to) {
      std::int64_t next = 0;
      for (int k = 0; k < parts(); ++k) {
        for (int from = 0; from < ranks; ++from) {
          if (from == comm_.rank()) layout.place[to * parts() + k] = next;
          if (to == comm_.rank()) layout.begin[k * ranks + from] = next;
          next += table[from * pieces + to * parts() + k];
        }
      }
      if (to == comm_.rank()) layout.begin.back() = next;
      layout.most = std::max(layout.most, next);
    }
    return layout;
  }

  std::span<const Key> piece(std::span<const Key> keys, const std::vector<std::int64_t>& offsets, int to,
                             int part) const {
    const int p = to * parts() + part;
    return keys.subspan(offsets[p], offsets[p + 1] - offsets[p]);
  }

  /// Collective. Everything of a part is under way.
  void start(int part, std::span<const Key> keys, const std::vector<std::int64_t>& offsets,
             const Layout& layout, std::vector<Key>& result) {
    constexpr int tag = 1;
    const int ranks = comm_.size();
    if (form_.one_sided) {
      window_->post();
      window_->start();
    }
    for (int step = 1; step < ranks; ++step) {  // not all to the same rank at once
      const int to = (comm_.rank() + step) % ranks;
      const int from = (comm_.rank() - step + ranks) % ranks;
      const auto sent = piece(keys, offsets, to, part);
      const std::int64_t* begin = layout.begin.data() + part * ranks + from;
      const auto received = std::span(result).subspan(begin[0], begin[1] - begin[0]);
      if (form_.one_sided) {
        if (!sent.empty()) window_->put(sent, to, layout.place[to * parts() + part]);
      } else {
        if (!received.empty()) requests_.push_back(comm_.irecv(received, from, tag));
        if (!sent.empty()) requests_.push_back(comm_.isend(sent, to, tag));
      }
    }
    if (form_.one_sided) window_->complete();
  }

  /// Collective. The part that was started last, whose keys begin at `begin`, is in `part`, but for this
  /// rank's own.
  void finish(std::span<Key> part, std::int64_t begin) {
    comm::wait_all(requests_);
    requests_.clear();
    if (!form_.one_sided) return;
    window_->wait();
    const Key* const memory = reinterpret_cast<const Key*>(window_->data()) + begin;
    std::copy(memory, memory + part.size(), part.begin());
  }

  void copy_own(int part, std::span<const Key> keys, const std::vector<std::int64_t>& offsets,
                const Layout& layout, std::vector<Key>& result) const {
    std::ranges::copy(piece(keys, offsets, comm_.rank(), part),
                      result.begin() + layout.begin[part * comm_.size() + comm_.rank()]);
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
  std::vector<comm::Request> requests_;
  std::unique_ptr<comm::Window> window_;
  std::int64_t room_ = 0;  ///< keys that the window holds
};

}  // namespace ayatori::bench
