#pragma once

#include <string>

#include "ayatori/session/eigen/eigen_forecast.hpp"

namespace ayatori::cli {

/// Jobs to forecast for, instead of solving.
struct EigenPrediction {
  std::string ranks;       ///< "1,4,32"; empty: none
  int ranks_per_node = 1;  ///< of `ranks`
};

/// Throws InputError for numbers that make no sense, and for what goes with a prediction only.
void check(const EigenPrediction& prediction, const session::EigenRequest& request);

/// Collective. Forecasts to stderr, and to `json` unless that is empty (schema ayatori.eigen-forecast/1).
/// Throws InputError (agreed).
void predict_eigen(const comm::Comm& world, const std::string& matrix, const session::EigenQuestion& question,
                   const session::EigenRequest& request, const EigenPrediction& prediction,
                   const std::string& json);

}  // namespace ayatori::cli
