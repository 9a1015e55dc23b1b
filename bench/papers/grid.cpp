#include "bench/papers/grid.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/machine/topology.hpp"
#include "bench/kernels/stream.hpp"

namespace ayatori::bench {

namespace {

/// 1, 2, 4, ... and `most`.
std::vector<int> doublings(int most) {
  std::vector<int> list;
  for (int n = 1; n < most; n *= 2) list.push_back(n);
  list.push_back(most);
  return list;
}

/// Ranks of the world, the first of every node before the second of any.
std::vector<int> ranks_by_turns(const std::vector<int>& nodes) {
  std::vector<int> turn(nodes.size());
  std::vector<int> seen(nodes.size(), 0);
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) turn[rank] = seen[nodes[rank]]++;
  std::vector<int> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int rank) { return turn[rank]; });
  return order;
}

/// The first ranks of an order work; the others wait for rank 0 to wake them, and leave their cores to them.
class Crew {
 public:
  /// Collective.
  Crew(const comm::Comm& world, const std::vector<int>& order, int working)
      : world_(world),
        idle_(order.begin() + working, order.end()),
        position_(static_cast<int>(std::ranges::find(order, world.rank()) - order.begin())),
        works_(position_ < working),
        team_(world.split(works_ ? 0 : 1, position_)) {}

  bool works() const { return works_; }
  const comm::Comm& team() const { return team_; }

  /// Collective over the world. Runs `work` on those that work; what it throws, agreed among them, is thrown
  /// everywhere.
  template <class Work>
  void run(const Work& work) const {
    comm::LocalOutcome outcome;
    if (works_) {
      try {
        work();
      } catch (const Error& error) {
        if (!error.agreed()) throw;
        outcome = {true, error.kind(), error.what()};
      }
      wake();
    } else {
      sleep();
    }
    comm::agree_on_outcome(world_, outcome);
  }

 private:
  static constexpr int tag = 0;

  void wake() const {
    if (world_.rank() != 0) return;
    const char call = 0;
    for (const int rank : idle_) world_.send(std::span(&call, 1), rank, tag);
  }
  void sleep() const {
    char call = 0;
    comm::Request request = world_.irecv(std::span(&call, 1), 0, tag);
    while (!request.test()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  const comm::Comm& world_;
  std::vector<int> idle_;
  int position_;
  bool works_;
  comm::Comm team_;
};

void check(const GridOptions& options, int size) {
  for (const int ranks : options.ranks) {
    if (ranks < 1 || ranks > size)
      throw InputError(fmt::format("{} ranks of a job of {}: start more by mpirun -n", ranks, size));
  }
  for (const int threads : options.threads) {
    if (threads < 1) throw InputError(fmt::format("{} threads per rank: at least 1 is needed", threads));
  }
}

}  // namespace

double GridSample::communication_share() const {
  double all = 0;
  double communication = 0;
  for (const GridPhase& phase : phases) {
    all += phase.seconds;
    if (phase.is_communication) communication += phase.seconds;
  }
  return all > 0 ? communication / all : 0;
}

std::vector<GridPoint> run_grid(const comm::Comm& world, const GridOptions& options,
                                const GridKernel& kernel) {
  constexpr int stream_repetitions = 5;
  comm::agree(world, [&] { check(options, world.size()); });
  const auto nodes = machine::find_nodes_of_ranks(world);
  const auto order = ranks_by_turns(nodes);
  std::vector<GridPoint> points;
  for (const int ranks : options.ranks.empty() ? doublings(world.size()) : options.ranks) {
    const Crew crew(world, order, ranks);
    const std::set<int> used(order.begin(), order.begin() + ranks);
    std::set<int> used_nodes;
    for (const int rank : used) used_nodes.insert(nodes[rank]);
    int most = 1;
    if (crew.works()) most = crew.team().allreduce(comm::threads_per_rank(crew.team()), comm::ReduceOp::min);
    most = world.broadcast(most, 0);
    for (const int threads : options.threads.empty() ? doublings(most) : options.threads) {
      crew.run([&] {
        comm::set_threads(crew.team(), threads);
        const auto rates = stream(crew.team(), options.stream_elements, stream_repetitions);
        points.push_back(
            {ranks, threads, static_cast<int>(used_nodes.size()), kernel(crew.team()), rates.triad.median});
      });
    }
  }
  return points;
}

Scaling scaling(std::span<const GridPoint> points, const GridPoint& point) {
  const GridPoint& least = *std::ranges::min_element(points, {}, &GridPoint::cores);
  const double speed_up = least.sample.seconds / point.sample.seconds;
  return {speed_up, speed_up * least.cores() / point.cores()};
}

}  // namespace ayatori::bench
