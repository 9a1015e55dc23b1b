#include "ayatori/collectives/schedules/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/network/fair_share.hpp"

namespace ayatori::collectives {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double unlimited = std::numeric_limits<double>::max();
/// Where ranks drift apart every message changes the shares. After this many (of flows) have been found they
/// are found anew only when so much of the time has passed since they were, and estimated in between.
constexpr std::int64_t exact_shares = 200'000;
constexpr double renewal = 5e-3;
/// Symmetric messages end together but for rounding.
constexpr double simultaneous = 1e-9;

/// Who sends and who expects messages, by stage and level.
class Busyness {
 public:
  Busyness(const Schedule& schedule, const network::Hierarchy& network)
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

/// What happens when: at the same time in the order in which it was added. Symmetric ranks do much at the
/// very same time: it is kept together, and a heap is of different times only.
template <class Item>
class Timetable {
 public:
  Timetable() { recent_.fill(-1); }

  /// The earliest; `never` if there is nothing.
  double next() const { return times_.empty() ? never : times_.front().time; }

  void add(double time, const Item& item) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    int& at = recent_[(std::bit_cast<std::uint64_t>(time) * golden) >> (64 - recent_bits)];
    if (at < 0 || lists_[at].time != time) {
      at = free_list();
      lists_[at].time = time;
      times_.push_back({time, begun_++, at});
      std::ranges::push_heap(times_, std::greater<>());
    }
    lists_[at].items.push_back(item);
  }

  /// Replaces `items` by those of the earliest time.
  void take(std::vector<Item>& items) {
    std::ranges::pop_heap(times_, std::greater<>());
    const int at = times_.back().list;
    times_.pop_back();
    items.clear();
    items.swap(lists_[at].items);
    lists_[at].time = never;
    free_.push_back(at);
  }

  void clear() {
    for (const Time& time : times_) {
      lists_[time.list].items.clear();
      lists_[time.list].time = never;
      free_.push_back(time.list);
    }
    times_.clear();
  }

 private:
  struct Time {
    double time;
    unsigned begun;
    int list;

    bool operator>(const Time& other) const {
      return time > other.time || (time == other.time && begun > other.begun);
    }
  };
  struct List {
    double time = never;
    std::vector<Item> items = {};
  };

  int free_list() {
    if (free_.empty()) {
      lists_.emplace_back();
      return static_cast<int>(lists_.size()) - 1;
    }
    const int at = free_.back();
    free_.pop_back();
    return at;
  }

  static constexpr int recent_bits = 8;
  std::array<int, 1 << recent_bits> recent_;  ///< by a hash of the time: the list that was begun last
  std::vector<Time> times_;                   ///< a heap
  std::vector<List> lists_;
  std::vector<int> free_;
  unsigned begun_ = 0;  ///< lists
};

}  // namespace

Replay::Replay(const Schedule& schedule, const network::Hierarchy& network)
    : network_(network), links_(network), segmentation_(schedule.segmentation) {
  if (network.ranks() < schedule.ranks)
    throw InputError(fmt::format("the network is one of {} ranks, and the schedule is for {}",
                                 network.ranks(), schedule.ranks));
  segmentation_.under_way = std::min(segmentation_.under_way, segmentation_.segments);
  add_posts(schedule);
  add_messages(schedule);
}

int Replay::add_route(int from, int to, int rail) {
  Route route{from, to, network_.farther(network_.level_of(from, to), from, to),
              static_cast<int>(passed_.size()), 0};
  links_.route(from, to, rail, passed_);
  route.end = static_cast<int>(passed_.size());
  routes_.push_back(route);
  return static_cast<int>(routes_.size()) - 1;
}

/// A post for every stage of every rank.
void Replay::add_posts(const Schedule& schedule) {
  for (const auto& steps : schedule.steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool is_first = i == 0;
      if (is_first || steps[i].stage != steps[i - 1].stage)
        posts_.push_back({static_cast<int>(posted_.size()), is_first});
      posted_.push_back(-1);
    }
    if (!steps.empty()) posts_.back().is_last = true;
  }
  posts_.push_back({static_cast<int>(posted_.size())});
}

