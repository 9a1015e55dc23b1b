#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ayatori/tuning/policy/choice.hpp"

namespace ayatori::tuning {

/// How the residuals of a solve went down, arm by arm, over time: what its progress hook tells, thinned out
/// evenly so that an arm never holds more than `most_points`.
class History {
 public:
  static constexpr std::size_t most_points = 400;

  /// Takes what SolveHooks::progress is told.
  void add(const Choice& choice, std::int64_t iteration, double relative_residual);

  /// [{"choice", "seconds": [], "iterations": [], "relative_residuals": []}], in the order of first steps.
  nlohmann::ordered_json to_json() const;

 private:
  struct Point {
    double seconds;  ///< since this was made
    std::int64_t iteration;
    double relative_residual;
  };
  struct Arm {
    Choice choice;
    std::vector<Point> points;
    Point last;
    std::int64_t stride = 1;  ///< every so manieth step is kept, and the last
    std::int64_t steps = 0;
  };
  Arm& arm_of(const Choice& choice);

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Arm> arms_;
  std::size_t latest_ = 0;
};

}  // namespace ayatori::tuning
