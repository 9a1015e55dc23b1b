#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ayatori/comm/comm.hpp"
#include "ayatori/forecast/pattern.hpp"
#include "ayatori/forecast/scaling.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/session/predict/predict_request.hpp"

namespace ayatori::session {

/// The matrix of a forecast, which is read when all else is known to be right.
struct PatternSource {
  std::string name;
  std::function<forecast::Pattern()> read;  ///< may throw
};

/// Where the nonzeros of a square matrix are: a file, or a generator's spec. Not collective. Throws
/// InputError, or EnvironmentError where there are more than 2^31 - 1 rows.
forecast::Pattern read_pattern(const std::string& source);

/// How an iteration would scale.
struct PredictRun {
  PredictRequest request;
  std::string matrix;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  forecast::Scaling scaling;
};

/// Forecast of an iteration on machines of this profile, which errors call by the request's name. Not
/// collective. Throws InputError.
PredictRun predict(const PatternSource& matrix, const machine::Profile& profile,
                   const PredictRequest& request);

/// Collective. The same by the profile that the request names (find_profile()), on rank 0; nothing on the
/// others. Throws InputError, agreed.
std::optional<PredictRun> predict(const comm::Comm& world, const PatternSource& matrix,
                                  const PredictRequest& request);

/// The table and what it comes to, for people.
std::string summary(const PredictRun& run);

/// Schema "ayatori.predict/1".
nlohmann::ordered_json to_json(const PredictRun& run);

}  // namespace ayatori::session
