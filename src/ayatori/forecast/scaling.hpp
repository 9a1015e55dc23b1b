#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ayatori/forecast/predict.hpp"

namespace ayatori::forecast {

/// An iteration with one matrix on several jobs, by ascending numbers of nodes.
struct Scaling {
  std::vector<Forecast> forecasts;
  std::vector<std::string> assumptions;  ///< assumptions of all machines, a sentence each
  Conclusion conclusion;

  /// Over the first job.
  double speed_up(const Forecast& forecast) const { return forecasts.front().total() / forecast.total(); }
  /// Speed-up for each of its nodes.
  double efficiency(const Forecast& forecast) const {
    return speed_up(forecast) * forecasts.front().shape.nodes / forecast.shape.nodes;
  }
};

/// `machines`: one for each job, at least one. `network`: as for predict().
Scaling predict_scaling(const Pattern& pattern, const Partition& partition, const IterationWork& work,
                        const VectorPreconditioner& preconditioner, std::span<const JobMachine> machines,
                        const network::Network* network = nullptr);

/// The fields of schema ayatori.predict/1 that are computed: assumptions, points, crossovers, scaling,
/// conclusion.
nlohmann::ordered_json to_json(const Scaling& scaling);

}  // namespace ayatori::forecast
