#include "ayatori/collectives/execution/executor.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"

namespace ayatori::collectives {

namespace {

class CommTransport final : public WaitingTransport {
 public:
  CommTransport(const comm::Comm& comm, comm::DataType type, comm::ReduceOp op, comm::NodeChannel* channel,
                comm::RequestList& requests)
      : comm_(comm), type_(type), op_(op), channel_(channel), requests_(requests) {
    requests_.clear();
  }

  comm::NodeChannel* node_channel() override { return channel_; }

  void begin_receive(std::byte* data, std::int64_t length, int peer, int tag) override {
    requests_.add(comm_.irecv(std::span(data, length), peer, tag));
  }
  void begin_send(const std::byte* data, std::int64_t length, int peer, int tag) override {
    requests_.add(comm_.isend(std::span(data, length), peer, tag));
  }
  void wait_all() override { requests_.wait_all(); }
  std::size_t wait_any() override { return requests_.wait_any(); }
  void poke() override { comm_.poke(); }
  void combine(const std::byte* in, std::byte* inout, std::int64_t count) override {
    comm::reduce_local(in, inout, count, type_, op_);
  }

 private:
  const comm::Comm& comm_;
  comm::DataType type_;
  comm::ReduceOp op_;
  comm::NodeChannel* channel_;
  comm::RequestList& requests_;
};

bool overlap(const Chunks& some, const Chunks& others) {
  return std::ranges::any_of(some, [&](const ChunkRange& a) {
    return std::ranges::any_of(others,
                               [&](const ChunkRange& b) { return a.begin < b.end && b.begin < a.end; });
  });
}

/// How messages of these steps of a rank are copied inside a node. Whether they are combined where they
/// arrive their receivers' steps say, which meet them in their order.
std::vector<comm::Copies> copies_of(const WordPlan& plan, int rank, std::span<const Step> steps) {
  const bool all = plan.single_copy == SingleCopy::all;
  std::vector<comm::Copies> copies(steps.size(), all ? comm::Copies::one : comm::Copies::two);
  if (plan.single_copy != SingleCopy::moved) return copies;
  std::map<int, std::vector<Step>> arrivals;  // steps in which this rank's messages arrive, by peer
  std::map<int, std::size_t> sent;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != Step::Kind::send) continue;
    const auto [at_peer, is_new] = arrivals.try_emplace(steps[i].peer);
    if (is_new) {
      at_peer->second = steps_of(plan, steps[i].peer);
      std::erase_if(at_peer->second,
                    [&](const Step& step) { return step.peer != rank || step.kind == Step::Kind::send; });
    }
    if (at_peer->second.at(sent[steps[i].peer]++).kind == Step::Kind::receive) copies[i] = comm::Copies::one;
  }
  return copies;
}

}  // namespace

Executor::Executor(const WordPlan& plan, int rank)
    : steps_(steps_of(plan, rank)),
      chunks_(chunks_of(plan)),
      is_by_rank_(type_of(plan.operation).is_by_rank),
      segmentation_(plan.segmentation),
      copies_(copies_of(plan, rank, steps_)) {
  for (int i = 0; i < std::ssize(steps_); ++i) {
    if (i == 0 || steps_[i].stage != steps_[i - 1].stage) stages_.push_back({i, i});
    stages_.back().end = i + 1;
  }
  // A rank that takes part in the first and the last stage has segments on their way through all between.
  const int span = steps_.empty() ? 1 : steps_.back().stage - steps_.front().stage + 1;
  const int most = std::min(segmentation_.under_way * span, tags);
  places_.resize(std::min(segmentation_.segments, most));
  plan_receptions(nullptr, true);
}

/// Segments overtake each other, which messages of a channel do not.
bool Executor::uses_channel(const Elements& elements) const {
  return segmentation_.segments == 1 && elements.size <= comm::NodeChannel::longest_element;
}

void Executor::plan_receptions(comm::NodeChannel* channel, bool commutes) {
  channel_ = channel;
  commutes_ = commutes;
  receptions_.assign(steps_.size(), {Arrival::aside, {}});
  for (const Stage& stage : stages_) plan_receptions(stage, commutes);
}

