#include "ayatori/forecast/scaling.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ayatori::forecast {

namespace {

using nlohmann::ordered_json;

ordered_json side_json(const Forecast& forecast) {
  const auto side = forecast.network_side();
  if (!side) return nullptr;
  return *side == Resource::bandwidth ? "bandwidth" : "latency";
}

ordered_json point_json(const Scaling& scaling, const Forecast& forecast) {
  ordered_json phases;
  for (int phase = 0; phase < phase_count; ++phase)
    phases[std::string(type_of(static_cast<Phase>(phase)).name)] = forecast.seconds[phase];
  return {{"nodes", forecast.shape.nodes},
          {"ranks", forecast.shape.ranks()},
          {"seconds", forecast.total()},
          {"speed_up", scaling.speed_up(forecast)},
          {"efficiency", scaling.efficiency(forecast)},
          {"phases", std::move(phases)},
          {"bound", type_of(forecast.bound()).name},
          {"network_bound", side_json(forecast)},
          {"gains",
           {{"bandwidth", forecast.gain(Resource::bandwidth)},
            {"latency", forecast.gain(Resource::latency)},
            {"memory", forecast.gain(Resource::memory)}}},
          {"halo_messages", forecast.messages},
          {"halo_bytes", forecast.bytes},
          {"working_set_bytes", forecast.working_set},
          {"memory_bytes_per_second", forecast.rate}};
}

}  // namespace

Scaling predict_scaling(const Pattern& pattern, const Partition& partition, const IterationWork& work,
                        const VectorPreconditioner& preconditioner, std::span<const JobMachine> machines,
                        const network::Network* network) {
  Scaling scaling;
  for (const auto& machine : machines) {
    const int ranks = machine.shape().ranks();
    const auto matrix = spread(pattern, partition.parts(pattern, ranks), ranks);
    scaling.forecasts.push_back(predict(matrix, work, preconditioner, machine, network));
    for (const auto& assumption : machine.assumptions()) {
      if (std::ranges::find(scaling.assumptions, assumption) == scaling.assumptions.end())
        scaling.assumptions.push_back(assumption);
    }
  }
  scaling.conclusion = conclude(scaling.forecasts);
  return scaling;
}

ordered_json to_json(const Scaling& scaling) {
  ordered_json points = ordered_json::array();
  for (const auto& forecast : scaling.forecasts) points.push_back(point_json(scaling, forecast));
  return {{"assumptions", scaling.assumptions},
          {"points", std::move(points)},
          {"crossovers", scaling.conclusion.crossovers},
          {"scaling", scaling.conclusion.scaling},
          {"conclusion", scaling.conclusion.sentence}};
}

}  // namespace ayatori::forecast
