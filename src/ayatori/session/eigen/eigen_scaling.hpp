#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/session/eigen/eigen_forecast.hpp"

namespace ayatori::session {

/// Jobs to forecast the dense solver for.
struct EigenJobs {
  std::string ranks;       ///< "1,4,32"; empty: none
  int ranks_per_node = 1;  ///< ranks on a node, for `ranks`
};

/// Throws InputError for numbers that make no sense, and for what goes with a forecast only.
void check(const EigenJobs& jobs, const EigenRequest& request);

/// An eigenproblem on several jobs.
struct EigenScaling {
  std::string matrix;
  std::int64_t rows = 0;
  double gflops = 0;                     ///< rate of a thread's matrix products
  std::vector<EigenForecast> forecasts;  ///< by the jobs asked for
  std::vector<std::string> assumptions;  ///< assumptions of all machines, a sentence each
};

/// Collective. By the profile that the request names, or for "none" the one of this machine, on rank 0;
/// nothing on the others. Throws InputError, agreed.
std::optional<EigenScaling> predict_eigen(const comm::Comm& world, const std::string& matrix,
                                          const EigenQuestion& question, const EigenRequest& request,
                                          const EigenJobs& jobs);

/// For people, a line for every job.
std::string summary(const EigenScaling& scaling);

/// Schema "ayatori.eigen-forecast/1".
nlohmann::ordered_json to_json(const EigenScaling& scaling);

}  // namespace ayatori::session
