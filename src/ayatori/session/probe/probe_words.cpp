#include "ayatori/session/probe/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ayatori/machine/model/diagnosis.hpp"

namespace ayatori::session {

namespace {

using machine::Estimate;
using machine::Profile;

std::string bytes_words(double bytes) {
  constexpr double step = 1024;
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < std::size(units)) {
    bytes /= step;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string seconds_words(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", 1e9 * seconds);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", 1e6 * seconds);
  return fmt::format("{:.3g} ms", 1e3 * seconds);
}

std::string rate_words(double bytes_per_second) {
  return fmt::format("{:.3g} GB/s", 1e-9 * bytes_per_second);
}

/// "(+-3 %)": half the width of the 95 % interval. What is less certain than by a half is known to a factor
/// only.
std::string noise_words(const Estimate& estimate) {
  const double percent = 50 * estimate.relative_width();
  return percent > 100 ? "(to a factor)" : fmt::format("(+-{:.2g} %)", percent);
}

std::string node_words(const Profile& profile) {
  const auto& node = profile.node;
  const std::string usable = profile.processing_units() < node.processing_units
                                 ? fmt::format(" ({} for this job)", profile.processing_units())
                                 : "";
  std::string text =
      fmt::format("{}: {}{} package{}, {} NUMA node{}, {} cores, {} processing units{}, {}\n", node.hostname,
                  node.processor.empty() ? "" : node.processor + ", ", node.packages,
                  node.packages == 1 ? "" : "s", node.numa_nodes, node.numa_nodes == 1 ? "" : "s", node.cores,
                  node.processing_units, usable, bytes_words(static_cast<double>(node.memory_bytes)));
  for (const auto& cache : node.caches) {
    text += fmt::format("           L{}: {}, shared by {}\n", cache.level,
                        bytes_words(static_cast<double>(cache.bytes)), cache.sharers);
  }
  return text;
}

std::string memory_words(const Profile& profile) {
  std::string text;
  for (const auto& f : profile.memory) {
    text += fmt::format("{:<10} {:<7} {:>9} a rank  {:>3} thread{} {:>11} {}\n", text.empty() ? "memory" : "",
                        f.kernel, bytes_words(static_cast<double>(f.bytes)), f.threads,
                        f.threads == 1 ? " " : "s", rate_words(f.bytes_per_second.median),
                        noise_words(f.bytes_per_second) +
                            (f.touched_by_one ? ", in memory that one thread wrote first" : ""));
  }
  for (const auto& f : profile.numa) {
    text += fmt::format("           read    NUMA node {} from NUMA node {}, {} thread{} {} {}\n",
                        f.memory_node, f.threads_node, f.threads, f.threads == 1 ? "" : "s",
                        rate_words(f.bytes_per_second.median), noise_words(f.bytes_per_second));
  }
  return text;
}

std::string barrier_words(const Profile& profile) {
  std::string text;
  for (const auto& f : profile.barriers) {
    text += fmt::format("{:<10} {:<7} {} threads {} {}\n", text.empty() ? "barriers" : "", f.kind, f.threads,
                        seconds_words(f.seconds.median), noise_words(f.seconds));
  }
  return text;
}

std::string model_words(const machine::TransferModel& model) {
  std::string text;
  for (const auto& piece : model.pieces) {
    if (!text.empty()) text += fmt::format("; from {} ", bytes_words(piece.from));
    text += seconds_words(piece.alpha) + " + x";
    text += piece.beta > 0 ? " / " + rate_words(1 / piece.beta) : " * 0";
  }
  return model.error > 0 ? text + fmt::format(" (fit to {:.2g} %)", 100 * model.error) : text;
}

std::string sharing_words(const machine::Level& level) {
  const auto sharing = machine::link_sharing(level);
  if (level.sharing_pairs < 2 || sharing.capacity == 0) return "";
  const int flows = level.sharing_pairs;
  return sharing.is_limited
             ? fmt::format("           flows share a link of {}: each of {} gets {}\n",
                           rate_words(sharing.capacity), flows, rate_words(sharing.bandwidth(flows)))
             : fmt::format("           up to {} flows at once do not slow each other down\n", flows);
}

std::string rate_of_short_messages(const machine::Level& level) {
  const auto* curve = level.curve("burst", 1);
  if (curve == nullptr || curve->points.empty()) return "";
  const auto& point = curve->points.front();
  return fmt::format("           {:.3g} million messages of {} bytes a second\n", 1e-6 / point.seconds.median,
                     point.bytes);
}

std::string level_words(const Profile& profile) {
  std::string text;
  for (std::size_t l = 0; l < profile.levels.size(); ++l) {
    const auto& level = profile.levels[l];
    text += fmt::format("level {:<4} {}, {} group{} of ranks: a short message takes {} ({} to {})\n", l + 1,
                        level.name, level.structure.groups, level.structure.groups == 1 ? "" : "s",
                        seconds_words(level.structure.typical_seconds),
                        seconds_words(level.structure.least_seconds),
                        seconds_words(level.structure.most_seconds));
    for (const auto& curve : level.curves) {
      text += fmt::format("           {:<12} {:>3} pair{} {}\n", curve.pattern, curve.pairs,
                          curve.pairs == 1 ? ": " : "s:", model_words(curve.model));
    }
    text += sharing_words(level) + rate_of_short_messages(level);
    for (const auto& f : level.overlap) {
      text += fmt::format(
          "           {} both ways under computing: {:.0f} % is hidden, {:.2f} of the bandwidth\n",
          bytes_words(static_cast<double>(f.bytes)), 100 * f.hidden(), f.effective_bandwidth());
    }
  }
  for (const auto& port : profile.ports) {
    text +=
        fmt::format("{:<10} {:<8}{} carried {}\n", &port == profile.ports.data() ? "ports" : "", port.name,
                    port.bytes_per_second > 0 ? ", " + rate_words(port.bytes_per_second) + "," : "",
                    bytes_words(static_cast<double>(port.moved_bytes)));
  }
  return text;
}

std::string reduction_words(const Profile& profile) {
  const auto& model = profile.reduction.model;
  return model.pieces.empty() ? "" : fmt::format("reduction  of doubles: {}\n", model_words(model));
}

std::string collective_words(const Profile& profile) {
  std::string text;
  for (const auto& f : profile.collectives) {
    text += fmt::format("{:<10} {:<14} {:>4} ranks {:>9} {:>10} {}\n", text.empty() ? "collective" : "",
                        f.operation, f.ranks, f.bytes == 0 ? "" : bytes_words(static_cast<double>(f.bytes)),
                        seconds_words(f.seconds.median), noise_words(f.seconds));
  }
  return text;
}

std::string device_words(const Profile& profile) {
  if (!profile.device) return "";
  const auto& d = *profile.device;
  return fmt::format(
      "device     {}: copies {} inside, {} from the host, {} back\n"
      "           a step takes {}, 8 bytes to the host {}, opening it {}\n",
      d.name, rate_words(d.copy), rate_words(d.in), rate_words(d.out), seconds_words(d.step),
      seconds_words(d.wait), seconds_words(d.open_seconds));
}

/// A figure under a name that says what it is, seconds or bytes per second.
struct NamedFigure {
  std::string name;
  double value;
  bool is_rate;
};

std::vector<NamedFigure> figures_of(const Profile& profile) {
  std::vector<NamedFigure> figures;
  for (const auto& f : profile.memory)
    figures.push_back(
        {fmt::format("{}, {}, {} threads{}", f.kernel, bytes_words(static_cast<double>(f.bytes)), f.threads,
                     f.touched_by_one ? ", touched by one" : ""),
         f.bytes_per_second.median, true});
  for (const auto& f : profile.barriers)
    figures.push_back({fmt::format("barrier of {}, {} threads", f.kind, f.threads), f.seconds.median, false});
  for (std::size_t l = 0; l < profile.levels.size(); ++l) {
    for (const auto& curve : profile.levels[l].curves) {
      const auto name = fmt::format("level {}, {}, {} pairs", l + 1, curve.pattern, curve.pairs);
      figures.push_back({name + ", latency", curve.model.latency(), false});
      figures.push_back({name + ", bandwidth", curve.model.bandwidth(), true});
    }
  }
  for (const auto& f : profile.collectives)
    figures.push_back(
        {fmt::format("{} of {}, {} ranks", f.operation, bytes_words(static_cast<double>(f.bytes)), f.ranks),
         f.seconds.median, false});
  if (const auto& d = profile.device) {
    figures.push_back({"device, copy inside", d->copy, true});
    figures.push_back({"device, from the host", d->in, true});
    figures.push_back({"device, back to the host", d->out, true});
    figures.push_back({"device, a step", d->step, false});
    figures.push_back({"device, 8 bytes to the host", d->wait, false});
    figures.push_back({"device, opening", d->open_seconds, false});
  }
  return figures;
}

}  // namespace

std::string summary(const Profile& profile) {
  std::string text = fmt::format("machine    {}", node_words(profile));
  text += fmt::format("job        {} rank{} x {} thread{} on {} node{}; {}\n", profile.ranks,
                      profile.ranks == 1 ? "" : "s", profile.threads, profile.threads == 1 ? "" : "s",
                      profile.nodes(), profile.nodes() == 1 ? "" : "s", profile.mpi);
  text += memory_words(profile) + barrier_words(profile) + level_words(profile) + reduction_words(profile) +
          collective_words(profile) + device_words(profile);
  for (const auto& what : profile.left_out) text += fmt::format("left out   {}\n", what);
  if (profile.source == "measured")
    text += fmt::format("measured   in {:.2f} s{}\n", profile.measuring_seconds,
                        profile.complete ? "" : "; interrupted, so not all of it");
  else
    text += fmt::format("source     {}\n", profile.source);
  const auto findings = machine::diagnose(profile);
  for (const auto& finding : findings) text += fmt::format("{:<10} {}\n", finding.kind, finding.text);
  if (findings.empty()) text += "diagnosis  nothing wrong was found\n";
  return text;
}

std::string comparison(const Profile& a, const std::string& name_of_a, const Profile& b,
                       const std::string& name_of_b) {
  const auto words = [](const NamedFigure& f) {
    return f.is_rate ? rate_words(f.value) : seconds_words(f.value);
  };
  std::string text =
      fmt::format("A: {}\nB: {}\n{:<45} {:>12} {:>12} {:>8}\n", name_of_a, name_of_b, "", "A", "B", "B / A");
  const auto others = figures_of(b);
  for (const auto& figure : figures_of(a)) {
    const auto other = std::ranges::find(others, figure.name, &NamedFigure::name);
    if (other == others.end()) continue;
    const std::string ratio = figure.value > 0 ? fmt::format("{:.2f}", other->value / figure.value) : "-";
    text += fmt::format("{:<45} {:>12} {:>12} {:>8}\n", figure.name, words(figure), words(*other), ratio);
  }
  return text;
}

}  // namespace ayatori::session