/// What replaces lands in its place, if that is one. By the channel operands do as well, piece by piece and
/// in their order, if nobody needs what was there.
void Executor::plan_receptions(const Stage& stage, bool commutes) {
  std::vector<const Step*> sends;
  std::vector<int> receives;
  for (int i = stage.begin; i < stage.end; ++i) {
    if (steps_[i].kind == Step::Kind::send)
      sends.push_back(&steps_[i]);
    else
      receives.push_back(i);
  }
  const bool has_few_sends = std::ssize(sends) <= comm::NodeChannel::most_sends_to_land_after;
  const auto is_left_of = [&](std::size_t r, const Chunks& chunks) {
    return r < receives.size() && steps_[receives[r]].kind == Step::Kind::reduce_left &&
           steps_[receives[r]].chunks == chunks;
  };
  int previous = -1;  // that came by the channel
  for (std::size_t r = 0; r < receives.size(); ++r) {
    const Step& step = steps_[receives[r]];
    Reception& reception = receptions_[receives[r]];
    const bool replaces = step.kind == Step::Kind::receive;
    if (replaces && step.chunks.size() == 1) reception.arrival = Arrival::in_place;
    if (!is_near(step)) continue;
    const int before = std::exchange(previous, receives[r]);
    if (replaces || step.chunks.size() > 1 || !commutes) continue;
    const bool is_left = step.kind == Step::Kind::reduce_left;
    if (is_left && r > 0 && is_left_of(r - 1, step.chunks)) {
      if (before == receives[r - 1])
        reception = {Arrival::beside_first, {.combines = true, .after_previous = true}};
      continue;
    }
    if (is_left && is_left_of(r + 1, step.chunks)) continue;
    comm::Landing landing{.combines = step.reduces()};
    bool can_land = true;
    for (const Step* send : sends) {
      if (!overlap(send->chunks, step.chunks)) continue;
      landing.after_sends = true;
      can_land = can_land && has_few_sends && is_near(*send) && send->chunks == step.chunks;
    }
    int last = before;
    for (std::size_t e = 0; e < r; ++e) {
      if (!overlap(steps_[receives[e]].chunks, step.chunks)) continue;
      landing.after_previous = true;
      last = receives[e];
      can_land = can_land && is_near(steps_[last]) && steps_[last].chunks == step.chunks &&
                 receptions_[last].arrival == Arrival::in_place;
    }
    if (can_land && last == before) reception = {Arrival::in_place, landing};
  }
}

/// One call.
struct Executor::Run {
  Executor& e;
  Transport& transport;
  std::byte* data;
  const Elements& elements;

  void begin() {
    e.ready_.clear();
    e.waiting_.clear();
    for (int p = 0; p < std::ssize(e.places_); ++p) {
      Segment& segment = e.places_[p];
      segment.number = p;
      segment.stage = segment.messages = 0;
      e.ready_.push_back(p);
    }
    go_on();
  }

  void wait(WaitingTransport& waiting) {
    while (!e.waiting_.empty()) {
      if (e.places_.size() == 1) {
        waiting.wait_all();
        e.waiting_.clear();
        e.places_.front().messages = 0;
        end_stage(e.places_.front());
      } else {
        end_message(waiting.wait_any());
      }
      go_on();
    }
  }

