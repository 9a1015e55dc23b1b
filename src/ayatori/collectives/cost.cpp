#include "ayatori/collectives/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ayatori/base/error.hpp"

namespace ayatori::collectives {

namespace {

std::size_t level_of(const machine::Profile& profile, int a, int b) {
  for (std::size_t l = 0; l < profile.levels.size(); ++l) {
    const auto& group_of = profile.levels[l].structure.group_of;
    if (group_of[a] == group_of[b]) return l;
  }
  throw InputError(fmt::format("the profile has no level at which ranks {} and {} meet", a, b));
}

/// The curve that was measured under conditions like these; the nearest where there is none.
const machine::TransferModel& model_for(const machine::Level& level, bool both_ways, bool many) {
  const machine::TransferCurve* best = nullptr;
  int best_score = -1;
  for (const auto& curve : level.curves) {
    if ((curve.pattern != "one-way" && curve.pattern != "both-ways") || curve.model.pieces.empty()) continue;
    const int score =
        2 * ((curve.pattern == "both-ways") == both_ways ? 1 : 0) + ((curve.pairs > 1) == many ? 1 : 0);
    const bool is_busier = best != nullptr && score == best_score && many && curve.pairs > best->pairs;
    if (score > best_score || is_busier) {
      best = &curve;
      best_score = score;
    }
  }
  if (best == nullptr) throw InputError(fmt::format("the profile has no transfer times {}", level.name));
  return best->model;
}

}  // namespace

std::vector<StageLoad> loads_of(const Schedule& schedule, const machine::Profile& profile) {
  if (profile.ranks < schedule.ranks)
    throw InputError(fmt::format("the profile is one of {} ranks, and the schedule is for {}", profile.ranks,
                                 schedule.ranks));
  struct OfRank {
    int sent = 0;
    int arrived = 0;
    double reduced = 0;
  };
  struct Gathered {
    int senders = 0;
    LevelLoad load{};
  };
  std::vector<std::map<std::size_t, Gathered>> gathered(schedule.stages);
  std::vector<StageLoad> stages(schedule.stages);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& steps = schedule.steps[rank];
    for (auto step = steps.begin(); step != steps.end();) {
      std::map<std::size_t, OfRank> mine;  // by level
      const int stage = step->stage;
      for (; step != steps.end() && step->stage == stage; ++step) {
        const std::size_t level = level_of(profile, rank, step->peer);
        const double share = static_cast<double>(chunk_count(step->chunks)) / schedule.chunks;
        OfRank& of_rank = mine[level];
        if (step->kind == Step::Kind::send) {
          ++of_rank.sent;
          auto& load = gathered[stage][level].load;
          load.share = std::max(load.share, share);
        } else {
          ++of_rank.arrived;
        }
        if (step->kind == Step::Kind::reduce) of_rank.reduced += share;
      }
      const auto sends = [](const auto& entry) { return entry.second.sent > 0; };
      if (std::ranges::count_if(mine, sends) > 1) stages[stage].by_same_rank = true;
      for (const auto& [level, of_rank] : mine) {
        Gathered& g = gathered[stage][level];
        g.senders += of_rank.sent > 0 ? 1 : 0;
        g.load.both_ways = g.load.both_ways || (of_rank.sent > 0 && of_rank.arrived > 0);
        g.load.messages = std::max(g.load.messages, of_rank.sent);
        g.load.reduced = std::max(g.load.reduced, of_rank.reduced);
      }
    }
  }
  for (int stage = 0; stage < schedule.stages; ++stage) {
    for (auto& [level, g] : gathered[stage]) {
      g.load.level = level;
      g.load.many = g.senders > (g.load.both_ways ? 2 : 1);
      stages[stage].levels.push_back(g.load);
    }
  }
  return stages;
}

double predict_seconds(const std::vector<StageLoad>& loads, const machine::Profile& profile, double bytes) {
  double total = 0;
  for (const StageLoad& stage : loads) {
    double slowest = 0;
    double all_after_first = 0;
    double least_after_first = 0;
    for (const LevelLoad& load : stage.levels) {
      const machine::Level& level = profile.levels[load.level];
      const auto& model = model_for(level, load.both_ways, load.many);
      const auto* burst = level.curve("burst", 1);
      const double gap =
          burst == nullptr || burst->model.pieces.empty() ? model.latency() : burst->model.latency();
      const double first = model.seconds(load.share * bytes);
      const double further = std::max(gap, first - model.latency());
      const double reducing = load.reduced > 0 ? profile.reduction.model.seconds(load.reduced * bytes) : 0;
      slowest = std::max(slowest, first + (load.messages - 1) * further + reducing);
      all_after_first += load.messages * further;
      least_after_first = std::max(least_after_first, first - further);
    }
    total += stage.by_same_rank ? std::max(slowest, least_after_first + all_after_first) : slowest;
  }
  return total;
}

}  // namespace ayatori::collectives
