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

double share_of(const Schedule& schedule, const Step& step) {
  int count = 0;
  for (const ChunkRange& range : step.chunks) count += range.count();
  return static_cast<double>(count) / schedule.chunks;
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

std::vector<std::vector<StageLoad>> loads_of(const Schedule& schedule, const machine::Profile& profile) {
  if (profile.ranks < schedule.ranks)
    throw InputError(fmt::format("the profile is one of {} ranks, and the schedule is for {}", profile.ranks,
                                 schedule.ranks));
  std::vector<std::vector<StageLoad>> stages(schedule.stages);
  struct Gathered {
    int messages = 0;
    bool both_ways = false;
    double share = 0;
    double reduced = 0;
  };
  std::vector<std::map<std::size_t, Gathered>> gathered(schedule.stages);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& steps = schedule.steps[rank];
    for (const Step& step : steps) {
      Gathered& g = gathered[step.stage][level_of(profile, rank, step.peer)];
      const double share = share_of(schedule, step);
      if (step.kind == Step::Kind::send) {
        ++g.messages;
        g.share = std::max(g.share, share);
        g.both_ways =
            g.both_ways || std::ranges::any_of(steps, [&](const Step& other) {
              return other.stage == step.stage && other.peer == step.peer && other.kind != Step::Kind::send;
            });
      }
      if (step.kind == Step::Kind::reduce) g.reduced = std::max(g.reduced, share);
    }
  }
  for (int stage = 0; stage < schedule.stages; ++stage) {
    for (const auto& [level, g] : gathered[stage]) {
      const int alone = g.both_ways ? 2 : 1;
      stages[stage].push_back({level, g.both_ways, g.messages > alone, g.share, g.reduced});
    }
  }
  return stages;
}

double predict_seconds(const std::vector<std::vector<StageLoad>>& loads, const machine::Profile& profile,
                       double bytes) {
  double total = 0;
  for (const auto& stage : loads) {
    double slowest = 0;
    for (const StageLoad& load : stage) {
      const auto& model = model_for(profile.levels[load.level], load.both_ways, load.many);
      const double reducing = load.reduced > 0 ? profile.reduction.model.seconds(load.reduced * bytes) : 0;
      slowest = std::max(slowest, model.seconds(load.share * bytes) + reducing);
    }
    total += slowest;
  }
  return total;
}

}  // namespace ayatori::collectives
