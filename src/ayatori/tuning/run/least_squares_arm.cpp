#include "ayatori/tuning/run/least_squares_arm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/products/transposed_product.hpp"
#include "ayatori/tuning/judgement.hpp"
#include "ayatori/tuning/run/timed.hpp"

namespace ayatori::tuning {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Iterations that LSMR is given at least: fewer show no end of A^T r on grids of a few thousand rows.
constexpr std::int64_t least_iterations = 200;

/// Whether a trial ended as trials of singular systems do. A breakdown of a method for definite matrices
/// shows that this one is not, and no more by itself.
bool has_failed(const Trial& trial, bool looks_singular) {
  if (is_least_squares(trial.choice)) return false;
  const bool broke_down = trial.outcome == name_of(solvers::Stop::breakdown);
  if (broke_down && solvers::method(trial.choice.method).needs_definite) return looks_singular;
  return trial.outcome == name_of(solvers::Stop::stagnated) || trial.outcome == "refuted" ||
         trial.outcome == "failed" || broke_down;
}

/// What LSMR has told so far.
class Course {
 public:
  void add(double norm, double normal) { points_.push_back({norm, normal}); }

  /// Whether the residual has found its norm while A^T r goes on falling, as on the way to least squares.
  bool has_end_in_sight() const {
    return !points_.empty() && points_.back().norm >= clearly_faster * before().norm &&
           2 * points_.back().normal <= before().normal;
  }

 private:
  struct Point {
    double norm;
    double normal;
  };
  /// Three quarters of the way.
  const Point& before() const { return points_[points_.size() - 1 - points_.size() / 4]; }

  std::vector<Point> points_;
};

}  // namespace

bool LeastSquaresArm::is_allowed() const {
  return !state_.options.forced.method && !state_.options.forced.excludes(solvers::least_squares_name);
}

void LeastSquaresArm::run_alone() {
  if (state_.done()) return;
  // Rounding delays an end by far, if any comes.
  const auto as_rows = static_cast<std::int64_t>(far_more) * state_.report.facts.rows;
  run_for(std::max(least_iterations, as_rows), state_.arms.front().listed.why, state_.x);
}

bool LeastSquaresArm::comes_first() const {
  if (!is_allowed() || state_.report.facts.rows == 0) return false;
  if (state_.kept != nullptr && state_.kept->ended_by_least_squares) return true;
  const Structure& structure = state_.report.structure;
  if (!structure.is_singular()) return false;
  // These take care of a symmetric matrix' zero rows: what is left may be regular.
  const auto& [right, left] = state_.system->null_spaces();
  const std::int64_t missing = structure.rows - structure.structural.rank;
  return structure.duplicates.count > 0 || left->dimension() < missing || right->dimension() < missing;
}

/// As many as all else has taken, which bounds the loss.
std::int64_t LeastSquaresArm::iterations_worth() const {
  return std::max(least_iterations, state_.report.iterations);
}

bool LeastSquaresArm::is_due(const Trial& last) const {
  if (!is_allowed() || !has_failed(last, state_.looks_singular) || state_.report.iterations < next_due_)
    return false;
  if (state_.rounded_off > 0) return false;
  if (state_.looks_singular || state_.report.structure.is_singular()) return true;
  const auto failed = std::ranges::count_if(
      state_.report.trials, [&](const Trial& trial) { return has_failed(trial, state_.looks_singular); });
  return failed > 1 && state_.report.iterations >= least_iterations;
}

void LeastSquaresArm::run() {
  const bool singular = state_.report.structure.is_singular();
  const bool first = state_.report.trials.empty();
  run_for(iterations_worth(), singular ? "the matrix is singular, as its pattern or its rows show"
                              : first  ? "it ended the solve before"
                              : state_.has_zero_pivots
                                  ? "the matrix is singular: complete factors have zero pivots"
                                  : "the matrix may be singular");
}

void LeastSquaresArm::run_last() {
  // What rounding limits is a solution.
  if (!is_allowed() || state_.done() || state_.rounded_off >= enough_rounded_off) return;
  run_for(iterations_worth(), "nothing else has ended: the matrix may be singular");
}

