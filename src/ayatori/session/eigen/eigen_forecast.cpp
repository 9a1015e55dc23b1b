#include "ayatori/session/eigen/eigen_forecast.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/eigen/dense/blas.hpp"
#include "ayatori/eigen/reduction/choose_reduction.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/session/machine_profile.hpp"

namespace ayatori::session {

namespace {

/// Seconds of collective operations on all groups of a scope at once.
class CollectivePrices {
 public:
  CollectivePrices(const forecast::JobMachine& machine, eigen::GridShape grid)
      : machine_(machine), grid_(grid) {}

  double seconds(std::string_view operation, eigen::Scope scope, double bytes) const;

 private:
  int size(eigen::Scope scope) const;
  int member(eigen::Scope scope, int group, int index) const;
  template <class Receiver>
  double stage(eigen::Scope scope, double bytes, Receiver&& receiver) const;
  double doubling(eigen::Scope scope, double first, double factor) const;
  double tree(eigen::Scope scope, double bytes) const;

  const forecast::JobMachine& machine_;
  eigen::GridShape grid_;
};

int CollectivePrices::size(eigen::Scope scope) const {
  const int ranks = grid_.rows * grid_.columns;
  return scope == eigen::Scope::all ? ranks : scope == eigen::Scope::along_row ? grid_.columns : grid_.rows;
}

int CollectivePrices::member(eigen::Scope scope, int group, int index) const {
  if (scope == eigen::Scope::all) return index;
  return scope == eigen::Scope::along_row ? group * grid_.columns + index : index * grid_.columns + group;
}

/// Messages of this many bytes from every member to receiver(member), unless that is nobody.
template <class Receiver>
double CollectivePrices::stage(eigen::Scope scope, double bytes, Receiver&& receiver) const {
  const int members = size(scope);
  const int groups = grid_.rows * grid_.columns / members;
  std::vector<mapping::PairVolume> messages;
  for (int group = 0; group < groups; ++group) {
    for (int i = 0; i < members; ++i) {
      const std::optional<int> to = receiver(i);
      if (to) {
        messages.push_back(
            {member(scope, group, i), member(scope, group, *to), 1, static_cast<std::int64_t>(bytes)});
      }
    }
  }
  return machine_.exchange(messages).total();
}

/// Stages at distances 1, 2, 4, ... of `first` bytes, then `factor` times as many in each.
double CollectivePrices::doubling(eigen::Scope scope, double first, double factor) const {
  const int members = size(scope);
  double seconds = 0;
  double bytes = first;
  for (int distance = 1; distance < members; distance *= 2, bytes *= factor)
    seconds += stage(scope, bytes, [&](int i) { return std::optional((i + distance) % members); });
  return seconds;
}

double CollectivePrices::tree(eigen::Scope scope, double bytes) const {
  const int members = size(scope);
  double seconds = 0;
  for (int distance = 1; distance < members; distance *= 2) {
    seconds += stage(scope, bytes, [&](int i) {
      return i < distance && i + distance < members ? std::optional(i + distance) : std::nullopt;
    });
  }
  return seconds;
}

double CollectivePrices::seconds(std::string_view operation, eigen::Scope scope, double bytes) const {
  const int members = size(scope);
  if (operation == "broadcast") {  // a tree, or scattered and gathered
    const double part = bytes / members;
    return std::min(tree(scope, bytes), tree(scope, part) + doubling(scope, part, 2));
  }
  if (operation == "allreduce") {  // recursive doubling, or halving and doubling
    return std::min(doubling(scope, bytes, 1), 2 * doubling(scope, bytes / members, 2));
  }
  if (operation == "message") {  // to a neighbour, all at once
    return stage(scope, bytes, [&](int i) { return i + 1 < members ? std::optional(i + 1) : std::nullopt; });
  }
  if (operation == "allgather" || operation == "allgatherv") return doubling(scope, bytes, 2);
  // Everyone sends everyone its share in alltoall and alltoallv.
  double all = 0;
  for (int distance = 1; distance < members; ++distance)
    all += stage(scope, bytes / members, [&](int i) { return std::optional((i + distance) % members); });
  return all;
}

/// Operations in a second of a product of 256 x inner by inner x 256.
double measure_product_rate(std::int64_t inner) {
  constexpr std::int64_t order = 256;
  constexpr double enough = 0.1;  // seconds
  const std::vector<double> a(order * inner, 1.0);
  std::vector<double> c(order * order);
  const auto multiply = [&] {
    eigen::multiply(1, eigen::Op::none, {a.data(), order, inner, order}, eigen::Op::transpose,
                    {a.data(), order, inner, order}, 0, {c.data(), order, order, order});
  };
  multiply();
  double best = 0;  // what disturbs only makes it slower
  double spent = 0;
  while (spent < enough) {
    const Stopwatch watch;
    multiply();
    const double seconds = std::max(watch.seconds(), 1e-6);  // also where computing takes no time
    spent += seconds;
    best = std::max(best, 2.0 * order * order * static_cast<double>(inner) / seconds);
  }
  return best;
}

}  // namespace

double PhaseForecast::total() const {
  return std::accumulate(messages.begin(), messages.end(), computing,
                         [](double sum, const auto& operation) { return sum + operation.second; });
}

double EigenForecast::total() const {
  return std::accumulate(phases.begin(), phases.end(), 0.0,
                         [](double sum, const PhaseForecast& phase) { return sum + phase.total(); });
}

ThreadRates thread_rates(double gflops) {
  constexpr double of_chase = 0.25;
  if (gflops > 0)
    return {[=](std::int64_t) { return 1e9 * gflops; },
            [=](std::int64_t) { return of_chase * 1e9 * gflops; }};
  const auto remembered = [](double (*measure)(std::int64_t)) {
    const auto measured = std::make_shared<std::map<std::int64_t, double>>();
    return [=](std::int64_t size) {
      const auto [entry, is_new] = measured->try_emplace(size, 0.0);
      if (is_new) entry->second = measure(size);
      return entry->second;
    };
  };
  return {remembered(measure_product_rate), remembered(eigen::measure_chase_rate)};
}

EigenForecast forecast_eigen(std::int64_t n, eigen::GridShape grid, const eigen::EigenOptions& options,
                             eigen::ProblemKind kind, const forecast::JobMachine& machine,
                             const ThreadRates& rates) {
  EigenForecast result{machine.shape(), grid, options.block, options.reduction, {}};
  const CollectivePrices prices(machine, grid);
  const double share = 8.0 * static_cast<double>(n) * static_cast<double>(n) / machine.shape().ranks();
  for (const auto& work : eigen::work_of(n, grid, 0, options, kind)) {
    constexpr std::int64_t wide = 256;  // a merge multiplies by whole problems
    const bool in_floats = options.precision == eigen::Precision::float32 && work.phase != "reduction" &&
                           work.phase != "back_substitution";
    const double faster = in_floats ? 2 : 1;  // twice as many in a register
    const double rate = faster * rates.products(work.phase == "tridiagonal_solve" ? wide : options.block);
    PhaseForecast phase{work.phase, work.product_flops / (rate * machine.shape().threads), {}};
    phase.computing += work.streamed_bytes / machine.memory_rate(share);
    if (work.cached_flops > 0)
      phase.computing +=
          work.cached_flops / faster / rates.chase(std::clamp<std::int64_t>(options.block, 2, n));
    for (const auto& traffic : work.traffic) {
      const auto calls = static_cast<double>(traffic.calls);
      const double bytes = static_cast<double>(traffic.bytes) / calls;
      phase.messages[std::string(traffic.operation)] +=
          calls * prices.seconds(traffic.operation, traffic.scope, bytes);
    }
    result.phases.push_back(std::move(phase));
  }
  return result;
}

EigenForecast better_reduction(std::int64_t n, eigen::GridShape grid, const eigen::EigenOptions& options,
                               eigen::ProblemKind kind, const forecast::JobMachine& machine,
                               const ThreadRates& rates) {
  if (options.reduction != "auto") return forecast_eigen(n, grid, options, kind, machine, rates);
  std::optional<EigenForecast> best;
  for (const eigen::Reduction& reduction : eigen::reductions()) {
    if (reduction.one_rank_only && machine.shape().ranks() > 1) continue;
    eigen::EigenOptions tried = options;
    tried.reduction = reduction.name;
    auto found = forecast_eigen(n, grid, tried, kind, machine, rates);
    if (!best || found.total() < best->total()) best = std::move(found);
  }
  return *std::move(best);
}

EigenForecast best_forecast(std::int64_t n, const eigen::EigenOptions& options, bool keep_block,
                            eigen::ProblemKind kind, const forecast::JobMachine& machine,
                            const ThreadRates& rates) {
  const std::vector<std::int64_t> blocks =
      keep_block ? std::vector<std::int64_t>{options.block} : std::vector<std::int64_t>{16, 32, 64};
  const int ranks = machine.shape().ranks();
  std::optional<EigenForecast> best;
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows != 0) continue;
    for (const std::int64_t block : blocks) {
      eigen::EigenOptions tried = options;
      tried.block = block;
      auto found = better_reduction(n, {rows, ranks / rows}, tried, kind, machine, rates);
      if (!best || found.total() < best->total()) best = std::move(found);
    }
  }
  return *std::move(best);
}