  /// Ends one of the messages that are waited for; the last one takes its place.
  void end_message(std::size_t message) {
    Segment& segment = *e.waiting_[message];
    e.waiting_[message] = e.waiting_.back();
    e.waiting_.pop_back();
    if (--segment.messages == 0) end_stage(segment);
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
    const std::int64_t count = elements.count;
    const std::int64_t size = elements.size;
    if (elements.begins) return (*elements.begins)[chunk] * size;
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

  void await_message(Segment& segment) {
    ++segment.messages;
    e.waiting_.push_back(&segment);
  }

  void begin_stage(Segment& segment) {
    const auto [begin, end] = e.stages_[segment.stage];
    std::int64_t elsewhere = 0;
    std::int64_t together = 0;
    for (int i = begin; i < end; ++i) {
      const Step& step = e.steps_[i];
      const bool is_send = step.kind == Step::Kind::send;
      if (is_send && step.chunks.size() > 1) together += length_of(segment, step);
      if (!is_send && e.receptions_[i].arrival == Arrival::aside) elsewhere += length_of(segment, step);
    }
    if (std::ssize(segment.arrived) < elsewhere) segment.arrived.resize(elsewhere);
    if (std::ssize(segment.packed) < together) segment.packed.resize(together);
    begin_receives(segment);
    begin_sends(segment);
    if (e.channel_ != nullptr && !e.channel_->is_idle()) e.channel_->finish(transport);
  }

  static int tag_of(const Segment& segment) { return first_tag + segment.number % tags; }

  void begin_receives(Segment& segment) {
    const auto [begin, end] = e.stages_[segment.stage];
    std::byte* place = segment.arrived.data();
    std::byte* previous = place;  // place of what was put aside before
    for (int i = begin; i < end; ++i) {
      const Step& step = e.steps_[i];
      if (step.kind == Step::Kind::send) continue;
      const auto& [arrival, landing] = e.receptions_[i];
      const std::int64_t length = length_of(segment, step);
      if (arrival == Arrival::aside) previous = std::exchange(place, place + length);
      if (length == 0) continue;
      std::byte* const target =
          arrival == Arrival::in_place ? data + begin_of(segment, step.chunks.front().begin) : previous;
      if (e.is_near(step)) {
        e.channel_->begin_receive({target, static_cast<std::size_t>(length)}, step.peer, landing);
      } else {
        transport.begin_receive(target, length, step.peer, tag_of(segment));
        await_message(segment);
      }
    }
  }

  void begin_sends(Segment& segment) {
    std::byte* place = segment.packed.data();
    const auto [begin, end] = e.stages_[segment.stage];
    for (int i = begin; i < end; ++i) {
      const Step& step = e.steps_[i];
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
      if (e.is_near(step)) {
        e.channel_->begin_send({from, static_cast<std::size_t>(length)}, step.peer, e.copies_[i]);
      } else {
        transport.begin_send(from, length, step.peer, tag_of(segment));
        await_message(segment);
      }
    }
  }

  /// All messages have gone and come: combines and stores what came elsewhere.
  void end_stage(Segment& segment) {
    const auto [begin, end] = e.stages_[segment.stage];
    std::byte* place = segment.arrived.data();
    const Step* left = nullptr;  // operands from the left are combined with one another first
    std::byte* lefts = nullptr;
    const auto flush = [&] {
      if (left != nullptr) combine(segment, *left, lefts);
      left = nullptr;
    };
    for (int i = begin; i < end; ++i) {
      const Step& step = e.steps_[i];
      if (step.kind == Step::Kind::send || e.receptions_[i].arrival != Arrival::aside) continue;
      const std::int64_t length = length_of(segment, step);
      if (step.kind == Step::Kind::reduce_left) {
        if (left != nullptr && left->chunks == step.chunks)
          transport.combine(lefts, place, length / elements.size);
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
      if (elements.commutes || step.kind == Step::Kind::reduce_left) {
        transport.combine(from, place, length / elements.size);
      } else {
        transport.combine(place, from, length / elements.size);
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
                   comm::ReduceOp op, comm::NodeChannel* channel, BlockBegins begins) {
  CommTransport transport(comm, type, op, channel, requests_);
  run(transport, data, {count, static_cast<std::int64_t>(comm::size_of(type)), true, begins});
}

void Executor::run(WaitingTransport& transport, void* data, const Elements& elements) {
  if (stages_.empty()) return;
  comm::NodeChannel* const channel = uses_channel(elements) ? transport.node_channel() : nullptr;
  if (channel != channel_ || (channel != nullptr && elements.commutes != commutes_))
    plan_receptions(channel, elements.commutes);
  if (channel != nullptr) {
    if (!channel->is_idle())
      throw EnvironmentError(
          "an earlier collective call has failed, and messages inside the node are out of step");
    channel->set_element(elements.size);
  }
  Run run{*this, transport, static_cast<std::byte*>(data), elements};
  run.begin();
  run.wait(transport);
}

bool Executor::begin(Transport& transport, void* data, const Elements& elements) {
  if (stages_.empty()) return true;
  if (channel_ != nullptr) plan_receptions(nullptr, elements.commutes);
  Run{*this, transport, static_cast<std::byte*>(data), elements}.begin();
  return waiting_.empty();
}

bool Executor::go_on(Transport& transport, void* data, const Elements& elements, int tag) {
  const auto message =
      std::ranges::find_if(waiting_, [&](const Segment* of) { return Run::tag_of(*of) == tag; });
  Run run{*this, transport, static_cast<std::byte*>(data), elements};
  run.end_message(message - waiting_.begin());
  run.go_on();
  return waiting_.empty();
}

bool Executor::only_sends() const {
  return std::ranges::all_of(steps_, [](const Step& step) { return step.kind == Step::Kind::send; });
}

}  // namespace ayatori::collectives