void LeastSquaresArm::run_for(std::int64_t iterations, const std::string& why, solvers::ConstVector guess) {
  const Choice choice = least_squares_choice();
  if (!state_.report.trials.empty())
    state_.add_event("escalation", fmt::format("now {}: {}", describe(choice), why));
  const std::size_t trial = state_.report.trials.size();
  state_.report.trials.push_back({choice, why, "", "", 0, state_.relative(state_.residual_norm()), 0, 0});
  set_up(guess);

  solvers::LeastSquaresResult result;
  double before = std::numeric_limits<double>::infinity();
  // Runs from the x that the one before has left, which take away what rounding left there.
  while (state_.iterations_left() > 0) {
    result = improve(iterations);
    state_.report.trials[trial].iterations += result.iterations;
    if (state_.system->is_solved_by(known_)) break;
    const bool goes_on = result.stop == solvers::LeastSquaresStop::solved ||
                         result.stop == solvers::LeastSquaresStop::rounding ||
                         result.stop == solvers::LeastSquaresStop::least_squares;
    const double normal = normal_residual();
    if (goes_on && is_certified(result, normal)) {
      state_.is_least_squares = true;
      state_.add_event(
          "note",
          fmt::format("the system is inconsistent: no x leaves a relative residual below {:.3g}; this "
                      "one is a least-squares solution of small norm (||A^T r|| = {:.1e} ||A|| ||r||)",
                      state_.relative(known_.norm),
                      normal / (std::max(result.matrix_norm, state_.report.facts.max_abs) * known_.norm)));
      break;
    }
    if (!goes_on || !(normal < before / 2)) break;
    before = normal;
  }
  end_trial(trial, result);
}

/// The transpose, and the guess, or x = 0 where there is none, with the residual that it leaves.
void LeastSquaresArm::set_up(solvers::ConstVector guess) {
  const ScopedTimer timer(state_.report.seconds.setup);
  comm::agree(state_.comm, [&] {
    for (auto* vector : {&x_, &residual_, &correction_}) vector->resize(state_.residual.size());
  });
  const MatrixFacts& facts = state_.report.facts;
  const bool is_its_own = facts.symmetric && facts.asymmetry == 0;
  if (!is_its_own && !transposed_)
    transposed_ = std::make_unique<sparse::TransposedProduct>(state_.comm, state_.inside);
  solvers::fill(x_, 0);
  if (!guess.empty()) solvers::copy(guess, x_);
  state_.system->solve_boundary_rows(x_);
  known_ = state_.verified_residual(x_, residual_);
}

const sparse::LinearOperator& LeastSquaresArm::transposed() const {
  if (transposed_) return *transposed_;
  return *state_.matrix;
}

/// Adds the least-squares correction for the residual to x.
solvers::LeastSquaresResult LeastSquaresArm::improve(std::int64_t iterations) {
  const Choice choice = state_.report.trials.back().choice;
  const std::int64_t so_far = state_.report.iterations;
  const Meters meters(*state_.matrix, state_.sum, *state_.product_tuner);
  const Meter start = meters.read();
  double by_transpose = 0;
  solvers::LeastSquaresOptions options;
  options.target = state_.target() / 2;
  options.max_iterations = state_.iterations_left();
  options.matrix_norm = state_.report.facts.max_abs;
  double snapshots = 0;
  std::int64_t reached = so_far;
  if (state_.hooks.snapshot)
    options.look = [&](const std::function<void(solvers::Vector)>& form) {
      if (state_.snapshot_is_due()) snapshots += take_snapshot(reached, form);
    };
  Course course;
  const auto progress = [&](int iteration, double norm, double normal) {
    if (state_.hooks.progress) state_.hooks.progress(choice, so_far + iteration, state_.relative(norm));
    reached = so_far + iteration;
    course.add(norm, normal);
    return iteration < iterations || course.has_end_in_sight();
  };
  // Products with the matrix itself are in its own meter, and take none of this one's time.
  const TimedOperator transposed_timed(transposed(), by_transpose, meters);
  const auto result = solvers::least_squares({*state_.matrix, transposed_timed, residual_, state_.sum},
                                             correction_, options, progress);
  Meter mine = meters.since(start);
  if (transposed_) mine.product += by_transpose;
  mine.wall -= snapshots;
  book_iterating(mine, state_.report.seconds, state_.report.trials.back());
  state_.report.iterations += result.iterations;
  if (result.stop == solvers::LeastSquaresStop::interrupted) state_.note_stop();
  if (!state_.comm.any(!std::isfinite(solvers::local_max_abs(correction_)))) {
    solvers::axpy(1, correction_, x_);
    known_ = state_.verified_residual(x_, residual_);
  }
  return result;
}

