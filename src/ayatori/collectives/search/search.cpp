#include "ayatori/collectives/search/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/schedules/replay.hpp"
#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/collectives/search/layout.hpp"
#include "ayatori/collectives/search/word_program.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "ayatori/network/hierarchy.hpp"

namespace ayatori::collectives {

namespace {

/// Segments of a pipeline: an MPI keeps track of this many messages of a rank with ease.
constexpr int most_under_way = 16;

/// More messages have to pay, as their own costs are known least.
constexpr double worth_more_messages = 0.98;

constexpr DigitOrder orders[] = {DigitOrder::near_first, DigitOrder::far_first};

/// The candidates for one size that are worth a closer look.
class Finalists {
 public:
  explicit Finalists(std::size_t most) : most_(most) {}

  template <class Make>
  void add(double seconds, const Make& make) {
    if (list_.size() == most_ && seconds >= list_.back().seconds) return;
    Candidate candidate{make(), seconds, 0};
    if (std::ranges::find(list_, candidate.plan, &Candidate::plan) != list_.end()) return;
    list_.insert(std::ranges::upper_bound(list_, seconds, {}, &Candidate::seconds), std::move(candidate));
    if (list_.size() > most_) list_.pop_back();
  }

  std::vector<Candidate> take() { return std::move(list_); }

