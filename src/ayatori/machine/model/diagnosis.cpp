#include "ayatori/machine/model/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace ayatori::machine {

namespace {

/// A longer message that gets less than this share of a shorter one's bandwidth has fallen off a cliff.
constexpr double cliff = 0.7;
/// All threads together should stream at least this many times as fast as one.
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
  if (threads <= profile.processing_units()) return;
  findings.push_back(
      {"oversubscribed",
       fmt::format(
           "{} rank{} of {} thread{} share{} {} processing unit{}: they take turns, and every wait for "
           "another one is a wait for the scheduler; use fewer",
           here, here == 1 ? "" : "s", profile.threads, profile.threads == 1 ? "" : "s", here == 1 ? "s" : "",
           profile.processing_units(), profile.processing_units() == 1 ? "" : "s")});
}

void find_memory_limit(const Profile& profile, Findings& findings) {
  const auto of_triad = [](const MemoryFigure& f) { return f.kernel == "triad" && !f.touched_by_one; };
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

/// Memory that lies where its threads are not.
void find_misplacement(const Profile& profile, Findings& findings) {
  for (const MemoryFigure& one : profile.memory) {
    if (!one.touched_by_one) continue;
    for (const MemoryFigure& all : profile.memory) {
      if (all.touched_by_one || all.kernel != one.kernel || all.threads != one.threads ||
          all.bytes < one.bytes)
        continue;
      if (all.bytes_per_second.low < little_gain * one.bytes_per_second.high) continue;
      findings.push_back(
          {"placement",
           fmt::format("{} threads stream {:.1f} GB/s from memory that each wrote first, {:.1f} from memory "
                       "that one of them wrote: let every thread initialize what it will use",
                       all.threads, 1e-9 * all.bytes_per_second.median, 1e-9 * one.bytes_per_second.median)});
    }
  }
}

void find_free_threads(const Profile& profile, Findings& findings) {
  if (profile.threads_bound || profile.threads < 2) return;
  findings.push_back(
      {"threads", fmt::format("the {} threads of a rank are not bound and may be moved among {} processing "
                              "units, away from their caches: set OMP_PROC_BIND=close and OMP_PLACES=cores",
                              profile.threads, profile.processing_units())});
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

/// Finds the deepest cliff of every level.
void find_cliffs(const Profile& profile, Findings& findings) {
  for (const Level& level : profile.levels) {
    double deepest = cliff;
    std::string text;
    for (const TransferCurve& curve : level.curves) {
      double best = 0;
      std::int64_t best_bytes = 0;
      for (const TransferFigure& point : curve.points) {
        const double rate = static_cast<double>(point.bytes) / point.seconds.median;
        const double at_most = static_cast<double>(point.bytes) / point.seconds.low;
        if (at_most < deepest * best) {
          deepest = at_most / best;
          text = fmt::format(
              "{}, {}, {} at once: messages of {} bytes get {:.3g} GB/s, those of {} bytes {:.3g}: "
              "a cache or a protocol ends there",
              level.name, curve.pattern, curve.pairs, best_bytes, 1e-9 * best, point.bytes, 1e-9 * rate);
        }
        if (rate > best) {
          best = rate;
          best_bytes = point.bytes;
        }
      }
    }
    if (!text.empty()) findings.push_back({"cliff", text});
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

/// Inside a node long messages should not be slower than between nodes (Nishida found that they were).
void find_slow_shared_memory(const Profile& profile, Findings& findings) {
  double inside = 0;
  double between = 0;
  for (const Level& level : profile.levels) {
    const TransferCurve* curve = level.curve("one-way", 1);
    if (curve == nullptr) continue;
    double& best = level.name == "between nodes" ? between : inside;
    best = std::max(best, curve->model.bandwidth());
  }
  if (inside == 0 || between < worth_telling * inside) return;
  findings.push_back(
      {"levels",
       fmt::format("long messages inside a node get {:.3g} GB/s, between nodes {:.3g}: the MPI copies "
                   "twice through shared memory; look for its single-copy mechanism (CMA, XPMEM)",
                   1e-9 * inside, 1e-9 * between)});
}

/// Ports of the kind of the busiest one that carried next to nothing.
void find_idle_ports(const Profile& profile, Findings& findings) {
  constexpr double next_to_nothing = 0.05;
  constexpr double similar = 2;
  const auto busiest = std::ranges::max_element(profile.ports, {}, &PortFigure::moved_bytes);
  if (busiest == profile.ports.end() || busiest->moved_bytes < (1 << 20)) return;
  for (const PortFigure& port : profile.ports) {
    const bool of_its_kind = similar * port.bytes_per_second >= busiest->bytes_per_second;
    if (!of_its_kind ||
        static_cast<double>(port.moved_bytes) > next_to_nothing * static_cast<double>(busiest->moved_bytes))
      continue;
    findings.push_back(
        {"port",
         fmt::format("port {} carried {:.3g} MB while {} carried {:.3g}: it lies idle; if it leads to "
                     "the same nodes, let the MPI use it too",
                     port.name, 1e-6 * static_cast<double>(port.moved_bytes), busiest->name,
                     1e-6 * static_cast<double>(busiest->moved_bytes))});
  }
}

/// Where nothing is hidden, non-blocking transfers only move when the rank is inside the MPI.
void find_missing_overlap(const Profile& profile, Findings& findings) {
  constexpr double hardly = 0.2;
  for (const Level& level : profile.levels) {
    if (level.overlap.empty()) continue;
    const OverlapFigure& figure = level.overlap.back();
    if (figure.hidden() > hardly) continue;
    findings.push_back(
        {"overlap",
         fmt::format(
             "{}, {} bytes both ways: {:.3g} ms, {:.3g} ms together with {:.3g} ms of computing: {:.0f} % "
             "is hidden, so the MPI makes no progress by itself; overlapping gains nothing",
             level.name, figure.bytes, 1e3 * figure.transfer.median, 1e3 * figure.together.median,
             1e3 * figure.compute.median, 100 * figure.hidden())});
  }
}

/// What an operation could be made of, and with how many bytes for each of its own.
struct Part {
  const char* operation;
  enum { same, per_rank, of_all } bytes;  ///< n, n / P or n P
};
struct Guideline {
  const char* operation;
  std::vector<Part> parts;
};

/// No operation should be slower than what it could be made of (Traeff, Gropp & Thakur 2010).
const std::vector<Guideline>& guidelines() {
  static const std::vector<Guideline> list{
      {"barrier", {{"allreduce", Part::same}}},
      {"broadcast", {{"allreduce", Part::same}}},
      {"broadcast", {{"scatter", Part::per_rank}, {"allgather", Part::per_rank}}},
      {"reduce", {{"allreduce", Part::same}}},
      {"reduce", {{"reduce-scatter", Part::per_rank}, {"gather", Part::per_rank}}},
      {"allreduce", {{"reduce", Part::same}, {"broadcast", Part::same}}},
      {"allreduce", {{"reduce-scatter", Part::per_rank}, {"allgather", Part::per_rank}}},
      {"reduce-scatter", {{"reduce", Part::of_all}, {"scatter", Part::same}}},
      {"gather", {{"allgather", Part::same}}},
      {"scatter", {{"broadcast", Part::of_all}}},
      {"allgather", {{"gather", Part::same}, {"broadcast", Part::of_all}}},
      {"allgather", {{"alltoall", Part::same}}}};
  return list;
}

/// The figure of this many bytes, or of the next more that were measured; nullptr if there is none.
const CollectiveFigure* at_least(const Profile& profile, const CollectiveFigure& like,
                                 std::string_view operation, std::int64_t bytes) {
  const CollectiveFigure* best = nullptr;
  for (const CollectiveFigure& figure : profile.collectives) {
    if (figure.operation == operation && figure.ranks == like.ranks && figure.bytes >= bytes &&
        (best == nullptr || figure.bytes < best->bytes))
      best = &figure;
  }
  return best;
}

struct Composition {
  Estimate seconds;
  std::string text;
};

std::optional<Composition> compose(const Profile& profile, const CollectiveFigure& figure,
                                   const std::vector<Part>& parts) {
  Composition sum;
  for (const Part& part : parts) {
    std::int64_t bytes = figure.bytes;
    if (part.bytes == Part::per_rank) bytes = (bytes + figure.ranks - 1) / figure.ranks;
    if (part.bytes == Part::of_all) bytes *= figure.ranks;
    const CollectiveFigure* other = at_least(profile, figure, part.operation, bytes);
    if (other == nullptr) return std::nullopt;
    sum.seconds.median += other->seconds.median;
    sum.seconds.high += other->seconds.high;
    sum.text +=
        fmt::format("{}{} of {} bytes", sum.text.empty() ? "" : " and ", part.operation, other->bytes);
  }
  return sum;
}

/// Finds the violation of each guideline that costs the most.
void find_guideline_violations(const Profile& profile, Findings& findings) {
  for (const Guideline& guideline : guidelines()) {
    double worst = 0;
    std::string text;
    for (const CollectiveFigure& figure : profile.collectives) {
      if (figure.operation != guideline.operation) continue;
      const auto could = compose(profile, figure, guideline.parts);
      if (!could || !certainly_longer(figure.seconds, could->seconds)) continue;
      const double ratio = figure.seconds.median / could->seconds.median;
      if (ratio < worst) continue;
      worst = ratio;
      text = fmt::format("{} of {} bytes over {} ranks takes {:.3g} us, and could be made of {}: {:.3g} us",
                         figure.operation, figure.bytes, figure.ranks, 1e6 * figure.seconds.median,
                         could->text, 1e6 * could->seconds.median);
    }
    if (worst > 0) findings.push_back({"guideline", text});
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
  find_misplacement(profile, findings);
  find_free_threads(profile, findings);
  find_slow_barriers(profile, findings);
  find_inverted_levels(profile, findings);
  find_slow_shared_memory(profile, findings);
  find_idle_ports(profile, findings);
  find_missing_overlap(profile, findings);
  find_cliffs(profile, findings);
  find_guideline_violations(profile, findings);
  return findings;
}

}  // namespace ayatori::machine
