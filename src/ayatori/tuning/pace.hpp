#pragma once

#include <vector>

namespace ayatori::tuning {

/// How fast a method converges, from what it said after each iteration. Of the time the later half counts, as
/// the beginning of a Krylov method tells little about its end; and of the norms the lower quartiles of a
/// tenth of the iterations, as many methods' residuals leap up and down.
class Pace {
 public:
  /// `start`: the residual norm at 0 seconds.
  explicit Pace(double start) : points_{{0, start}}, start_(start), smallest_(start) {}

  /// The norm after an iteration, at `seconds` of the method's own time; times do not descend. Norms that are
  /// not finite are passed over.
  void add(double seconds, double norm);

  double seconds() const { return seconds_; }
  double norm() const { return smallest_; }  ///< the smallest so far
  /// Powers of e by which the norm shrinks in a second; 0 if it does not.
  double decay() const { return slope().decay; }
  /// Seconds to `target` at this decay; infinite if there is none.
  double remaining(double target) const;
  /// Seconds to `target` at the mean pace so far: more than remaining() where the method has begun slowly,
  /// and wiser where its residual leaps. Infinite if the norm is what it was.
  double mean_remaining(double target) const;

 private:
  struct Point {
    double seconds;
    double norm;
  };
  struct Slope {
    Point newest;
    double decay;
  };
  Slope slope() const;
  Point around(std::size_t middle) const;

  std::vector<Point> points_;  ///< evenly thinned
  double start_;
  double smallest_;
  double seconds_ = 0;
  int stride_ = 1;  ///< every so many are kept
  int skipped_ = 0;
};

}  // namespace ayatori::tuning
