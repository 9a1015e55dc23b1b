#include "ayatori/solvers/least_squares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/methods/workspace.hpp"

namespace ayatori::solvers {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// A plane rotation that makes (a, b) to (length, 0).
struct Rotation {
  double cosine = 1;
  double sine = 0;
  double length = 1;

  static Rotation of(double a, double b) {
    const double length = std::hypot(a, b);
    if (length == 0) return {1, 0, 0};
    return {a / length, b / length, length};
  }
};

/// The scalars of the two QR factorisations of LSMR; names as in sections 2 to 5 of the paper.
struct LsmrRecurrence {
  LsmrRecurrence(double alpha, double lambda) : damping(lambda), alpha_bar(alpha), zeta_bar(alpha) {}

  double damping;
  double alpha_bar;
  double zeta_bar;  ///< its magnitude is ||A^T r||
  double rho = 1;
  double rho_bar = 1;
  double c_bar = 1;
  double s_bar = 0;
  double zeta = 0;

  // What is to be done to the vectors: h_bar = h + of_h_bar h_bar, x = x + of_x h_bar, h = v + of_h h.
  double of_h_bar = 0;
  double of_x = 0;
  double of_h = 0;

  // What the norm of r takes.
  double beta_dd = 1;
  double beta_d = 0;
  double rho_d = 1;
  double tau_tilde = 0;
  double theta_tilde = 0;
  double damped_square = 0;
  double residual_norm = 1;

  // What the condition number takes: the diagonal of the second factor.
  double largest_rho_bar = 0;
  double least_rho_bar = std::numeric_limits<double>::infinity();
  double condition = 1;

  /// Takes column k of the bidiagonal matrix completed by beta_(k+1), and alpha_(k+1) beside it.
  void append(double beta, double alpha, bool is_first) {
    const Rotation damped = Rotation::of(alpha_bar, damping);
    const Rotation first = Rotation::of(damped.length, beta);
    const double rho_old = std::exchange(rho, first.length);
    const double theta_new = first.sine * alpha;
    alpha_bar = first.cosine * alpha;

    const double rho_bar_old = rho_bar;
    const double zeta_old = zeta;
    const double theta_bar = s_bar * rho;
    const double rho_temp = c_bar * rho;
    const Rotation second = Rotation::of(rho_temp, theta_new);
    c_bar = second.cosine;
    s_bar = second.sine;
    rho_bar = second.length;
    zeta = c_bar * zeta_bar;
    zeta_bar = -s_bar * zeta_bar;

    of_h_bar = is_first ? 0 : -theta_bar * rho / (rho_old * rho_bar_old);
    of_x = zeta / (rho * rho_bar);
    of_h = -theta_new / rho;

    const double beta_acute = damped.cosine * beta_dd;
    const double beta_check = -damped.sine * beta_dd;
    damped_square += beta_check * beta_check;
    const double beta_hat = first.cosine * beta_acute;
    beta_dd = -first.sine * beta_acute;
    const double theta_tilde_old = theta_tilde;
    const Rotation tilde = Rotation::of(rho_d, theta_bar);
    theta_tilde = tilde.sine * rho_bar;
    rho_d = tilde.cosine * rho_bar;
    beta_d = -tilde.sine * beta_d + tilde.cosine * beta_hat;
    tau_tilde = (zeta_old - theta_tilde_old * tau_tilde) / tilde.length;
    const double tau_d = (zeta - theta_tilde * tau_tilde) / rho_d;
    residual_norm = std::hypot(beta_d - tau_d, beta_dd, std::sqrt(damped_square));

    if (!is_first) {
      largest_rho_bar = std::max(largest_rho_bar, rho_bar_old);
      least_rho_bar = std::min(least_rho_bar, rho_bar_old);
    }
    condition = std::max(largest_rho_bar, rho_temp) / std::min(least_rho_bar, rho_temp);
  }
  double normal_residual() const { return std::abs(zeta_bar); }
};

/// Those of the QR factorisation of LSQR; names as in section 4 of its paper.
struct LsqrRecurrence {
  LsqrRecurrence(double alpha, double lambda) : damping(lambda), rho_bar(alpha), normal(alpha) {}

