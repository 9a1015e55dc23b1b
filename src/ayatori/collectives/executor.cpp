#include "ayatori/collectives/executor.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace ayatori::collectives {

namespace {

constexpr int tag = 32004;  // communicators of the library carry no user messages with it

void sort_once(std::vector<int>& stages) {
  std::ranges::sort(stages);
  const auto rest = std::ranges::unique(stages);
  stages.erase(rest.begin(), rest.end());
}

}  // namespace

Executor::Executor(const WordPlan& plan, int rank)
    : Executor(steps_of(plan, rank), chunks_of(plan), plan.under_way, type_of(plan.operation).is_by_rank) {}

Executor::Executor(std::vector<Step> steps, int chunks, int under_way, bool is_by_rank)
    : steps_(std::move(steps)),
      chunks_(chunks),
      under_way_(under_way),
      is_by_rank_(is_by_rank),
      arrived_(2 * under_way),
      packed_(2 * under_way) {
  for (int i = 0; i < std::ssize(steps_); ++i) {
    if (i == 0 || steps_[i].stage != steps_[i - 1].stage) {
      Stage& stage = stages_.emplace_back();
      stage.begin = i;
    }
    stages_.back().end = i + 1;
  }
  find_needs();
}

void Executor::find_needs() {
  std::vector<int> written(chunks_, -1);           // by chunk: the stage that received it last
  std::vector<std::vector<int>> reading(chunks_);  // the stages that have sent it since
  for (int s = 0; s < std::ssize(stages_); ++s) {
    Stage& stage = stages_[s];
    const auto for_chunks = [&](bool sends, const auto& what) {
      for (int i = stage.begin; i < stage.end; ++i) {
        if ((steps_[i].kind == Step::Kind::send) != sends) continue;
        for (const ChunkRange& range : steps_[i].chunks) {
          for (int chunk = range.begin; chunk < range.end; ++chunk) what(steps_[i], chunk);
        }
      }
    };
    for_chunks(true, [&](const Step&, int chunk) {
      if (written[chunk] >= 0) stage.to_send.received.push_back(written[chunk]);
      reading[chunk].push_back(s);
    });
    for_chunks(false, [&](const Step& step, int chunk) {
      Needs& needs = is_direct(step) ? stage.to_receive : stage.to_store;
      if (written[chunk] >= 0 && written[chunk] != s) needs.received.push_back(written[chunk]);
      needs.sent.insert(needs.sent.end(), reading[chunk].begin(), reading[chunk].end());
    });
    for_chunks(false, [&](const Step&, int chunk) {
      written[chunk] = s;
      reading[chunk].clear();
    });
    for (Needs* needs : {&stage.to_send, &stage.to_receive, &stage.to_store}) {
      sort_once(needs->received);
      sort_once(needs->sent);
    }
  }
}

/// One call.
struct Executor::Run {
  Executor& e;
  const comm::Comm& comm;
  std::byte* data;
  std::int64_t count;
  std::int64_t size;
  comm::DataType type;
  comm::ReduceOp op;

  /// Places for what stages under way receive, and those that are expected before their turn.
  int slots() const { return 2 * e.under_way_; }

  // Chunks begin at whole elements; some are empty where there are fewer elements than chunks.
  std::int64_t begin_of(int chunk) const {
    return (e.is_by_rank_ ? chunk * count : chunk * count / e.chunks_) * size;
  }
  std::int64_t length_of(const ChunkRange& range) const {
    return begin_of(range.end) - begin_of(range.begin);
  }
  std::int64_t length_of(const Step& step) const {
    std::int64_t length = 0;
    for (const ChunkRange& range : step.chunks) length += length_of(range);
    return length;
  }

  void wait_for(const Needs& needs) {
    for (const int s : needs.received) receive(s);
    for (const int s : needs.sent) wait_for_sends(e.stages_[s]);
  }

  static void wait_for_sends(Stage& stage) {
    if (stage.has_sent) return;
    comm::wait_all(stage.departures);
    stage.departures.clear();
    stage.has_sent = true;
  }

  bool are_met(const Needs& needs) const {
    return std::ranges::all_of(needs.received, [&](int s) { return e.stages_[s].has_received; }) &&
           std::ranges::all_of(needs.sent, [&](int s) { return e.stages_[s].has_sent; });
  }