/// Messages are numbered in the order in which their senders post them. From one rank to another the first
/// that is sent is the first that is expected.
void Replay::add_messages(const Schedule& schedule) {
  const Busyness busyness(schedule, network_);
  std::vector<Kind> kinds;                                 // by message, as far as its sender knows
  std::vector<std::vector<int>> arriving(schedule.ranks);  // messages by receiver, sender by sender
  std::vector<int> senders;
  const auto for_steps = [&](const auto& visit) {
    int post = -1;
    int place = 0;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (const Step& step : schedule.steps[rank]) {
        if (posts_[post + 1].begin == place) ++post;
        visit(rank, step, post, place++);
      }
    }
  };
  for_steps([&](int rank, const Step& step, int post, int place) {
    if (step.kind != Step::Kind::send) return;
    const int message = static_cast<int>(messages_.size());
    messages_.emplace_back().sent_in = post;
    senders.push_back(rank);
    arriving[step.peer].push_back(message);
    posted_[place] = send_step(message);
    Kind& kind = kinds.emplace_back();
    kind.level = network_.level_of(rank, step.peer);
    kind.share = static_cast<double>(chunk_count(step.chunks)) / schedule.chunks;
    kind.both_ways = busyness.both_ways(rank, step.stage, kind.level);
    kind.many = busyness.sends(step.stage, kind.level) > (kind.both_ways ? 2 : 1);
  });
  std::vector<std::size_t> expected(schedule.ranks);  // by sender: where in `arriving`
  std::map<std::pair<int, int>, int> routes;          // to one rank, by sender and rail
  std::map<Kind, int> numbers;
  int of_rank = -1;
  for_steps([&](int rank, const Step& step, int post, int place) {
    if (step.kind == Step::Kind::send) return;
    const auto& messages = arriving[rank];
    if (of_rank != rank) {
      for (std::size_t i = messages.size(); i-- > 0;) expected[senders[messages[i]]] = i;
      routes.clear();
      of_rank = rank;
    }
    const auto [route, is_other] = routes.try_emplace({step.peer, step.rail}, -1);
    if (is_other) route->second = add_route(step.peer, rank, step.rail);
    const int number = messages.at(expected[step.peer]++);
    posted_[place] = arrival_step(number);
    Kind kind = kinds[number];
    kind.both_ways = kind.both_ways || busyness.both_ways(rank, step.stage, kind.level);
    kind.reduces = step.reduces();
    const auto [entry, is_new] = numbers.try_emplace(kind, static_cast<int>(kinds_.size()));
    if (is_new) kinds_.push_back(kind);
    Message& message = messages_[number];
    message.route = route->second;
    message.kind = entry->second;
    message.arrives_in = post;
  });
}

/// The events of one size.
class Replay::Run {
 public:
  Run(const Replay& replay, double bytes)
      : r_(replay),
        fair_share_(replay.links_.capacities()),
        progress_((replay.posts_.size() - 1) * replay.segmentation_.under_way),
        sent_ahead_(replay.messages_.size() * replay.segmentation_.under_way, 0),
        place_(sent_ahead_.size()),
        next_send_(replay.network_.ranks(), 0),
        next_arrival_(replay.network_.ranks(), 0),
        combining_until_(replay.network_.ranks(), 0) {
    find_timings(bytes);
  }

  double run() {
    const int posts = static_cast<int>(r_.posts_.size()) - 1;
    for (int turn = 0; turn < r_.segmentation_.under_way; ++turn) {
      for (int post = 0; post < posts; ++post) {
        progress(post, turn).segment = turn;
        if (r_.posts_[post].is_first) to_post_.push_back({post, turn});
      }
    }
    post_all();
    while (true) {
      const double next = std::min(events_.next(), next_end());
      if (next == never) break;
      now_ = changes_ ? std::min(next, std::max(now_, renewed())) : next;
      take_place(now_ * (1 + simultaneous));
      post_all();
    }
    assert(std::ranges::all_of(progress_,
                               [&](const auto& p) { return p.segment >= r_.segmentation_.segments; }));
    return now_;
  }

 private:
  /// Times of messages of a kind in segments of a length.
  struct Timing {
    double bytes;
    double latency;
    double limit;  ///< bytes per second
    double gap;
    double combining;
    bool is_eager;
  };
  /// Progress of a post, for every segment of the same number modulo those under way: they follow each other.
  struct Progress {
    int segment = 0;  ///< that is posted, or will be next
    int left = 0;     ///< steps of it
  };
  /// Which of these that is, is its turn.
  struct Turn {
    int post;
    int turn;
  };
  /// A message of a segment.
  struct Piece {
    int segment;
    int message;
    int turn;

    bool operator<(const Piece& other) const {
      return std::pair(segment, message) < std::pair(other.segment, other.message);
    }
  };
  struct Event {
    enum class Kind { flows, is_taken, is_combined };
    Kind kind;
    Piece piece;
  };

  void find_timings(double bytes) {
    std::map<std::int64_t, int> first_timing;  // by length of the segment
    for (int segment = 0; segment < r_.segmentation_.segments; ++segment) {
      constexpr std::int64_t count = std::int64_t{1} << 32;
      const std::int64_t length = segment_begin(r_.segmentation_, count, segment + 1) -
                                  segment_begin(r_.segmentation_, count, segment);
      const auto [entry, is_new] = first_timing.try_emplace(length >> 8, static_cast<int>(timings_.size()));
      for (const Kind& kind : is_new ? r_.kinds_ : std::vector<Kind>())
        timings_.push_back(timing_of(kind, static_cast<double>(length) / count * bytes));
      timings_of_segment_.push_back(entry->second);
    }
  }

