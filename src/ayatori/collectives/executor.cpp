#include "ayatori/collectives/executor.hpp"

#include <algorithm>
#include <span>

namespace ayatori::collectives {

namespace {

/// Of the first segment; communicators of the library carry no user messages with these tags. Those of
/// segments that are under way at once differ.
constexpr int first_tag = 28000;
constexpr int tags = 4096;

class CommTransport final : public Transport {
 public:
  CommTransport(const comm::Comm& comm, comm::DataType type, comm::ReduceOp op,
                std::vector<comm::Request>& requests)
      : comm_(comm), type_(type), op_(op), requests_(requests) {
    requests_.clear();
  }

  void begin_receive(std::byte* data, std::int64_t length, int peer, int tag) override {
    requests_.push_back(comm_.irecv(std::span(data, length), peer, tag));
  }
  void begin_send(const std::byte* data, std::int64_t length, int peer, int tag) override {
    requests_.push_back(comm_.isend(std::span(data, length), peer, tag));
  }
  void wait_all() override {
    comm::wait_all(requests_);
    requests_.clear();
  }
  std::size_t wait_any() override {
    const std::size_t done = *comm::wait_any(requests_);
    std::swap(requests_[done], requests_.back());
    requests_.pop_back();
    return done;
  }
  void combine(const std::byte* in, std::byte* inout, std::int64_t count) override {
    comm::reduce_local(in, inout, count, type_, op_);
  }

 private:
  const comm::Comm& comm_;
  comm::DataType type_;
  comm::ReduceOp op_;
  std::vector<comm::Request>& requests_;
};

}  // namespace

Executor::Executor(const WordPlan& plan, int rank)
    : steps_(steps_of(plan, rank)),
      chunks_(chunks_of(plan)),
      is_by_rank_(type_of(plan.operation).is_by_rank),
      segmentation_(plan.segmentation) {
  for (int i = 0; i < std::ssize(steps_); ++i) {
    if (i == 0 || steps_[i].stage != steps_[i - 1].stage) stages_.push_back({i, i});
    stages_.back().end = i + 1;
  }
  // A rank that takes part in the first and the last stage has segments on their way through all between.
  const int span = steps_.empty() ? 1 : steps_.back().stage - steps_.front().stage + 1;
  const int most = std::min(segmentation_.under_way * span, tags);
  places_.resize(std::min(segmentation_.segments, most));
}

/// One call.
struct Executor::Run {
  Executor& e;
  Transport& transport;
  std::byte* data;
  std::int64_t count;
  std::int64_t size;
  bool commutes;

  void all() {
    e.ready_.clear();
    e.waiting_.clear();
    for (int p = 0; p < std::ssize(e.places_); ++p) {
      Segment& segment = e.places_[p];
      segment.number = p;
      segment.stage = segment.messages = 0;
      e.ready_.push_back(p);
    }
    go_on();
    while (!e.waiting_.empty()) {
      if (e.places_.size() == 1) {
        transport.wait_all();
        e.waiting_.clear();
        e.places_.front().messages = 0;
        end_stage(e.places_.front());
      } else {
        const std::size_t done = transport.wait_any();
        Segment& segment = *e.waiting_[done];
        e.waiting_[done] = e.waiting_.back();
        e.waiting_.pop_back();
        if (--segment.messages == 0) end_stage(segment);
      }
      go_on();
    }
  }

  /// Begins all stages that can begin.
  void go_on() {
    while (!e.ready_.empty()) {
      const int number = e.ready_.back();
      e.ready_.pop_back();
      Segment& segment = place_of(number);
      const bool is_under_way = number < e.segmentation_.segments && segment.number == number;
      if (!is_under_way || segment.messages > 0 || is_done(segment) || !may_begin(segment)) continue;
      begin_stage(segment);
      if (segment.messages == 0) end_stage(segment);
    }
  }

  Segment& place_of(int number) const { return e.places_[number % e.places_.size()]; }
  bool is_done(const Segment& segment) const { return segment.stage == std::ssize(e.stages_); }

  /// Whether the segment that has to be ahead of this one is.
  bool may_begin(const Segment& segment) const {
    const int ahead = segment.number - e.segmentation_.under_way;
    if (ahead < 0) return true;
    const Segment& other = place_of(ahead);
    return other.number != ahead || other.stage > segment.stage;
  }

  /// Segments and chunks begin at whole elements; some are empty where there are more of them than elements.
  std::int64_t begin_of(const Segment& segment, int chunk) const {
    if (e.is_by_rank_) return chunk * count * size;
    const std::int64_t begin = segment_begin(e.segmentation_, count, segment.number);
    const std::int64_t end = segment_begin(e.segmentation_, count, segment.number + 1);
    return (begin + chunk * (end - begin) / e.chunks_) * size;
  }
  std::int64_t length_of(const Segment& segment, const ChunkRange& range) const {
    return begin_of(segment, range.end) - begin_of(segment, range.begin);
  }
  std::int64_t length_of(const Segment& segment, const Step& step) const {
    std::int64_t length = 0;
    for (const ChunkRange& range : step.chunks) length += length_of(segment, range);
    return length;
  }