  void expect(int s) {
    Stage& stage = e.stages_[s];
    if (stage.is_expected) return;
    stage.is_expected = true;
    auto& arrived = e.arrived_[s % slots()];
    std::int64_t elsewhere = 0;
    for (int i = stage.begin; i < stage.end; ++i) {
      const Step& step = e.steps_[i];
      if (step.kind != Step::Kind::send && !e.is_direct(step)) elsewhere += length_of(step);
    }
    if (std::ssize(arrived) < elsewhere) arrived.resize(elsewhere);
    std::byte* place = arrived.data();
    for (int i = stage.begin; i < stage.end; ++i) {
      const Step& step = e.steps_[i];
      if (step.kind == Step::Kind::send) continue;
      const std::int64_t length = length_of(step);
      std::byte* const target = e.is_direct(step) ? data + begin_of(step.chunks.front().begin) : place;
      if (length > 0) stage.arrivals.push_back(comm.irecv(std::span(target, length), step.peer, tag));
      if (!e.is_direct(step)) place += length;
    }
  }

  void send(int s) {
    Stage& stage = e.stages_[s];
    auto& packed = e.packed_[s % slots()];
    std::int64_t together = 0;
    for (int i = stage.begin; i < stage.end; ++i) {
      const Step& step = e.steps_[i];
      if (step.kind == Step::Kind::send && step.chunks.size() > 1) together += length_of(step);
    }
    if (std::ssize(packed) < together) packed.resize(together);
    std::byte* place = packed.data();
    for (int i = stage.begin; i < stage.end; ++i) {
      const Step& step = e.steps_[i];
      const std::int64_t length = step.kind == Step::Kind::send ? length_of(step) : 0;
      if (length == 0) continue;
      const std::byte* from = data + begin_of(step.chunks.front().begin);
      if (step.chunks.size() > 1) {
        from = place;
        for (const ChunkRange& range : step.chunks) {
          std::memcpy(place, data + begin_of(range.begin), length_of(range));
          place += length_of(range);
        }
      }
      stage.departures.push_back(comm.isend(std::span(from, length), step.peer, tag));
    }
  }

  /// Waits for what the stage expects, and stores or combines it.
  void receive(int s) {
    Stage& stage = e.stages_[s];
    if (stage.has_received) return;
    comm::wait_all(stage.arrivals);
    stage.arrivals.clear();
    stage.has_received = true;
    wait_for(stage.to_store);
    std::byte* place = e.arrived_[s % slots()].data();
    const Step* left = nullptr;  // operands from the left are combined with one another first
    const std::byte* lefts = nullptr;
    const auto flush = [&] {
      if (left != nullptr) combine(*left, lefts);
      left = nullptr;
    };
    for (int i = stage.begin; i < stage.end; ++i) {
      const Step& step = e.steps_[i];
      if (step.kind == Step::Kind::send || e.is_direct(step)) continue;
      const std::int64_t length = length_of(step);
      if (step.kind == Step::Kind::reduce_left) {
        if (left != nullptr && left->chunks == step.chunks)
          comm::reduce_local(lefts, place, length / size, type, op);
        else
          flush();
        left = &step;
        lefts = place;
      } else {
        flush();
        if (step.kind == Step::Kind::reduce)
          combine(step, place);
        else
          take_apart(step, place);
      }
      place += length;
    }
    flush();
  }

  void combine(const Step& step, const std::byte* from) const {
    for (const ChunkRange& range : step.chunks) {
      const std::int64_t length = length_of(range);
      comm::reduce_local(from, data + begin_of(range.begin), length / size, type, op);
      from += length;
    }
  }

  void take_apart(const Step& step, const std::byte* from) const {
    for (const ChunkRange& range : step.chunks) {
      std::memcpy(data + begin_of(range.begin), from, length_of(range));
      from += length_of(range);
    }
  }

  void all() {
    const int stages = static_cast<int>(e.stages_.size());
    for (Stage& stage : e.stages_) stage.is_expected = stage.has_received = stage.has_sent = false;
    for (int s = 0; s < stages; ++s) {
      if (s >= e.under_way_) {
        receive(s - e.under_way_);
        wait_for_sends(e.stages_[s - e.under_way_]);
      }
      wait_for(e.stages_[s].to_receive);
      expect(s);
      wait_for(e.stages_[s].to_send);
      send(s);
      // A long message is on its way sooner if the receiver expects it.
      for (int next = s + 1; next < std::min(stages, s + e.under_way_); ++next) {
        if (!are_met(e.stages_[next].to_receive)) break;
        expect(next);
      }
    }
    for (int s = 0; s < stages; ++s) {
      receive(s);
      wait_for_sends(e.stages_[s]);
    }
  }
};

void Executor::run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                   comm::ReduceOp op) {
  Run{*this, comm, static_cast<std::byte*>(data), count, static_cast<std::int64_t>(comm::size_of(type)),
      type,  op}
      .all();
}

}  // namespace ayatori::collectives
