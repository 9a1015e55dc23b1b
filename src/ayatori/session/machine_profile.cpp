#include "ayatori/session/machine_profile.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/gpu/device.hpp"
#include "ayatori/session/probe/measure_machine.hpp"

namespace ayatori::session {

namespace {

/// Collective. The same profile on all ranks; rank 0 has `text`, empty for none.
std::shared_ptr<const machine::Profile> share(const comm::Comm& world, const std::string& text) {
  const auto everywhere = world.broadcast(text, 0);
  return everywhere.empty() ? nullptr
                            : std::make_shared<const machine::Profile>(
                                  machine::profile_from_json(everywhere, "the machine's profile"));
}

/// The profile kept on this machine as JSON, if it serves a job of this many ranks; else empty.
std::string kept_profile(const std::string& path, int ranks) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return "";
  try {
    const auto profile = machine::load_profile(path);
    return ranks > 1 && profile.levels.empty() ? "" : machine::to_json(profile);
  } catch (const InputError&) {
    return "";  // profile of another version, or torn: made anew; or no profile at all: see
                // make_default_profile_path()
  }
}

/// Keeps the profile; says why not where that is impossible.
std::string keep(const machine::Profile& profile) {
  try {
    const auto path = make_default_profile_path();
    write_file(path, machine::to_json(profile));
    return "kept in " + path;
  } catch (const Error& error) {
    return fmt::format("not kept: {}", error.what());
  }
}

/// Collective. Where the ranks' threads take turns, all figures would be those of the scheduler; where others
/// keep the node busy, nobody knows how long it takes.
FoundProfile measure_now(const comm::Comm& world, const machine::MeasureOptions& options) {
  const Stopwatch watch;
  const auto load = comm::busiest_node(world);
  if (load.is_oversubscribed())
    return {nullptr, fmt::format("none: the machine was not measured: {} take turns", load.words())};
  try {
    auto profile = std::make_shared<const machine::Profile>(measure_machine(world, options));
    if (!profile->complete)
      return {nullptr,
              fmt::format("none: measuring the machine was given up after {:.1f} s: the node is busy",
                          profile->measuring_seconds),
              watch.seconds()};
    const std::string where = world.rank() == 0 ? keep(*profile) : "";
    const double seconds = profile->measuring_seconds;
    return {std::move(profile),
            fmt::format("measured just now in {:.1f} s, {}", seconds, world.broadcast(where, 0)),
            watch.seconds()};
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    return {nullptr, fmt::format("none: {}", error.what())};
  }
}

/// Collective. What a solve asks of a profile is what messages cost, and a GPU.
bool solves_need_it(const comm::Comm& world) {
  return world.any(world.size() > 1 || (world.rank() == 0 && gpu::device_type("cuda").why_not().empty()));
}

}  // namespace

std::string make_default_profile_path() {
  std::string path = machine::default_profile_path();
  if (path.empty())
    throw EnvironmentError("there is no HOME to keep the profile in: name a file with --output");
  if (const auto why = machine::why_not_replaced(path); !why.empty())
    throw InputError(
        fmt::format("{}: {}, and stays as it is: AYATORI_PROFILE wants a file of its own", path, why));
  std::error_code error;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error)
    throw EnvironmentError(fmt::format("{}: the folder cannot be made: name a file with --output", path));
  return path;
}

const machine::Profile& required(const FoundProfile& found, const std::string& who) {
  if (!found.profile)
    throw InputError(
        fmt::format("{}there is no profile of this machine{}: give --profile (see ayatori probe)", who,
                    reason_of(found)));
  return *found.profile;
}

std::string reason_of(const FoundProfile& found) {
  return found.description.empty() ? "" : fmt::format(" ({})", found.description);
}

FoundProfile find_profile(const comm::Comm& world, const std::string& word, Measuring measuring) {
  const std::string kept = world.broadcast(machine::default_profile_path(), 0);
  const bool is_auto = word == "auto";
  if (word == "none" || (is_auto && kept == "none")) return {};
  const auto text = comm::agree(world, [&] {
    if (world.rank() != 0) return std::string();
    return is_auto ? kept_profile(kept, world.size()) : machine::to_json(machine::load_profile(word));
  });
  if (auto profile = share(world, text)) return {std::move(profile), is_auto ? kept : word};
  if (measuring == Measuring::whenever_missing) return measure_now(world, machine::quick_measuring);
  if (solves_need_it(world)) return measure_now(world, machine::brief_measuring);
  return {};
}

}  // namespace ayatori::session