 private:
  std::size_t most_;
  std::vector<Candidate> list_;
};

double seconds_of_word(Operation operation, int ranks, const Word& word, const network::Hierarchy& network,
                       std::int64_t bytes) {
  const auto plan = make_plan(operation, ranks, word, DigitOrder::near_first);
  return predict_seconds(load_of(expand(plan), network), network, static_cast<double>(bytes));
}

/// The best by the model first, and none that it is too far from what has been replayed to win.
void replay(std::vector<Candidate>& finalists, const network::Hierarchy& network, double bytes) {
  constexpr double farthest = 1.5;
  double least = std::numeric_limits<double>::infinity();
  std::erase_if(finalists, [&](Candidate& candidate) {
    if (candidate.seconds > farthest * least) return true;
    candidate.replayed_seconds = Replay(expand(candidate.plan), network).seconds(bytes);
    least = std::min(least, candidate.replayed_seconds);
    return false;
  });
}

bool is_possible(const WordPlan& plan) {
  try {
    check_plan(plan);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Stripes are meant for rails of their own where that costs nothing: then no two of them have to meet in
/// one.
void give_rails(Candidate& candidate, const network::Hierarchy& network, double bytes) {
  WordPlan plan = candidate.plan;
  plan.rails = std::min(network.rails(), plan.stripes);
  if (plan.rails == 1) return;
  constexpr double rounding = 1 + 1e-6;
  const double replayed = Replay(expand(plan), network).seconds(bytes);
  if (replayed <= candidate.replayed_seconds * rounding) candidate.plan = std::move(plan);
}

/// Replays find other numbers of stripes for the best candidates, and of segments and stages under way for
/// those that are pipelines, step by step.
void refine(std::vector<Candidate>& finalists, const network::Hierarchy& network, double bytes,
            int most_segments) {
  constexpr std::size_t refined = 2;
  for (std::size_t i = 0; i < std::min(refined, finalists.size()); ++i) {
    Candidate& best = finalists[i];
    const int digits = static_cast<int>(best.plan.digits.size());
    if (digits == 0) continue;
    for (bool improves = true; improves;) {
      improves = false;
      const WordPlan from = best.plan;
      const auto attempt = [&](int segments, int under_way, int stripes) {
        if (segments > most_segments || under_way < 1 || under_way > most_under_way) return;
        WordPlan plan = from;
        plan.segmentation = {segments, under_way};
        plan.stripes = stripes;
        if (plan == from || !is_possible(plan)) return;
        const auto schedule = expand(plan);
        const double replayed = Replay(schedule, network).seconds(bytes);
        if (replayed >= best.replayed_seconds * worth_more_messages) return;
        const double seconds =
            predict_seconds(load_of(schedule, network), network, bytes, segments, under_way);
        best = {std::move(plan), seconds, replayed};
        improves = true;
      };
      const auto [segments, under_way] = from.segmentation;
      for (const int stripes : std::set{1, 2, digits, 2 * digits, network.rails()})
        attempt(segments, under_way, stripes);
      if (segments == 1) continue;
      attempt(2 * segments, under_way, from.stripes);
      if (segments > 2) attempt(segments / 2, under_way, from.stripes);
      attempt(segments, 2 * under_way, from.stripes);
      attempt(segments, under_way / 2, from.stripes);
    }
    give_rails(best, network, bytes);
  }
  std::ranges::stable_sort(finalists, {}, &Candidate::replayed_seconds);
}

/// What reproducible results ask for: the same digits for every size, those that suit all sizes best.
void fix_digits(std::vector<WordProgram>& programs, std::span<const std::int64_t> sizes) {
  std::vector<std::vector<int>> seen;
  for (const auto bytes : sizes) {
    for (const Way& way : programs.front().best_ways(static_cast<double>(bytes))) {
      std::vector<int> radices;
      for (const Radix& radix : way.radices) radices.push_back(radix.members);
      if (std::ranges::find(seen, radices) == seen.end()) seen.push_back(radices);
    }
  }
  double least = std::numeric_limits<double>::infinity();
  std::vector<int> best;
  for (const auto& radices : seen) {
    programs.front().fix_radices(radices);
    double logarithms = 0;
    for (const auto bytes : sizes)
      logarithms += std::log(programs.front().best_ways(static_cast<double>(bytes)).front().seconds);
    if (logarithms >= least) continue;
    least = logarithms;
    best = radices;
  }
  programs.front().fix_radices(best);
}

}  // namespace

std::vector<SizeChoice> search(Operation operation, int ranks, const machine::Profile& profile,
                               std::span<const std::int64_t> sizes, const SearchOptions& options) {
  const auto& type = type_of(operation);
  operation = type.schedule;
  if (ranks < 1) throw InputError(fmt::format("{} ranks: at least one is needed", ranks));
  const network::Hierarchy network(profile, ranks);
  const auto layouts = layouts_of(operation, ranks, profile, !options.is_restricted());
  std::vector<WordProgram> programs;
  for (const Layout& layout : layouts) {
    for (const DigitOrder order : orders) {
      if (options.reproducible && order != DigitOrder::near_first) continue;
      programs.emplace_back(operation, layout, order, network, options);
    }
  }
  if (options.reproducible && type.reduces) fix_digits(programs, sizes);

  struct Pipeline {
    std::size_t program;
    Way way;
    ScheduleLoad load;
  };
  std::vector<Pipeline> pipes;
  const bool may_pipeline =
      type.has_words && !options.is_restricted() && options.most_segments > 1 && ranks > 1;
  for (std::size_t p = 0; may_pipeline && p < programs.size(); ++p) {
    for (Way& way : programs[p].pipelines(profile)) {
      auto load = programs[p].load_of_pipeline(way);
      pipes.push_back({p, std::move(way), std::move(load)});
    }
  }

  std::vector<SizeChoice> choices;
  for (const auto size : sizes) {
    const auto bytes = static_cast<double>(size);
    SizeChoice& choice = choices.emplace_back();
    choice.bytes = size;
    // Half of the places are for pipelines, whose times the model knows less well.
    const auto places = static_cast<std::size_t>(std::max(options.finalists, 2));
    Finalists whole(places - places / 2);
    Finalists pipelined(places / 2);
    for (WordProgram& program : programs) {
      for (const Way& way : program.best_ways(bytes))
        whole.add(way.seconds, [&] { return program.plan_of(way, ranks); });
    }
    for (const Pipeline& pipe : pipes) {
      double least = std::numeric_limits<double>::infinity();
      int segments = 0;
      int under_way = 1;
      for (int s = 2; s <= options.most_segments && s <= size; s *= 2) {
        for (const int most : {1, most_under_way}) {
          const int ways = segments_under_way(pipe.load, network, bytes / s, most);
          const double seconds = predict_seconds(pipe.load, network, bytes, s, ways);
          if (seconds >= least * worth_more_messages) continue;
          least = seconds;
          segments = s;
          under_way = ways;
        }
      }
      if (segments == 0) continue;
      pipelined.add(least, [&] {
        return programs[pipe.program].plan_of(pipe.way, ranks, {segments, under_way});
      });
    }
    choice.finalists = whole.take();
    for (Candidate& candidate : pipelined.take()) choice.finalists.push_back(std::move(candidate));
    std::ranges::stable_sort(choice.finalists, {}, &Candidate::seconds);
    if (options.keeps_order && type.reduces) {
      std::erase_if(choice.finalists,
                    [](const Candidate& c) { return !reduction_order(expand(c.plan)).keeps_ranks; });
    }
    if (choice.finalists.empty())
      throw InputError(fmt::format("no plan for {} of {} ranks: allow digits of more than {} members",
                                   type.name, ranks, options.most_radix));
    if (options.finalists > 0) {
      replay(choice.finalists, network, bytes);
      std::ranges::stable_sort(choice.finalists, {}, &Candidate::replayed_seconds);
      if (type.has_words && !options.is_restricted())
        refine(choice.finalists, network, bytes, options.most_segments);
    }
    if (!type.has_words || !std::has_single_bit(static_cast<unsigned>(ranks))) continue;
    const int digits = std::countr_zero(static_cast<unsigned>(ranks));
    choice.binomial_seconds = seconds_of_word(operation, ranks, hybrid1(digits, 0), network, size);
    choice.rabenseifner_seconds = seconds_of_word(operation, ranks, hybrid1(digits, digits), network, size);
  }
  return choices;
}

}  // namespace ayatori::collectives
