#pragma once

namespace ayatori {

/// Seconds on a monotonic clock; under a simulator that replaces the clock, simulated seconds.
double wall_time();

/// Seconds of processor time that all threads of this process have had.
double processor_time();

/// Seconds since construction or the last restart.
class Stopwatch {
 public:
  double seconds() const { return wall_time() - start_; }
  void restart() { start_ = wall_time(); }

 private:
  double start_ = wall_time();
};

/// Adds the time of its own life to a sum.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& sum) : sum_(sum) {}
  ~ScopedTimer() { sum_ += watch_.seconds(); }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& sum_;
  Stopwatch watch_;
};

}  // namespace ayatori
