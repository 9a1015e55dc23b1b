#include "ayatori/collectives/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <map>
#include <queue>
#include <span>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/fair_share.hpp"

namespace ayatori::collectives {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double unlimited = std::numeric_limits<double>::max();
/// Where ranks drift apart every message changes the shares. After so many (of flows) have been found they
/// are found anew only when so much of the time has passed since they were, and estimated in between.
constexpr std::int64_t exact_shares = 200'000;
constexpr double renewal = 5e-3;

/// Who sends and who expects messages, by stage and level.
class Busyness {
 public:
  Busyness(const Schedule& schedule, const Network& network)
      : stages_(schedule.stages),
        levels_(network.levels()),
        ways_(static_cast<std::size_t>(schedule.ranks) * stages_ * levels_, 0),
        sends_(static_cast<std::size_t>(stages_) * levels_, 0) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (const Step& step : schedule.steps[rank]) {
        const int level = network.level_of(rank, step.peer);
        const bool is_send = step.kind == Step::Kind::send;
        ways_[place(rank, step.stage, level)] |= is_send ? out : in;
        if (is_send) ++sends_[place(0, step.stage, level)];
      }
    }
  }
  bool both_ways(int rank, int stage, int level) const {
    return ways_[place(rank, stage, level)] == (out | in);
  }
  int sends(int stage, int level) const { return sends_[place(0, stage, level)]; }

 private:
  static constexpr char out = 1;
  static constexpr char in = 2;
  std::size_t place(int rank, int stage, int level) const {
    return (static_cast<std::size_t>(rank) * stages_ + stage) * levels_ + level;
  }

  int stages_;
  int levels_;
  std::vector<char> ways_;
  std::vector<int> sends_;
};

}  // namespace

/// What is known of the schedule's steps before it is put into flat arrays.
struct Replay::Draft {
  std::vector<std::vector<int>> step_of;  ///< by rank and place
  std::vector<std::vector<int>> waiting;  ///< by step: the posts that wait for it
  std::vector<Kind> kinds;                ///< by message, as far as its sender knows
};

Replay::Replay(const Schedule& schedule, const Network& network) : network_(network) {
  if (network.ranks() < schedule.ranks)
    throw InputError(fmt::format("the network is one of {} ranks, and the schedule is for {}",
                                 network.ranks(), schedule.ranks));
  add_links();
  Draft draft;
  add_messages(schedule, draft);
  add_posts(schedule, draft);
  waiting_begin_.push_back(0);
  for (const auto& posts : draft.waiting) {
    waiting_.insert(waiting_.end(), posts.begin(), posts.end());
    waiting_begin_.push_back(static_cast<int>(waiting_.size()));
  }
}

/// For every owner a link out, one in, and one for both directions together.
int Replay::add_owners(int owners, double capacity, double duplex) {
  const int first = static_cast<int>(capacity_.size());
  for (int owner = 0; owner < owners; ++owner) {
    capacity_.push_back(capacity);
    capacity_.push_back(capacity);
    capacity_.push_back(duplex * capacity);
  }
  return first;
}

void Replay::add_links() {
  const int fastest = network_.fastest();
  rank_links_ = add_owners(network_.ranks(), network_.lane(fastest), network_.lane_duplex(fastest));
  for (int level = 0; level < network_.levels(); ++level) {
    lanes_.push_back(add_owners(network_.ranks(), network_.lane(level), network_.lane_duplex(level)));
    ports_.push_back(
        level == 0 ? -1
                   : add_owners(network_.owners(level), network_.port(level), network_.port_duplex(level)));
  }
}

/// Of the three links of an owner only those that can hold a message up.
void Replay::pass(int first, int out, int in) {
  if (capacity_[first] == never) return;
  const double duplex = capacity_[first + 2] / capacity_[first];
  if (duplex > 1) {
    passed_.push_back(first + 3 * out);
    passed_.push_back(first + 3 * in + 1);
  }
  if (duplex < 2) {
    passed_.push_back(first + 3 * out + 2);
    passed_.push_back(first + 3 * in + 2);
  }
}

