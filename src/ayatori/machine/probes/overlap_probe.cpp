#include <algorithm>
#include <array>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/machine/probes/level_pairs.hpp"
#include "ayatori/machine/probes/probes.hpp"

namespace ayatori::machine {

namespace {

constexpr int tag = 1;
constexpr std::array<std::int64_t, 3> sizes{64 << 10, 1 << 20, 4 << 20};
constexpr std::array<std::int64_t, 1> quick_sizes{256 << 10};

/// Arithmetic in registers that no optimizer can shorten: a chain of multiplications and additions.
double compute(std::int64_t steps, double start) {
  double x = start;
  for (std::int64_t i = 0; i < steps; ++i) x = x * 0.999999 + 1e-6;
  return x;
}

enum Part { transfer, computation, together };

struct Case {
  OverlapFigure* figure;
  Role role;
  Part part;
  std::int64_t* steps;  ///< steps of computation that take as long as the transfer
};

class Exchange {
 public:
  Exchange(const comm::Comm& comm, std::int64_t longest) : comm_(comm) {
    comm::agree(comm, [&] {
      out_.assign(longest, std::byte{1});
      in_.assign(longest, std::byte{0});
    });
  }

  /// Seconds on this rank, from when both are ready.
  double seconds(const Case& c, int repetitions) {
    if (!c.role.takes_part()) return 0;
    cross(c.role, 1, 0);
    const Stopwatch watch;
    const std::int64_t bytes = c.part == computation ? 0 : c.figure->bytes;
    const std::int64_t steps = c.part == transfer ? 0 : *c.steps;
    for (int k = 0; k < repetitions; ++k) {
      if (bytes > 0)
        cross(c.role, bytes, steps);
      else
        sink_ = compute(steps, sink_);
    }
    return watch.seconds() / repetitions;
  }

  /// Steps of computation that take `seconds` on this rank.
  std::int64_t steps_for(double seconds) {
    constexpr std::int64_t sample = 100000;
    double shortest = seconds;
    for (int k = 0; k < 5; ++k) {
      const Stopwatch watch;
      sink_ = compute(sample, sink_);
      shortest = k == 0 ? watch.seconds() : std::min(shortest, watch.seconds());
    }
    return shortest > 0 ? static_cast<std::int64_t>(static_cast<double>(sample) * seconds / shortest) : 0;
  }

 private:
  void cross(const Role& role, std::int64_t bytes, std::int64_t steps) {
    std::array requests{comm_.irecv(std::span(in_).first(bytes), role.partner, tag),
                        comm_.isend(std::span<const std::byte>(out_).first(bytes), role.partner, tag)};
    sink_ = compute(steps, sink_);
    comm::wait_all(requests);
  }

  const comm::Comm& comm_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  volatile double sink_ = 1;
};

}  // namespace

void probe_overlap(const ProbeContext& context, std::vector<Level>& levels) {
  const auto& comm = context.comm;
  if (levels.empty()) return;
  std::vector<InferredLevel> structures;
  for (const Level& level : levels) structures.push_back(level.structure);
  const std::span<const std::int64_t> all_sizes =
      context.quick ? std::span<const std::int64_t>(quick_sizes) : std::span<const std::int64_t>(sizes);
  Exchange exchange(comm, all_sizes.back());

  std::vector<Case> cases;
  std::vector<std::int64_t> steps(levels.size() * all_sizes.size());
  std::size_t next_steps = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const auto pairs = pairs_at(structures, l).pairs;
    if (pairs.empty()) continue;
    const auto* curve = levels[l].curve("both-ways", 1);
    levels[l].overlap.reserve(all_sizes.size());
    for (const auto bytes : all_sizes) {
      if (curve == nullptr || curve->points.empty() || bytes > curve->points.back().bytes) continue;
      auto& figure = levels[l].overlap.emplace_back(OverlapFigure{bytes, {}, {}, {}});
      const Role role = role_of(comm.rank(), std::span(pairs).first(1));
      auto& own_steps = steps[next_steps++];
      own_steps = exchange.steps_for(curve->model.seconds(static_cast<double>(bytes)));
      for (const Part part : {transfer, computation, together})
        cases.push_back({&figure, role, part, &own_steps});
    }
  }
  const auto measure = [&](int i, int repetitions) {
    comm.barrier();
    return comm.allreduce(exchange.seconds(cases[i], repetitions), comm::ReduceOp::max);
  };
  const auto seconds = measure_in_turns(static_cast<int>(cases.size()), context.limits(), measure,
                                        [&] { return context.clock(); });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    OverlapFigure& figure = *cases[i].figure;
    const std::array parts{&figure.transfer, &figure.compute, &figure.together};
    *parts[cases[i].part] = seconds[i];
  }
  for (Level& level : levels)
    std::erase_if(level.overlap, [](const OverlapFigure& f) { return !(f.together.low > 0); });
}

}  // namespace ayatori::machine
