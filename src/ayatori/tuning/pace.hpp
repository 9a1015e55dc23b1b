#pragma once

#include <vector>

namespace ayatori::tuning {

/// How fast a method converges, from what it said after each iteration. The smallest norm so far counts, and
/// of the time the later half: the beginning of a Krylov method tells little about its end.
class Pace {
 public:
  /// `start`: the residual norm at 0 seconds.
  explicit Pace(double start);

  /// The norm after an iteration, at `seconds` of the method's own time; times do not descend.
  void add(double seconds, double norm);

  double seconds() const { return points_.back().seconds; }
  double norm() const { return points_.back().norm; }  ///< the smallest so far
  /// Powers of e by which the norm shrinks in a second.
  double decay() const;
  /// Seconds to `target` at this decay; infinite if there is none.
  double remaining(double target) const;

 private:
  struct Point {
    double seconds;
    double norm;
  };
  std::vector<Point> points_;  ///< the first, then at most `most` more, evenly thinned
  int stride_ = 1;             ///< every so many are kept
  int skipped_ = 0;
};

}  // namespace ayatori::tuning