  std::span<const Step> steps_in(const Segment& segment) const {
    const auto [begin, end] = e.stages_[segment.stage];
    return std::span(e.steps_).subspan(begin, end - begin);
  }

  void await_message(Segment& segment) {
    ++segment.messages;
    e.waiting_.push_back(&segment);
  }

  void begin_stage(Segment& segment) {
    const int tag = first_tag + segment.number % tags;
    const auto steps = steps_in(segment);
    std::int64_t elsewhere = 0;
    std::int64_t together = 0;
    for (const Step& step : steps) {
      const bool is_send = step.kind == Step::Kind::send;
      if (is_send && step.chunks.size() > 1) together += length_of(segment, step);
      if (!is_send && !is_direct(step)) elsewhere += length_of(segment, step);
    }
    if (std::ssize(segment.arrived) < elsewhere) segment.arrived.resize(elsewhere);
    if (std::ssize(segment.packed) < together) segment.packed.resize(together);
    std::byte* place = segment.arrived.data();
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::send) continue;
      const std::int64_t length = length_of(segment, step);
      std::byte* const target = is_direct(step) ? data + begin_of(segment, step.chunks.front().begin) : place;
      if (!is_direct(step)) place += length;
      if (length == 0) continue;
      transport.begin_receive(target, length, step.peer, tag);
      await_message(segment);
    }
    place = segment.packed.data();
    for (const Step& step : steps) {
      const std::int64_t length = step.kind == Step::Kind::send ? length_of(segment, step) : 0;
      if (length == 0) continue;
      const std::byte* from = data + begin_of(segment, step.chunks.front().begin);
      if (step.chunks.size() > 1) {
        from = place;
        for (const ChunkRange& range : step.chunks) {
          std::copy_n(data + begin_of(segment, range.begin), length_of(segment, range), place);
          place += length_of(segment, range);
        }
      }
      transport.begin_send(from, length, step.peer, tag);
      await_message(segment);
    }
  }

  /// All messages have gone and come: combines and stores what came elsewhere.
  void end_stage(Segment& segment) {
    std::byte* place = segment.arrived.data();
    const Step* left = nullptr;  // operands from the left are combined with one another first
    std::byte* lefts = nullptr;
    const auto flush = [&] {
      if (left != nullptr) combine(segment, *left, lefts);
      left = nullptr;
    };
    for (const Step& step : steps_in(segment)) {
      if (step.kind == Step::Kind::send || is_direct(step)) continue;
      const std::int64_t length = length_of(segment, step);
      if (step.kind == Step::Kind::reduce_left) {
        if (left != nullptr && left->chunks == step.chunks)
          transport.combine(lefts, place, length / size);
        else
          flush();
        left = &step;
        lefts = place;
      } else {
        flush();
        if (step.kind == Step::Kind::reduce)
          combine(segment, step, place);
        else
          take_apart(segment, step, place);
      }
      place += length;
    }
    flush();
    ++segment.stage;
    e.ready_.push_back(segment.number);
    e.ready_.push_back(segment.number + e.segmentation_.under_way);
    const int next = segment.number + static_cast<int>(e.places_.size());
    if (!is_done(segment) || next >= e.segmentation_.segments) return;
    segment.number = next;
    segment.stage = 0;
    e.ready_.push_back(next);
  }

  /// What arrived is overwritten where it is the right operand and operands may not be exchanged.
  void combine(const Segment& segment, const Step& step, std::byte* from) const {
    for (const ChunkRange& range : step.chunks) {
      const std::int64_t length = length_of(segment, range);
      std::byte* const place = data + begin_of(segment, range.begin);
      if (commutes || step.kind == Step::Kind::reduce_left) {
        transport.combine(from, place, length / size);
      } else {
        transport.combine(place, from, length / size);
        std::copy_n(from, length, place);
      }
      from += length;
    }
  }

  void take_apart(const Segment& segment, const Step& step, const std::byte* from) const {
    for (const ChunkRange& range : step.chunks) {
      std::copy_n(from, length_of(segment, range), data + begin_of(segment, range.begin));
      from += length_of(segment, range);
    }
  }
};

void Executor::run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                   comm::ReduceOp op) {
  CommTransport transport(comm, type, op, requests_);
  run(transport, data, {count, static_cast<std::int64_t>(comm::size_of(type))});
}

void Executor::run(Transport& transport, void* data, const Elements& elements) {
  if (stages_.empty()) return;
  Run{*this, transport, static_cast<std::byte*>(data), elements.count, elements.size, elements.commutes}
      .all();
}

bool Executor::only_sends() const {
  return std::ranges::all_of(steps_, [](const Step& step) { return step.kind == Step::Kind::send; });
}

}  // namespace ayatori::collectives
