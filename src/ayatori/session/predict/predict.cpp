#include "ayatori/session/predict/predict.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/session/machine_profile.hpp"

namespace ayatori::session {

namespace {

const forecast::IterationWork& work_of(const PredictRequest& request) {
  return find_named(forecast::iteration_works(), request.method, "method");
}

/// A row of the table.
std::string line_of(const forecast::Scaling& scaling, const forecast::Forecast& forecast) {
  const auto percent = [&](forecast::Phase phase) { return 100 * forecast.share(phase); };
  using enum forecast::Phase;
  return fmt::format(
      "{:>7}{:>8}{:>12.2f}{:>9.2f}{:>6.2f}  |{:>8.1f}{:>8.1f}{:>9.1f}{:>9.1f}{:>9.1f}{:>7.1f}    | {}\n",
      forecast.shape.nodes, forecast.shape.ranks(), 1e6 * forecast.total(), scaling.speed_up(forecast),
      scaling.efficiency(forecast), percent(product), percent(vectors), percent(imbalance),
      percent(halo_latency), percent(halo_bandwidth), percent(reductions),
      forecast::type_of(forecast.bound()).name);
}

}  // namespace

PredictRun predict(const PatternSource& matrix, const machine::Profile& profile,
                   const PredictRequest& request) {
  check(request);
  const auto nodes = node_counts(request.nodes);
  const auto network =
      request.network.empty() ? nullptr : network::make_network(request.network, *nodes.rbegin());
  const auto bandwidth =
      request.memory_bandwidth > 0 ? std::optional(1e9 * request.memory_bandwidth) : std::nullopt;
  std::vector<forecast::JobMachine> machines;  // before the matrix is read, which may take long
  for (const int count : nodes)
    machines.emplace_back(profile, request.profile,
                          forecast::JobShape{count, request.ranks_per_node, request.threads}, bandwidth);
  const auto pattern = matrix.read();
  if (pattern.rows() < 1) throw InputError(fmt::format("{}: the matrix has no rows", matrix.name));
  return {request, matrix.name, pattern.rows(), pattern.nonzeros(),
          forecast::predict_scaling(
              pattern, find_named(forecast::partitions(), request.partition, "partition"), work_of(request),
              find_named(forecast::vector_preconditioners(), request.preconditioner, "preconditioner"),
              machines, network.get())};
}

std::optional<PredictRun> predict(const comm::Comm& world, const PatternSource& matrix,
                                  const PredictRequest& request) {
  comm::agree(world, [&] { check(request); });
  const auto machine = find_profile(world, request.profile);
  return comm::agree(world, [&]() -> std::optional<PredictRun> {
    if (world.rank() != 0) return std::nullopt;
    return predict(matrix, required(machine, "predict: "), request);
  });
}

std::string summary(const PredictRun& run) {
  const auto& request = run.request;
  std::string text =
      fmt::format("{}: {} rows, {} nonzeros; {}, {} with preconditioner {}; {} rank{} x {} thread{} a node\n",
                  run.matrix, run.rows, run.nonzeros, request.method, work_of(request).meaning,
                  request.preconditioner, request.ranks_per_node, request.ranks_per_node == 1 ? "" : "s",
                  request.threads, request.threads == 1 ? "" : "s");
  text += fmt::format("machine: {}{}\n", request.profile,
                      request.network.empty() ? "" : ", network " + request.network);
  for (const auto& assumption : run.scaling.assumptions) text += fmt::format("assumed: {}\n", assumption);
  text += fmt::format("{:>7}{:>8}{:>12}{:>9}{:>6}  |{:>8}{:>8}{:>9}{:>9}{:>9}{:>7}  % | bound by\n", "nodes",
                      "ranks", "us", "speed-up", "eff.", "product", "vectors", "imbal.", "halo lat",
                      "halo bw", "reduc.");
  for (const auto& forecast : run.scaling.forecasts) text += line_of(run.scaling, forecast);
  const auto& conclusion = run.scaling.conclusion;
  for (const auto& crossover : conclusion.crossovers) text += crossover + "\n";
  if (!conclusion.scaling.empty()) text += conclusion.scaling + "\n";
  return text + conclusion.sentence + "\n";
}

nlohmann::ordered_json to_json(const PredictRun& run) {
  const auto& request = run.request;
  nlohmann::ordered_json json{{"schema", "ayatori.predict/1"},
                              {"matrix", run.matrix},
                              {"rows", run.rows},
                              {"nonzeros", run.nonzeros},
                              {"method", request.method},
                              {"preconditioner", request.preconditioner},
                              {"partition", request.partition},
                              {"profile", request.profile},
                              {"network", nullptr},
                              {"ranks_per_node", request.ranks_per_node},
                              {"threads", request.threads}};
  if (!request.network.empty()) json["network"] = request.network;
  json.update(forecast::to_json(run.scaling));
  return json;
}

}  // namespace ayatori::session