  double damping;
  double rho_bar;
  double phi_bar = 1;
  double normal;
  double rho = 1;
  double damped_square = 0;
  double residual_norm = 1;
  double condition = 1;
  double largest_rho = 0;
  double least_rho = std::numeric_limits<double>::infinity();

  double of_h_bar = 0;  ///< h_bar is h
  double of_x = 0;
  double of_h = 0;

  void append(double beta, double alpha, bool) {
    const Rotation damped = Rotation::of(rho_bar, damping);
    const double psi = damped.sine * phi_bar;
    phi_bar *= damped.cosine;
    damped_square += psi * psi;
    const Rotation next = Rotation::of(damped.length, beta);
    rho = next.length;
    const double theta = next.sine * alpha;
    rho_bar = -next.cosine * alpha;
    const double phi = next.cosine * phi_bar;
    phi_bar *= next.sine;
    of_x = phi / rho;
    of_h = -theta / rho;
    residual_norm = std::hypot(phi_bar, std::sqrt(damped_square));
    normal = alpha * std::abs(next.sine * phi);
    largest_rho = std::max(largest_rho, rho);
    least_rho = std::min(least_rho, rho);
    condition = largest_rho / least_rho;
  }
  double normal_residual() const { return normal; }
};

/// The longer of x and b.
std::size_t longer(ConstVector x, ConstVector b) {
  return std::max(x.size(), b.size());
}

/// The Golub-Kahan process on A D / sigma and b / ||b||, sigma a power of two near the norm of A D, and the
/// iterates that it leads to.
template <class Recurrence>
class GolubKahan {
 public:
  GolubKahan(const LeastSquaresProblem& problem, Vector x, const LeastSquaresOptions& options,
             const LeastSquaresProgress& progress)
      : problem_(problem),
        options_(options),
        progress_(progress),
        x_(x),
        work_(problem.sum.comm(), longer(x, problem.b),
              problem.column_scale.empty() && problem.preconditioner == nullptr ? 5 : 6) {}

  LeastSquaresResult solve() {
    fill(x_, 0);
    unit_ = norm(problem_.sum, problem_.b);
    result_.residual_norm = unit_;
    if (!std::isfinite(unit_)) return ended(LeastSquaresStop::not_finite);
    if (unit_ <= options_.target) return ended(LeastSquaresStop::solved);
    if (!start()) return result_;
    Recurrence numbers(alpha_, std::ldexp(options_.damping, -exponent_));
    while (!is_over(numbers)) step(numbers);
    to_original();
    return result_;
  }

 private:
  const LeastSquaresResult& ended(LeastSquaresStop stop) {
    result_.stop = stop;
    return result_;
  }

  /// y = A D x; D x is left in a work vector.
  void multiply(ConstVector x, Vector y) {
    if (problem_.column_scale.empty()) return problem_.a.apply(x, y);
    const Vector scaled = work_[5].first(x_.size());
    scale_columns(x, scaled);
    problem_.a.apply(scaled, y);
  }
  /// y = D A^T x
  void multiply_transposed(ConstVector x, Vector y) {
    problem_.transposed.apply(x, y);
    if (!problem_.column_scale.empty()) scale_columns(y, y);
  }
  void scale_columns(ConstVector x, Vector y) const {
    parallel_for(static_cast<std::int64_t>(x.size()),
                 [&](std::int64_t i) { y[i] = problem_.column_scale[i] * x[i]; });
  }

  /// v = M dual; this rank's part of its square in the norm of M^-1.
  double precondition() {
    problem_.preconditioner->apply(dual_, v_);
    return local_dot(dual_, v_);
  }

