#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "ayatori/tuning/run/solve_state.hpp"

namespace ayatori::tuning {

/// What a solve turns to where the matrix is singular or may be: LSMR from x = 0, which tends to the
/// least-squares solution of least norm, whether the system is consistent or not. It comes first where the
/// structure says so; else after arms that failed, for no more iterations than these have made, and again
/// when these have doubled. It runs beside the arms, as it is no method for regular systems: there it needs
/// about the condition number in iterations, where others need its root or less.
class LeastSquaresArm {
 public:
  explicit LeastSquaresArm(SolveState& state) : state_(state) {}

  /// Collective. Where it is what the user forces: from the x given, to the end.
  void run_alone();
  /// Whether the structure makes the matrix singular in a way that the null vectors found do not cover, or an
  /// earlier solve ended so.
  bool comes_first() const;
  /// Whether it is worth a try after this trial, which was the first or a later one of an arm.
  bool is_due(const Trial& last) const;

  /// Collective. Ends with a solution, a least-squares solution (SolveState::is_least_squares), or neither;
  /// then the best x is what it was, unless LSMR's leaves less. Gives up after some iterations.
  void run();
  /// The same after all else.
  void run_last();
  /// Collective. Where nothing has ended: LSMR's x in the place of one that is enormous and leaves hardly
  /// less.
  void prefer_small_solution();

 private:
  bool is_allowed() const;
  std::int64_t iterations_worth() const;
  void run_for(std::int64_t iterations, const std::string& why, solvers::ConstVector guess = {});
  void set_up(solvers::ConstVector guess);
  solvers::LeastSquaresResult improve(std::int64_t iterations);
  /// A^T, which is the matrix itself where that is symmetric to the bit.
  const sparse::LinearOperator& transposed() const;
  double normal_residual();
  bool is_certified(const solvers::LeastSquaresResult& result, double normal);
  double take_snapshot(std::int64_t iterations, const std::function<void(solvers::Vector)>& form);
  void end_trial(std::size_t trial, const solvers::LeastSquaresResult& result);

  SolveState& state_;
  std::unique_ptr<sparse::LinearOperator> transposed_;  ///< none where the matrix is its own
  Array<double> x_;  ///< LSMR's, in the scale of the system; empty until it has run
  Array<double> residual_;
  Array<double> correction_;
  Array<double> formed_;       ///< x of a snapshot
  Residual known_;             ///< what is known of x_
  std::int64_t next_due_ = 0;  ///< iterations of the solve
  bool has_run_ = false;
};

}  // namespace ayatori::tuning