EigenQuestion question_of(const EigenRequest& request, std::int64_t n, eigen::ProblemKind kind, int threads) {
  return {
      n,      eigen::parse_grid_shape(request.grid), dense_options(request), request.block.has_value(), kind,
      threads};
}

forecast::JobMachine job_machine(const machine::Profile& profile, const EigenRequest& request, int ranks,
                                 int ranks_per_node, int threads) {
  const auto memory =
      request.memory_bandwidth > 0 ? std::optional(1e9 * request.memory_bandwidth) : std::nullopt;
  return {profile, request.profile, forecast::JobShape{ranks / ranks_per_node, ranks_per_node, threads},
          memory};
}

EigenForecast forecast_for(const EigenQuestion& question, const forecast::JobMachine& job,
                           const ThreadRates& rates) {
  if (question.grid.rows == 0)
    return best_forecast(question.n, question.options, question.keep_block, question.kind, job, rates);
  return better_reduction(question.n, question.grid, question.options, question.kind, job, rates);
}

std::optional<GridChoice> choose_grid(const comm::Comm& world, const EigenQuestion& question,
                                      const EigenRequest& request) {
  const auto found = find_profile(world, request.profile);
  if (!found.profile) return {};
  const int on_node = world.allreduce(world.split_by_node().size(), comm::ReduceOp::max);
  const int per_node = world.size() % on_node == 0 ? on_node : 1;
  GridChoice choice = comm::agree(world, [&]() -> GridChoice {
    if (world.rank() != 0) return {};
    const auto best =
        forecast_for(question, job_machine(*found.profile, request, world.size(), per_node, question.threads),
                     thread_rates(request.gflops));
    return {best.grid, best.block, best.reduction};
  });
  choice.grid = world.broadcast(choice.grid, 0);
  choice.block = world.broadcast(choice.block, 0);
  choice.reduction = world.broadcast(choice.reduction, 0);
  return choice;
}

}  // namespace ayatori::session