  /// The first vectors of both bases, and what A D is scaled by. False if x = 0 is the answer.
  bool start() {
    copy(problem_.b, u_);
    // An inverse of its own would overflow where the norm is below the normal numbers.
    parallel_for(static_cast<std::int64_t>(u_.size()), [&](std::int64_t i) { u_[i] /= unit_; });
    multiply_transposed(u_, dual_);
    alpha_ =
        problem_.preconditioner == nullptr ? norm(problem_.sum, v_) : std::sqrt(problem_.sum(precondition()));
    result_.normal_residual = alpha_ * unit_;
    if (!std::isfinite(alpha_)) return ended(LeastSquaresStop::not_finite), false;
    if (alpha_ <= options_.atol * options_.matrix_norm) return ended(LeastSquaresStop::least_squares), false;
    parallel_for(static_cast<std::int64_t>(v_.size()), [&](std::int64_t i) { v_[i] /= alpha_; });
    if (problem_.preconditioner != nullptr) scale(1 / alpha_, dual_);
    multiply(v_, of_rows_);
    const double beta = norm(problem_.sum, of_rows_);  // no less than alpha
    if (!std::isfinite(beta)) return ended(LeastSquaresStop::not_finite), false;
    std::frexp(beta, &exponent_);
    alpha_ = std::ldexp(alpha_, -exponent_);
    matrix_norm_ = std::ldexp(options_.matrix_norm, -exponent_);
    has_product_ = true;
    copy(v_, h_);
    fill(h_bar_, 0);
    return true;
  }

  /// y = product / sigma + b y; this rank's part of its square.
  double add_product(Vector product, double b, Vector y) {
    constexpr int safe = 1000;
    if (std::abs(exponent_) < safe) return axpby_square(std::ldexp(1.0, -exponent_), product, b, y);
    parallel_for(static_cast<std::int64_t>(y.size()),
                 [&](std::int64_t i) { product[i] = std::ldexp(product[i], -exponent_); });
    return axpby_square(1, product, b, y);
  }

  void step(Recurrence& numbers) {
    if (!std::exchange(has_product_, false)) multiply(v_, of_rows_);
    std::array<double, 2> squares{add_product(of_rows_, -alpha_, u_), x_square_};
    problem_.sum(squares);
    const double beta = std::sqrt(squares[0]);
    x_norm_ = std::sqrt(squares[1]);
    matrix_norm_ = std::max(matrix_norm_, std::hypot(alpha_, beta));
    frobenius_norm_ = std::hypot(frobenius_norm_, alpha_, beta);
    double alpha = 0;
    if (beta > 0) {
      scale(1 / beta, u_);
      multiply_transposed(u_, of_columns_);
      const double square = add_product(of_columns_, -beta, dual_);
      alpha = std::sqrt(problem_.sum(problem_.preconditioner == nullptr ? square : precondition()));
      if (alpha > 0) scale(1 / alpha, v_);
      if (alpha > 0 && problem_.preconditioner != nullptr) scale(1 / alpha, dual_);
    }
    is_finite_ = std::isfinite(alpha) && std::isfinite(beta);
    if (!is_finite_) return;
    numbers.append(beta, alpha, result_.iterations == 0);
    alpha_ = alpha;
    if (!options_.variance.empty()) add_to_variance(numbers.rho);
    x_square_ = aypx_axpy_square(numbers.of_h_bar, h_, h_bar_, numbers.of_x, x_);
    aypx(numbers.of_h, v_, h_);
    ++result_.iterations;
  }

  void add_to_variance(double rho) {
    parallel_for(static_cast<std::int64_t>(h_.size()), [&](std::int64_t i) {
      const double d = std::ldexp(h_[i] / rho, -exponent_);
      options_.variance[i] += d * d;
    });
  }

