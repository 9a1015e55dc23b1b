#include <algorithm>
#include <ctime>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/level_pairs.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 2;
constexpr std::int64_t longest = std::int64_t{1} << 22;

/// Not a wait that looks at the clock: simulated time stands still in that.
void sleep(double seconds) {
  const timespec pause{0, static_cast<long>(1e9 * seconds)};
  nanosleep(&pause, nullptr);
}

/// Collective. Whether a send to a rank that is late returns before that one is there: in most of three
/// tries.
bool is_eager(const comm::Comm& comm, const Role& role, std::span<std::byte> buffer, double late) {
  constexpr int tries = 3;
  int before = 0;
  for (int k = 0; role.takes_part() && k < tries; ++k) {
    if (role.is_first) {
      comm.recv(buffer.first(0), role.partner, tag);
      const Stopwatch watch;
      comm.send(std::span<const std::byte>(buffer), role.partner, tag);
      before += watch.seconds() < late / 2 ? 1 : 0;
    } else {
      comm.send(std::span<const std::byte>(buffer.first(0)), role.partner, tag);
      sleep(late);
      comm.recv(buffer, role.partner, tag);
    }
  }
  return comm.any(2 * before > tries);
}

}  // namespace

void probe_eager_sends(const ProbeContext& context, std::vector<Level>& levels) {
  const auto& comm = context.comm;
  std::vector<InferredLevel> structures;
  for (const Level& level : levels) structures.push_back(level.structure);
  std::vector<std::byte> buffer = comm::agree(comm, [] { return std::vector<std::byte>(longest); });
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto pairs = pairs_at(structures, l).pairs;
    const auto* curve = levels[l].curve("one-way", 1);
    if (pairs.empty() || curve == nullptr) continue;
    const Role role = role_of(comm.rank(), std::span(pairs).first(1));
    const auto eager = [&](std::int64_t bytes) {
      constexpr double least_late = 2e-3;
      constexpr double most_late = 0.5;
      const double late =
          std::clamp(10 * curve->model.seconds(static_cast<double>(bytes)), least_late, most_late);
      return is_eager(comm, role, std::span(buffer).first(bytes), late);
    };
    std::int64_t known = 0;
    std::int64_t next = 8;
    for (; next <= longest; next *= 2) {
      if (comm.any(context.stopped && context.stopped())) return;
      if (!eager(next)) break;
      known = next;
    }
    // The limit is seldom a power of two less headers: to within 64th parts.
    for (std::int64_t step = known / 2; next <= longest && step >= std::max<std::int64_t>(known / 64, 1);
         step /= 2) {
      if (comm.any(context.stopped && context.stopped())) return;
      if (eager(known + step)) known += step;
    }
    levels[l].eager_bytes = known;
  }
}

}  // namespace ayatori::machine