int Replay::add_route(int from, int to) {
  const int meets_at = network_.level_of(from, to);
  Route route{from, to, meets_at, network_.farther(meets_at, from, to), static_cast<int>(passed_.size()), 0};
  pass(rank_links_, from, to);
  const int lane = lanes_[route.level];
  if (capacity_[lane] < capacity_[rank_links_] || capacity_[lane + 2] < capacity_[rank_links_ + 2])
    pass(lane, from, to);
  for (int level = 1; level <= route.level; ++level)
    pass(ports_[level], network_.owner(level, from), network_.owner(level, to));
  route.end = static_cast<int>(passed_.size());
  routes_.push_back(route);
  return static_cast<int>(routes_.size()) - 1;
}

/// Messages are numbered in the order in which their senders post them.
void Replay::add_messages(const Schedule& schedule, Draft& draft) {
  const Busyness busyness(schedule, network_);
  struct Pair {
    int route;
    std::vector<int> messages = {};
    std::size_t expected = 0;
  };
  std::map<std::pair<int, int>, Pair> pairs;  // from, to
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& step_of = draft.step_of.emplace_back();
    for (const Step& step : schedule.steps[rank]) {
      step_of.push_back(-1);
      if (step.kind != Step::Kind::send) continue;
      const auto [pair, is_new] = pairs.try_emplace({rank, step.peer});
      if (is_new) pair->second.route = add_route(rank, step.peer);
      const int message = static_cast<int>(messages_.size());
      const int level = routes_[pair->second.route].level;
      messages_.push_back({pair->second.route, -1});
      pair->second.messages.push_back(message);
      step_of.back() = send_step(message);
      Kind& kind = draft.kinds.emplace_back();
      kind.level = level;
      kind.share = static_cast<double>(chunk_count(step.chunks)) / schedule.chunks;
      kind.both_ways = busyness.both_ways(rank, step.stage, level);
      kind.many = busyness.sends(step.stage, level) > (kind.both_ways ? 2 : 1);
    }
  }
  std::map<Kind, int> kinds;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (std::size_t place = 0; place < schedule.steps[rank].size(); ++place) {
      const Step& step = schedule.steps[rank][place];
      if (step.kind == Step::Kind::send) continue;
      Pair& pair = pairs.at({step.peer, rank});
      const int message = pair.messages.at(pair.expected++);
      draft.step_of[rank][place] = arrival_step(message);
      Kind kind = draft.kinds[message];
      kind.both_ways = kind.both_ways || busyness.both_ways(rank, step.stage, kind.level);
      kind.reduces = step.reduces();
      const auto [entry, is_new] = kinds.try_emplace(kind, static_cast<int>(kinds_.size()));
      if (is_new) kinds_.push_back(kind);
      messages_[message].kind = entry->second;
    }
  }
  messages_per_segment_ = static_cast<int>(messages_.size());
  // Segments differ in length only.
  const std::vector<Kind> whole = kinds_;
  const auto of_whole = messages_;
  kinds_.clear();
  messages_.clear();
  std::map<std::int64_t, int> first_kind;  // by length of the segment
  for (int segment = 0; segment < schedule.segmentation.segments; ++segment) {
    constexpr std::int64_t count = std::int64_t{1} << 32;
    const auto begin = [&](int s) { return segment_begin(schedule.segmentation, count, s); };
    const std::int64_t length = (begin(segment + 1) - begin(segment)) >> 8;
    const auto [entry, is_new] = first_kind.try_emplace(length, static_cast<int>(kinds_.size()));
    for (Kind kind : is_new ? whole : std::vector<Kind>()) {
      kind.share *= static_cast<double>(begin(segment + 1) - begin(segment)) / count;
      kinds_.push_back(kind);
    }
    for (Message message : of_whole) {
      message.kind += entry->second;
      messages_.push_back(message);
    }
  }
  draft.waiting.resize(2 * messages_.size());
}