  /// Whether to stop, and why.
  bool is_over(const Recurrence& numbers) {
    using enum LeastSquaresStop;
    const double normal = numbers.normal_residual();
    result_.residual_norm = numbers.residual_norm * unit_;
    result_.normal_residual = std::ldexp(normal * unit_, exponent_);
    result_.condition = numbers.condition;
    const auto end = [&](LeastSquaresStop stop) { return result_.stop = stop, true; };
    if (!is_finite_ || !std::isfinite(numbers.residual_norm)) return end(not_finite);
    const double consistent = options_.consistent_atol * matrix_norm_ * x_norm_ * unit_;
    if (result_.residual_norm <= options_.target + consistent) return end(solved);
    if (result_.iterations > 0) {
      if (numbers.residual_norm <= epsilon * (1 + matrix_norm_ * x_norm_)) return end(rounding);
      if (normal <= options_.atol * matrix_norm_ * numbers.residual_norm) return end(least_squares);
      if (!(numbers.condition <= options_.max_condition)) return end(condition);
    }
    if (problem_.sum.stop_requested()) return end(interrupted);
    if (result_.iterations >= options_.max_iterations) return end(max_iterations);
    if (progress_ && result_.iterations > 0 &&
        !progress_(result_.iterations, result_.residual_norm, result_.normal_residual))
      return end(yielded);
    if (options_.look && result_.iterations > 0) options_.look([this](Vector x) { form(x); });
    return false;
  }

  void to_original() {
    form(x_);
    result_.matrix_norm = std::ldexp(matrix_norm_, exponent_);
    result_.frobenius_norm = std::ldexp(frobenius_norm_, exponent_);
    result_.solution_norm = norm(problem_.sum, x_);
  }

  /// x = D x_ ||b|| / sigma
  void form(Vector x) const {
    int exponent = 0;
    const double mantissa = std::frexp(unit_, &exponent);
    exponent -= exponent_;
    const bool scaled = !problem_.column_scale.empty();
    parallel_for(static_cast<std::int64_t>(x_.size()), [&](std::int64_t i) {
      x[i] = std::ldexp(mantissa * x_[i], exponent) * (scaled ? problem_.column_scale[i] : 1);
    });
  }

  const LeastSquaresProblem& problem_;
  const LeastSquaresOptions& options_;
  const LeastSquaresProgress& progress_;
  Vector x_;
  Workspace work_;
  Vector u_ = work_[0].first(problem_.b.size());
  Vector v_ = work_[1].first(x_.size());
  Vector dual_ = problem_.preconditioner == nullptr ? v_ : work_[5].first(x_.size());  ///< M^-1 v
  Vector h_ = work_[2].first(x_.size());
  Vector h_bar_ = work_[3].first(x_.size());
  Vector of_rows_ = work_[4].first(problem_.b.size());  ///< A D v ...
  Vector of_columns_ = work_[4].first(x_.size());       ///< ... or D A^T u, in its place
  LeastSquaresResult result_;
  double unit_ = 1;   ///< ||b||
  int exponent_ = 0;  ///< exponent of sigma
  double alpha_ = 0;
  double matrix_norm_ = 0;  ///< what is known of it: the largest column of the bidiagonal matrix
  double frobenius_norm_ = 0;
  double x_square_ = 0;       ///< this rank's part
  double x_norm_ = 0;         ///< norm of the last iterate but one
  bool has_product_ = false;  ///< A D v is there already
  bool is_finite_ = true;
};

}  // namespace

std::string_view name_of(LeastSquaresStop stop) {
  using enum LeastSquaresStop;
  switch (stop) {
    case solved:
      return "solved";
    case rounding:
      return "rounding";
    case least_squares:
      return "least squares";
    case condition:
      return "condition";
    case max_iterations:
      return "iteration limit";
    case not_finite:
      return "not finite";
    case interrupted:
      return "interrupted";
    case yielded:
      break;
  }
  return "yielded";
}

LeastSquaresResult least_squares(const LeastSquaresProblem& problem, Vector x,
                                 const LeastSquaresOptions& options, const LeastSquaresProgress& progress) {
  if (options.method == LeastSquaresMethod::lsqr)
    return GolubKahan<LsqrRecurrence>(problem, x, options, progress).solve();
  return GolubKahan<LsmrRecurrence>(problem, x, options, progress).solve();
}

}  // namespace ayatori::solvers
