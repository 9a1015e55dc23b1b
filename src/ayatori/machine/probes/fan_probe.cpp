#include <algorithm>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 3;
constexpr std::int64_t bytes = std::int64_t{1} << 20;
constexpr std::int64_t quick_bytes = std::int64_t{1} << 18;

/// A rank, and all or many of those that meet it at one level: not only the nearest, so that all ways out of
/// it are used as they are in a collective operation.
struct Fan {
  int sender = 0;
  std::vector<int> partners;
};

Fan fan_at(const std::vector<Level>& levels, std::size_t level) {
  constexpr std::size_t most = 64;
  const auto& group_of = levels[level].structure.group_of;
  Fan fan;
  for (int partner = 0; partner < std::ssize(group_of); ++partner) {
    const bool is_below = level > 0 && levels[level - 1].structure.group_of[fan.sender] ==
                                           levels[level - 1].structure.group_of[partner];
    const bool meets = partner != fan.sender && !is_below && group_of[partner] == group_of[fan.sender];
    if (meets) fan.partners.push_back(partner);
  }
  const std::size_t found = fan.partners.size();
  for (std::size_t i = 0; found > most && i < most; ++i) fan.partners[i] = fan.partners[i * found / most];
  fan.partners.resize(std::min(found, most));
  return fan;
}

/// Seconds on this rank until every partner has answered; 0 on others.
double seconds_of(const comm::Comm& comm, const Fan& fan, std::span<std::byte> buffer, int repetitions) {
  const bool is_partner = std::ranges::find(fan.partners, comm.rank()) != fan.partners.end();
  const Stopwatch watch;
  for (int k = 0; k < repetitions; ++k) {
    if (is_partner) {
      comm.recv(buffer, fan.sender, tag);
      comm.send(std::span<const std::byte>(buffer.first(0)), fan.sender, tag);
    }
    if (comm.rank() != fan.sender) continue;
    std::vector<comm::Request> requests;
    for (const int partner : fan.partners) {
      requests.push_back(comm.irecv(buffer.first(0), partner, tag));
      requests.push_back(comm.isend(std::span<const std::byte>(buffer), partner, tag));
    }
    comm::wait_all(requests);
  }
  return comm.rank() == fan.sender ? watch.seconds() / repetitions : 0;
}

}  // namespace

void probe_fans(const ProbeContext& context, std::vector<Level>& levels) {
  const auto& comm = context.comm;
  std::vector<std::byte> buffer =
      comm::agree(comm, [&] { return std::vector<std::byte>(context.quick ? quick_bytes : bytes); });
  std::vector<Fan> fans;
  for (std::size_t l = 0; l < levels.size(); ++l) fans.push_back(fan_at(levels, l));
  const auto measure = [&](int level, int repetitions) {
    if (fans[level].partners.empty()) return 0.0;
    comm.barrier();
    return comm.allreduce(seconds_of(comm, fans[level], buffer, repetitions), comm::ReduceOp::max);
  };
  const auto seconds = measure_in_turns(static_cast<int>(levels.size()), context.limits(1), measure,
                                        [&] { return context.clock(); });
  for (std::size_t l = 0; l < levels.size(); ++l) {
    if (seconds[l].low > 0)
      levels[l].fan = {static_cast<int>(fans[l].partners.size()), std::ssize(buffer), seconds[l]};
  }
}

}  // namespace ayatori::machine