  /// `bytes`: of the segment.
  Timing timing_of(const Kind& kind, double bytes) const {
    const network::Hierarchy& network = r_.network_;
    const int flows = kind.many ? 2 : 1;
    const double length = kind.share * bytes;
    const auto& model = network.model(kind.level, kind.both_ways, 1, flows);
    const double empty = model.latency();
    const double flowing = model.seconds(length) - empty;
    const double limit = flowing > 0 ? length / flowing : std::min(network.lane(kind.level), unlimited);
    const double overhead = network.overhead(kind.level);  // which `empty` includes
    return {length + overhead,
            empty - overhead / limit,
            limit,
            network.gap(kind.level),
            kind.reduces ? network.reducing(length) : 0,
            length <= network.eager_bytes(kind.level)};
  }

  Progress& progress(int post, int turn) { return progress_[turn * (r_.posts_.size() - 1) + post]; }
  std::size_t slot(const Piece& piece) const { return piece.turn * r_.messages_.size() + piece.message; }
  const Route& route(const Piece& piece) const { return r_.routes_[r_.messages_[piece.message].route]; }
  const Timing& timing(const Piece& piece) const {
    return timings_[timings_of_segment_[piece.segment] + r_.messages_[piece.message].kind];
  }

  /// Posts all that nothing holds up any more. What starts at one time starts in the order of the numbers,
  /// so that symmetric ranks do the same.
  void post_all() {
    while (!to_post_.empty()) {
      const auto [post, turn] = to_post_.back();
      to_post_.pop_back();
      const int begin = r_.posts_[post].begin;
      const int end = r_.posts_[post + 1].begin;
      const int segment = progress(post, turn).segment;
      progress(post, turn).left = end - begin;
      for (int i = begin; i < end; ++i) {
        const Piece piece{segment, r_.posted_[i] / 2, turn};
        int& ahead = sent_ahead_[slot(piece)];
        if (r_.posted_[i] == send_step(piece.message)) {
          if (timing(piece).is_eager) end_step(post, turn);
          if (++ahead <= 0) starting_.push_back(piece);
        } else if (--ahead >= 0) {
          starting_.push_back(piece);
        }
      }
    }
    sort(starting_);
    for (const Piece& piece : starting_) {
      double& next = next_send_[route(piece).from];
      const double start = std::max(now_, next);
      next = start + timing(piece).gap;
      const double latency = std::max(timing(piece).latency + route(piece).farther, 0.0);
      events_.add(start + latency, {Event::Kind::flows, piece});
    }
    starting_.clear();
  }

  /// When the next flight ends. Those that end later than the shares are found anew are not put in order
  /// before.
  double next_end() {
    if (ends_.next() > ordered_until_ && !flights_.empty()) {
      const double next =
          *std::ranges::min_element(end_, {}, [&](double end) { return end > ordered_until_ ? end : never; });
      const double from = std::exchange(ordered_until_, std::max(next * (1 + 2 * simultaneous), renewed()));
      for (std::size_t i = 0; i < end_.size(); ++i) {
        if (end_[i] > from && end_[i] <= ordered_until_) ends_.add(end_[i], flights_[i]);
      }
    }
    return ends_.next();
  }

  /// All that happens up to then, as if it were now.
  void take_place(double until) {
    landing_.clear();
    while (ends_.next() <= until) {
      ends_.take(ending_);
      for (const Piece& piece : ending_) remove(piece);
    }
    sort(landing_);
    for (const Piece& piece : landing_) land(piece);
    changes_ = changes_ || !landing_.empty();
    const std::size_t under_way = flights_.size();
    while (events_.next() <= until) {
      events_.take(happening_);
      for (const auto& [kind, piece] : happening_) {
        switch (kind) {
          case Event::Kind::flows:
            take_off(piece);
            break;
          case Event::Kind::is_taken:
            arrive(piece);
            break;
          case Event::Kind::is_combined:
            end_step(r_.messages_[piece.message].arrives_in, piece.turn);
            break;
        }
      }
    }
    if (changes_ && now_ >= renewed()) {
      share_out(under_way);
      return;
    }
    for (std::size_t i = under_way; i < flights_.size(); ++i) {
      fair_share_.estimate(flows_[i]);
      end_[i] = now_ + timing(flights_[i]).bytes / flows_[i].rate;
      if (end_[i] <= ordered_until_) ends_.add(end_[i], flights_[i]);
    }
  }