/// A post for every stage of every segment of a rank.
void Replay::add_posts(const Schedule& schedule, Draft& draft) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& steps = schedule.steps[rank];
    std::vector<int> begins;  // of stages
    for (int i = 0; i < std::ssize(steps); ++i) {
      if (i == 0 || steps[i].stage != steps[i - 1].stage) begins.push_back(i);
    }
    begins.push_back(static_cast<int>(steps.size()));
    const int stages = static_cast<int>(begins.size()) - 1;
    for (int segment = 0; segment < schedule.segmentation.segments; ++segment) {
      const auto step_of = [&](int of_segment, int i) {
        return draft.step_of[rank][i] + 2 * of_segment * messages_per_segment_;
      };
      for (int stage = 0; stage < stages; ++stage) {
        const int number = static_cast<int>(posts_.size());
        Post& post = posts_.emplace_back(Post{0, static_cast<int>(posted_.size())});
        const auto wait_for = [&](int of_segment, int of_stage) {
          if (of_segment < 0 || of_stage < 0) return;
          for (int i = begins[of_stage]; i < begins[of_stage + 1]; ++i) {
            draft.waiting[step_of(of_segment, i)].push_back(number);
            ++post.waits_for;
          }
        };
        wait_for(segment, stage - 1);
        wait_for(segment - schedule.segmentation.under_way, stage);
        for (int i = begins[stage]; i < begins[stage + 1]; ++i) posted_.push_back(step_of(segment, i));
      }
    }
  }
  posts_.push_back({0, static_cast<int>(posted_.size())});
}

/// The events of one size.
class Replay::Run {
 public:
  Run(const Replay& replay, double bytes)
      : r_(replay),
        fair_share_(replay.capacity_),
        waits_for_(replay.posts_.size()),
        ends_posted_(replay.messages_.size(), 0),
        next_send_(replay.network_.ranks(), 0),
        next_arrival_(replay.network_.ranks(), 0),
        combining_until_(replay.network_.ranks(), 0) {
    for (const Kind& kind : r_.kinds_) timings_.push_back(timing_of(kind, bytes));
    for (std::size_t post = 0; post < r_.posts_.size(); ++post) waits_for_[post] = r_.posts_[post].waits_for;
  }

  double run() {
    for (std::size_t post = 0; post + 1 < r_.posts_.size(); ++post) {
      if (r_.posts_[post].waits_for == 0) to_post_.push_back(static_cast<int>(post));
    }
    post_all();
    while (true) {
      double next = events_.empty() ? never : events_.top().time;
      for (const Flight& flight : flights_) next = std::min(next, flight.end);
      if (next == never) break;
      now_ = changes_ ? std::min(next, std::max(now_, renewed())) : next;
      take_place(now_ * (1 + 1e-9));  // symmetric messages end together but for rounding
      post_all();
      if (changes_ && now_ >= renewed()) share_out();
    }
    assert(std::ranges::all_of(waits_for_, [](int left) { return left == 0; }));
    return now_;
  }

 private:
  /// Of messages of a kind.
  struct Timing {
    double bytes;
    double latency;
    double limit;  ///< bytes per second
    double gap;
    double combining;
    bool is_eager;
  };
  /// A message whose bytes flow.
  struct Flight {
    int message;
    double end;
  };
  struct Event {
    enum class Kind { flows, is_taken, is_combined };
    double time;
    Kind kind;
    int message;

    bool operator>(const Event& other) const { return time > other.time; }
  };

  Timing timing_of(const Kind& kind, double bytes) const {
    const Network& network = r_.network_;
    const int flows = kind.many ? 2 : 1;
    const double length = kind.share * bytes;
    const double empty = network.latency(kind.level, kind.both_ways, 1, flows);
    const double flowing = network.seconds(kind.level, length, kind.both_ways, 1, flows) - empty;
    const double limit = flowing > 0 ? length / flowing : std::min(network.lane(kind.level), unlimited);
    const double overhead = network.overhead(kind.level);  // which `empty` includes
    return {length + overhead,
            empty - overhead / limit,
            limit,
            network.gap(kind.level),
            kind.reduces ? network.reducing(length) : 0,
            length <= network.eager_bytes(kind.level)};
  }

  const Route& route(int message) const { return r_.routes_[r_.messages_[message].route]; }
  const Timing& timing(int message) const { return timings_[r_.messages_[message].kind]; }

  /// Posts all that nothing holds up any more. What starts at one time starts in the order of the numbers,
  /// so that symmetric ranks do the same.
  void post_all() {
    while (!to_post_.empty()) {
      const int post = to_post_.back();
      to_post_.pop_back();
      for (int i = r_.posts_[post].begin; i < r_.posts_[post + 1].begin; ++i) {
        const int message = r_.posted_[i] / 2;
        if (r_.posted_[i] == send_step(message) && timing(message).is_eager) complete(send_step(message));
        if (++ends_posted_[message] == 2) starting_.push_back(message);
      }
    }
    std::ranges::sort(starting_);
    for (const int message : starting_) {
      double& next = next_send_[route(message).from];
      const double start = std::max(now_, next);
      next = start + timing(message).gap;
      const double latency = std::max(timing(message).latency + route(message).farther, 0.0);
      events_.push({start + latency, Event::Kind::flows, message});
    }
    starting_.clear();
  }