/// Collective. What it took, in seconds on this rank.
double LeastSquaresArm::take_snapshot(std::int64_t iterations,
                                      const std::function<void(solvers::Vector)>& form) {
  const Stopwatch watch;
  comm::agree(state_.comm, [&] { formed_.resize(x_.size()); });
  form(formed_);
  solvers::axpy(1, x_, formed_);
  state_.take_snapshot(least_squares_choice(), iterations, formed_);
  return watch.seconds();
}

/// Collective. ||A^T r|| of what x_ leaves.
double LeastSquaresArm::normal_residual() {
  transposed().apply(residual_, correction_);
  return solvers::norm(state_.sum, correction_);
}

/// Whether the true residual is orthogonal to the range, as far as rounding lets anybody tell: LSMR has found
/// it to be so to 1e-14, which a regular matrix allows only if its condition number is beyond that; its
/// residual is the true one; and so small is A^T r in truth, or as rounding of x and of the products lets it
/// be.
bool LeastSquaresArm::is_certified(const solvers::LeastSquaresResult& result, double normal) {
  constexpr double nearly_rounding = 1e-13;
  constexpr double of_sums = 32;
  constexpr double little = 0.01;
  const double a = std::max(result.matrix_norm, state_.report.facts.max_abs);
  const double of_x = a * solvers::norm(state_.sum, x_);
  const double r = known_.norm;
  if (result.stop != solvers::LeastSquaresStop::least_squares) return false;
  if (!(std::abs(r - result.residual_norm) <= little * r) || !(epsilon * of_x <= little * r)) return false;
  return normal <=
         std::max(nearly_rounding * a * r, of_sums * epsilon * a * (of_x + state_.system->b_norm()));
}

void LeastSquaresArm::end_trial(std::size_t trial, const solvers::LeastSquaresResult& result) {
  const bool solved = state_.system->is_solved_by(known_);
  if (solved || state_.is_least_squares) {
    state_.take(x_, residual_, known_);
    state_.report.choice = state_.report.trials[trial].choice;
    state_.report.why = state_.report.trials[trial].why;
  } else if (known_.norm < state_.residual_norm()) {
    state_.take(x_, residual_, known_);
  }
  Trial& mine = state_.report.trials[trial];
  const bool gives_up = result.stop == solvers::LeastSquaresStop::yielded;
  mine.outcome = solved     ? name_of(solvers::Stop::converged)
                 : gives_up ? name_of(solvers::Stop::max_iterations)
                            : name_of(result.stop);
  const double magnitude = result.matrix_norm * result.residual_norm;
  if (magnitude > 0 && std::isfinite(magnitude))
    mine.reason = fmt::format("||A^T r|| = {:.1e} ||A|| ||r||, condition number {:.1e} or more",
                              result.normal_residual / magnitude, result.condition);
  mine.relative_residual = state_.relative(state_.residual_norm());
  next_due_ = 2 * state_.report.iterations;
  has_run_ = true;
}

void LeastSquaresArm::prefer_small_solution() {
  if (!has_run_ || state_.rounded_off >= enough_rounded_off || state_.converged() || state_.is_least_squares)
    return;
  const double of_best = solvers::norm(state_.sum, state_.x);
  const bool leaves_hardly_more = clearly_faster * known_.norm <= state_.residual_norm();
  if (leaves_hardly_more && far_more * solvers::norm(state_.sum, x_) < of_best)
    state_.take(x_, residual_, known_);
}

}  // namespace ayatori::tuning
