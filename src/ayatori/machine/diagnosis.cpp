#include "ayatori/machine/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ayatori::machine {

namespace {

/// A longer message that gets less than this share of a shorter one's bandwidth has fallen off a cliff.
constexpr double cliff = 0.7;
/// All threads together should stream at least so many times as fast as one.
constexpr double little_gain = 1.2;
constexpr double much_slower = 3;
/// Two medians differ for certain where their intervals are apart; they matter from this ratio on.
constexpr double worth_telling = 1.1;
constexpr double noisy = 0.5;

using Findings = std::vector<Finding>;

bool certainly_longer(const Estimate& a, const Estimate& b) {
  return a.low > b.high && a.median > worth_telling * b.median;
}

void find_oversubscription(const Profile& profile, Findings& findings) {
  const auto here = std::ranges::count(profile.node_of_rank, 0);
  const auto threads = here * profile.threads;
  if (threads <= profile.node.processing_units) return;
  findings.push_back(
      {"oversubscribed",
       fmt::format("{} ranks of {} threads share {} processing units: they take turns, and every wait for "
                   "another one is a wait for the scheduler; use fewer",
                   here, profile.threads, profile.node.processing_units)});
}

void find_memory_limit(const Profile& profile, Findings& findings) {
  const auto of_triad = [](const MemoryFigure& f) { return f.kernel == "triad"; };
  const MemoryFigure* one = nullptr;
  const MemoryFigure* all = nullptr;
  for (const MemoryFigure& figure : profile.memory) {
    if (!of_triad(figure)) continue;
    const bool beyond = one == nullptr || figure.bytes > one->bytes;
    if (beyond || (figure.bytes == one->bytes && figure.threads < one->threads)) one = &figure;
    if (all == nullptr || figure.bytes > all->bytes ||
        (figure.bytes == all->bytes && figure.threads > all->threads))
      all = &figure;
  }
  if (one == nullptr || all->threads <= one->threads) return;
  const double gain = all->bytes_per_second.median / one->bytes_per_second.median;
  if (gain >= little_gain) return;
  findings.push_back(
      {"memory", fmt::format("{} threads stream {:.1f} GB/s, {} alone {:.1f}: {:.2f} times; products "
                             "with a matrix gain no more than that from threads",
                             all->threads, 1e-9 * all->bytes_per_second.median, one->threads,
                             1e-9 * one->bytes_per_second.median, gain)});
}

void find_slow_barriers(const Profile& profile, Findings& findings) {
  for (const BarrierFigure& openmp : profile.barriers) {
    if (openmp.kind != "openmp") continue;
    for (const BarrierFigure& flags : profile.barriers) {
      if (flags.kind != "flags" || flags.threads != openmp.threads) continue;
      if (openmp.seconds.median < much_slower * flags.seconds.median) continue;
      findings.push_back(
          {"threads", fmt::format("a barrier of {} threads takes {:.3g} us in OpenMP, {:.3g} with flags: set "
                                  "OMP_WAIT_POLICY=active, and bind threads (OMP_PROC_BIND=true)",
                                  openmp.threads, 1e6 * openmp.seconds.median, 1e6 * flags.seconds.median)});
    }
  }
}

void find_cliffs(const Profile& profile, Findings& findings) {
  for (const Level& level : profile.levels) {
    for (const TransferCurve& curve : level.curves) {
      double best = 0;
      std::int64_t best_bytes = 0;
      for (const TransferFigure& point : curve.points) {
        const double rate = static_cast<double>(point.bytes) / point.seconds.median;
        const double at_most = static_cast<double>(point.bytes) / point.seconds.low;
        if (at_most < cliff * best) {
          findings.push_back(
              {"cliff", fmt::format("{}, {}, {} at once: messages of {} bytes get {:.3g} GB/s, those of {} "
                                    "bytes {:.3g}: a cache or a protocol ends there",
                                    level.name, curve.pattern, curve.pairs, best_bytes, 1e-9 * best,
                                    point.bytes, 1e-9 * rate)});
          break;
        }
        if (rate > best) {
          best = rate;
          best_bytes = point.bytes;
        }
      }
    }
  }
}

/// A level between nodes should not be nearer than one inside a node.
void find_inverted_levels(const Profile& profile, Findings& findings) {
  const Level* between = nullptr;
  for (const Level& level : profile.levels) {
    if (level.name == "between nodes") {
      if (between == nullptr) between = &level;
    } else if (between != nullptr) {
      findings.push_back(
          {"levels",
           fmt::format("a short message inside a node takes {:.3g} us, between nodes {:.3g}: the MPI "
                       "does not use shared memory",
                       1e6 * level.structure.typical_seconds, 1e6 * between->structure.typical_seconds)});
      return;
    }
  }
}

const CollectiveFigure* find(const Profile& profile, const std::string& operation, std::int64_t bytes) {
  for (const CollectiveFigure& figure : profile.collectives) {
    if (figure.operation == operation && figure.bytes == bytes) return &figure;
  }
  return nullptr;
}

/// Operations that could be done by another one should not be slower (the guidelines of Traeff, Gropp &
/// Thakur 2010).
void find_guideline_violations(const Profile& profile, Findings& findings) {
  const auto compare = [&](const CollectiveFigure& slow, const CollectiveFigure* could, const char* why) {
    if (could == nullptr || !certainly_longer(slow.seconds, could->seconds)) return;
    findings.push_back(
        {"guideline", fmt::format("{} of {} bytes takes {:.3g} us, {} of {} bytes {:.3g}: {}", slow.operation,
                                  slow.bytes, 1e6 * slow.seconds.median, could->operation, could->bytes,
                                  1e6 * could->seconds.median, why)});
  };
  for (const CollectiveFigure& figure : profile.collectives) {
    if (figure.operation == "barrier")
      compare(figure, find(profile, "allreduce", 8), "a barrier can be made of an allreduce");
    if (figure.operation == "broadcast")
      compare(figure, find(profile, "allreduce", figure.bytes), "a broadcast can be made of an allreduce");
    if (figure.operation == "allgather")
      compare(figure, find(profile, "alltoall", figure.bytes), "an allgather can be made of an alltoall");
  }
}

void find_noise(const Profile& profile, Findings& findings) {
  int figures = 0;
  int wide = 0;
  const auto look = [&](const Estimate& estimate) {
    ++figures;
    wide += estimate.relative_width() > noisy ? 1 : 0;
  };
  for (const auto& figure : profile.memory) look(figure.bytes_per_second);
  for (const auto& figure : profile.barriers) look(figure.seconds);
  for (const auto& level : profile.levels) {
    for (const auto& curve : level.curves) {
      for (const auto& point : curve.points) look(point.seconds);
    }
  }
  for (const auto& figure : profile.collectives) look(figure.seconds);
  if (5 * wide <= figures) return;
  findings.push_back(
      {"noise", fmt::format("{} of {} figures are known to no better than {:.0f} %: something else "
                            "runs on this machine, or the time was too short",
                            wide, figures, 100 * noisy)});
}

}  // namespace

std::vector<Finding> diagnose(const Profile& profile) {
  Findings findings;
  find_oversubscription(profile, findings);
  find_noise(profile, findings);
  find_memory_limit(profile, findings);
  find_slow_barriers(profile, findings);
  find_inverted_levels(profile, findings);
  find_cliffs(profile, findings);
  find_guideline_violations(profile, findings);
  return findings;
}

}  // namespace ayatori::machine