  static void sort(std::vector<Piece>& pieces) {
    if (!std::ranges::is_sorted(pieces, std::less<>())) std::ranges::sort(pieces, std::less<>());
  }

  void take_off(const Piece& piece) {
    const Route& way = route(piece);
    const auto passed = std::span(r_.passed_).subspan(way.begin, way.end - way.begin);
    fair_share_.add(flows_.emplace_back(passed, timing(piece).limit));
    place_[slot(piece)] = static_cast<int>(flights_.size());
    flights_.push_back(piece);
    end_.push_back(never);
    changes_ = true;
  }

  void remove(const Piece& piece) {
    landing_.push_back(piece);
    const int place = place_[slot(piece)];
    fair_share_.remove(flows_[place]);
    flights_[place] = flights_.back();
    flows_[place] = flows_.back();
    end_[place] = end_.back();
    place_[slot(flights_[place])] = place;
    flights_.pop_back();
    flows_.pop_back();
    end_.pop_back();
  }

  /// All its bytes are there: the receiver takes one message after the other.
  void land(const Piece& piece) {
    if (!timing(piece).is_eager) end_step(r_.messages_[piece.message].sent_in, piece.turn);
    double& next = next_arrival_[route(piece).to];
    const double start = std::max(now_, next);
    next = start + timing(piece).gap;
    if (start > now_)
      events_.add(start, {Event::Kind::is_taken, piece});
    else
      arrive(piece);
  }

  void arrive(const Piece& piece) {
    const double combining = timing(piece).combining;
    if (combining == 0) {
      end_step(r_.messages_[piece.message].arrives_in, piece.turn);
      return;
    }
    double& until = combining_until_[route(piece).to];
    until = std::max(now_, until) + combining;
    events_.add(until, {Event::Kind::is_combined, piece});
  }

  /// One of a post's steps. After the last one the post is ready for the next segment of this turn if the
  /// stage before is, and the stage after it for this segment if it waits for no earlier one.
  void end_step(int post, int turn) {
    Progress& here = progress(post, turn);
    if (--here.left > 0) return;
    const int segment = here.segment;
    here.segment += r_.segmentation_.under_way;
    const bool is_ready = r_.posts_[post].is_first || progress(post - 1, turn).segment > here.segment;
    if (is_ready && here.segment < r_.segmentation_.segments) to_post_.push_back({post, turn});
    if (!r_.posts_[post].is_last && progress(post + 1, turn).segment == segment)
      to_post_.push_back({post + 1, turn});
  }

  /// When the shares are to be found anew if they change.
  double renewed() const { return shares_ < exact_shares ? 0 : shared_out_ * (1 + renewal); }

  /// Those from number `first_new` on have just begun.
  void share_out(std::size_t first_new) {
    left_.clear();
    for (std::size_t i = 0; i < first_new; ++i) left_.push_back((end_[i] - now_) * flows_[i].rate);
    for (std::size_t i = first_new; i < end_.size(); ++i) left_.push_back(timing(flights_[i]).bytes);
    fair_share_.assign(flows_);
    for (std::size_t i = 0; i < end_.size(); ++i) end_[i] = now_ + left_[i] / flows_[i].rate;
    ends_.clear();
    ordered_until_ = 0;
    shares_ += std::ssize(flows_);
    shared_out_ = now_;
    changes_ = false;
  }

  const Replay& r_;
  network::FairShare fair_share_;
  std::vector<Timing> timings_;          ///< kind by kind for every length of segments
  std::vector<int> timings_of_segment_;  ///< where those for its length begin
  std::vector<Progress> progress_;       ///< by turn and post
  std::vector<int> sent_ahead_;          ///< by slot: posts of the sender less those of the receiver
  std::vector<int> place_;               ///< by slot: which flight it is
  std::vector<double> next_send_;
  std::vector<double> next_arrival_;
  std::vector<double> combining_until_;
  std::vector<Turn> to_post_;
  std::vector<Piece> starting_;
  std::vector<Piece> landing_;
  Timetable<Event> events_;
  std::vector<Event> happening_;
  Timetable<Piece> ends_;  ///< ends of flights, up to `ordered_until_`
  double ordered_until_ = 0;
  std::vector<Piece> ending_;
  std::vector<Piece> flights_;        ///< whose bytes flow
  std::vector<double> end_;           ///< end of each flight
  std::vector<network::Flow> flows_;  ///< flow of each flight
  std::vector<double> left_;          ///< bytes of the flights
  double now_ = 0;
  double shared_out_ = 0;    ///< when
  std::int64_t shares_ = 0;  ///< found
  bool changes_ = false;
};

double Replay::seconds(double bytes) const {
  return Run(*this, bytes).run();
}

}  // namespace ayatori::collectives
