#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/tuning/product/gathering.hpp"
#include "ayatori/tuning/reusable_setup.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// How set-ups were used again in a sequence of solves. Seconds are means of the ranks.
struct Reuse {
  int solves = 0;
  int set_ups = 0;              ///< set-ups of preconditioners that were used to the end
  double set_up_seconds = 0;    ///< seconds of the last one
  double fresh_iterations = 0;  ///< iterations of the solve that it was made for
  double extra_seconds = 0;     ///< that later solves took because it had grown old, so far

  /// Solves after which the extra time of one like the last pays for a set-up; 0 while there is none.
  double break_even = 0;
};

/// In one line.
std::string describe(const Reuse& reuse);

/// Solves for many right-hand sides, and for matrices whose values change slowly on one pattern: facts,
/// kernel, halo strategy, choice and preconditioner of a solve serve the next one. A preconditioner that was
/// made from earlier values stays until the iterations that it takes more than it did when it was new have
/// cost as much as a new one: whatever comes, that is at most twice what the best moment would have cost.
/// Where it fails altogether, a new one is made at once. Residuals are always those of the matrix now. With
/// SolveOptions::may_use_one_rank the first solve decides whether all ranks hold rows (race_ranks()).
class Solver {
 public:
  /// `options.experience` counts for the first solve only.
  Solver(comm::Comm comm, std::shared_ptr<const sparse::SplitMatrix> parts, SolveOptions options = {});

  /// Collective. As tuning::solve().
  SolveReport solve(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks = {});

  /// Collective. Solves for several right-hand sides. Where the method that won the solve before, or else the
  /// first of these, has a block form, and that moves fewer bytes, it goes on with up to `most_at_once` at a
  /// time, and what is left unsolved then is solved alone. Each has its own x, which is verified on its own,
  /// and its own report. A stop ends the sequence: there are as many reports as were begun.
  std::vector<SolveReport> solve(std::span<const solvers::ConstVector> b, std::span<const solvers::Vector> x,
                                 int most_at_once, const SolveHooks& hooks = {});

  /// Collective. Other values from now on, spread as before; another pattern begins anew.
  void update(std::shared_ptr<const sparse::SplitMatrix> parts);

  /// Sets the goal of the solves from now on; the same on all ranks.
  void set_goal(double rtol, std::int64_t max_iterations);

  const Reuse& reuse() const { return reuse_; }

 private:
  void choose_ranks();
  SolveReport solve_where_rows_are(solvers::ConstVector b, solvers::Vector x, const SolveHooks& hooks);
  std::vector<SolveReport> solve_where_rows_are(std::span<const solvers::ConstVector> b,
                                                std::span<const solvers::Vector> x, int most_at_once,
                                                const SolveHooks& hooks);
  void account(SolveReport& report, double seconds, const SolveHooks& hooks);
  void learn(const SolveReport& report);

  comm::Comm comm_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  SolveOptions options_;
  std::vector<std::int64_t> row_numbers_;  ///< that options_ refers to, where the rows were gathered
  ReusableSetup kept_;
  std::optional<SolveReport> last_;  ///< report of the solve that left `kept_`
  std::optional<RankRace> race_;
  std::optional<Gathering> gathering_;  ///< none where all ranks hold rows
  Reuse reuse_;
};

}  // namespace ayatori::tuning