  /// All that happens up to then, as if it were now.
  void take_place(double until) {
    landing_.clear();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      if (flights_[i].end <= until) {
        landing_.push_back(flights_[i].message);
        fair_share_.remove(flows_[i]);
      } else {
        flights_[kept] = flights_[i];
        flows_[kept++] = flows_[i];
      }
    }
    flights_.resize(kept);
    flows_.resize(kept);
    std::ranges::sort(landing_);
    for (const int message : landing_) land(message);
    changes_ = changes_ || !landing_.empty();
    const std::size_t under_way = flights_.size();
    while (!events_.empty() && events_.top().time <= until) {
      const auto [time, kind, message] = events_.top();
      events_.pop();
      switch (kind) {
        case Event::Kind::flows:
          take_off(message);
          break;
        case Event::Kind::is_taken:
          arrive(message);
          break;
        case Event::Kind::is_combined:
          complete(arrival_step(message));
          break;
      }
    }
    for (std::size_t i = under_way; i < flights_.size(); ++i) {
      fair_share_.estimate(flows_[i]);
      flights_[i].end = now_ + timing(flights_[i].message).bytes / flows_[i].rate;
    }
  }

  void take_off(int message) {
    const Route& way = route(message);
    const auto passed = std::span(r_.passed_).subspan(way.begin, way.end - way.begin);
    fair_share_.add(flows_.emplace_back(passed, timing(message).limit));
    flights_.push_back({message, never});
    changes_ = true;
  }

  /// All its bytes are there: the receiver takes one message after the other.
  void land(int message) {
    if (!timing(message).is_eager) complete(send_step(message));
    double& next = next_arrival_[route(message).to];
    const double start = std::max(now_, next);
    next = start + timing(message).gap;
    if (start > now_)
      events_.push({start, Event::Kind::is_taken, message});
    else
      arrive(message);
  }

  void arrive(int message) {
    const double combining = timing(message).combining;
    if (combining == 0) {
      complete(arrival_step(message));
      return;
    }
    double& until = combining_until_[route(message).to];
    until = std::max(now_, until) + combining;
    events_.push({until, Event::Kind::is_combined, message});
  }

  void complete(int step) {
    for (int i = r_.waiting_begin_[step]; i < r_.waiting_begin_[step + 1]; ++i) {
      if (--waits_for_[r_.waiting_[i]] == 0) to_post_.push_back(r_.waiting_[i]);
    }
  }

  /// When the shares are to be found anew if they change.
  double renewed() const { return shares_ < exact_shares ? 0 : shared_out_ * (1 + renewal); }

  void share_out() {
    left_.clear();
    for (std::size_t i = 0; i < flights_.size(); ++i)
      left_.push_back((flights_[i].end - now_) * flows_[i].rate);
    fair_share_.assign(flows_);
    for (std::size_t i = 0; i < flights_.size(); ++i) flights_[i].end = now_ + left_[i] / flows_[i].rate;
    shares_ += std::ssize(flows_);
    shared_out_ = now_;
    changes_ = false;
  }

  const Replay& r_;
  FairShare fair_share_;
  std::vector<Timing> timings_;
  std::vector<int> waits_for_;     ///< by post
  std::vector<char> ends_posted_;  ///< by message
  std::vector<double> next_send_;
  std::vector<double> next_arrival_;
  std::vector<double> combining_until_;
  std::vector<int> to_post_;
  std::vector<int> starting_;
  std::vector<int> landing_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Flight> flights_;
  std::vector<Flow> flows_;   ///< of the flights
  std::vector<double> left_;  ///< bytes of the flights
  double now_ = 0;
  double shared_out_ = 0;    ///< when
  std::int64_t shares_ = 0;  ///< found
  bool changes_ = false;
};

double Replay::seconds(double bytes) const {
  return Run(*this, bytes).run();
}

}  // namespace ayatori::collectives
