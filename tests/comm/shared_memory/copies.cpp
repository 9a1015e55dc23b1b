// By hand, on two ranks of a quiet node: how long messages take through cells (two copies) and out of the
// sender's memory (one), in turns; the shortest of this many calls, and the ratio.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/collectives.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/shared_memory/node_channel.hpp"

namespace ayatori::comm {
namespace {

class Sums final : public ChannelUser {
 public:
  void poke() override {}
  void combine(const std::byte* in, std::byte* inout, std::int64_t count) override {
    reduce_local(in, inout, count, DataType::float64, ReduceOp::sum);
  }
};

/// What the two ranks do at once.
struct Way {
  const char* name;
  bool both_send;
  bool in_place;  ///< what comes lands where the rank sends from
  bool combines;
};
constexpr std::array ways{Way{"to one", false, false, false}, Way{"to each other", true, false, false},
                          Way{"in place", true, true, false}, Way{"reduced by one", false, false, true},
                          Way{"by each", true, false, true},  Way{"by each, in place", true, true, true}};

class Pair {
 public:
  Pair(const Comm& comm, NodeChannel& channel, std::int64_t bytes)
      : comm_(comm), channel_(channel), mine_(bytes / 8), theirs_(bytes / 8) {
    channel_.set_element(sizeof(double));
  }

  /// Collective. Seconds to the slower rank, of data that was just written.
  double time(const Way& way, Copies copies) {
    std::ranges::fill(mine_, 1.0);
    std::byte nothing{};
    const int peer = 1 - comm_.rank();
    channel_.begin_receive({&nothing, 1}, peer);
    channel_.begin_send({&nothing, 1}, peer);
    channel_.finish(user_);
    const Stopwatch watch;
    const auto place = std::as_writable_bytes(std::span(way.in_place ? mine_ : theirs_));
    if (way.both_send || comm_.rank() == 1)
      channel_.begin_receive(place, peer, {.combines = way.combines, .after_sends = way.in_place});
    if (way.both_send || comm_.rank() == 0)
      channel_.begin_send(std::as_bytes(std::span(mine_)), peer, copies);
    channel_.finish(user_);
    const double seconds = watch.seconds();
    return comm_.allreduce(seconds, ReduceOp::max);
  }

 private:
  const Comm& comm_;
  NodeChannel& channel_;
  std::vector<double> mine_;
  std::vector<double> theirs_;
  Sums user_;
};

int run(const Comm& comm, int calls) {
  const auto channel = comm.size() == 2 ? make_node_channel(comm, comm.split_by_node()) : nullptr;
  if (!channel || !channel->can_copy_once()) {
    if (comm.rank() == 0)
      fmt::print(stderr, "two ranks of a node that can read each other's memory, please\n");
    return 2;
  }
  constexpr std::int64_t longest = 4 << 20;
  for (const Way& way : ways) {
    if (comm.rank() == 0)
      fmt::print("{}\n{:>10}{:>12}{:>12}{:>8}\n", way.name, "bytes", "two, us", "one, us", "ratio");
    for (std::int64_t bytes = NodeChannel::least_single_copy; bytes <= longest; bytes *= 2) {
      Pair pair(comm, *channel, bytes);
      double two = pair.time(way, Copies::two);
      double one = pair.time(way, Copies::one);
      for (int call = 0; call < calls; ++call) {
        two = std::min(two, pair.time(way, Copies::two));
        one = std::min(one, pair.time(way, Copies::one));
      }
      if (comm.rank() == 0)
        fmt::print("{:>10}{:>12.2f}{:>12.2f}{:>8.2f}\n", bytes, 1e6 * two, 1e6 * one, two / one);
    }
  }
  return 0;
}

}  // namespace
}  // namespace ayatori::comm

int main(int argc, char** argv) {
  const ayatori::comm::Environment environment(argc, argv);
  return ayatori::comm::run(ayatori::comm::Comm::world(), argc > 1 ? std::atoi(argv[1]) : 200);
}
