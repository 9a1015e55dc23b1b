#pragma once

#include <cmath>
#include <cstdint>
#include <variant>

#include "ayatori/gpu/portable.hpp"

// Steps: what a method does with vectors between two products, in one pass over them, and what it makes of
// the sums, which stay on the device. Each is written once, for the device and for the processor.
//
// A step of vectors has row(i, sums), a step behind a product has row(i, ax, sums) with ax = (A x)_i. It adds
// to `sums` of them, and finish(sums) is called once, by one thread, with the totals.

namespace ayatori::gpu {

/// Sums of a step, at most.
inline constexpr int most_sums = 8;
/// Iterations whose residual norms a state keeps until the host looks.
inline constexpr int most_batched = 64;

/// Why the device has ended an iteration: it then goes on without changing anything.
enum class Ended : std::int32_t { no, met_target, curvature, preconditioner, orthogonal, not_finite };

// ---- any Real ----

/// y = A x
template <class R>
struct StoreProduct {
  using Real = R;
  static constexpr int sum_count = 0;
  R* y;
  AYATORI_PORTABLE void row(std::int32_t i, R ax, double*) const { y[i] = ax; }
};

/// y = y + A x
template <class R>
struct AddProduct {
  using Real = R;
  static constexpr int sum_count = 0;
  R* y;
  AYATORI_PORTABLE void row(std::int32_t i, R ax, double*) const { y[i] += ax; }
};

/// r = b - A x
template <class R>
struct SubtractProduct {
  using Real = R;
  static constexpr int sum_count = 0;
  const R* b;
  R* r;
  AYATORI_PORTABLE void row(std::int32_t i, R ax, double*) const { r[i] = b[i] - ax; }
};

/// The first two terms of a Chebyshev smoother from zero, of which A b is known: A (first b) = first (A b).
/// step = gain (b - first A b) + keep first b; x = first b + step
template <class R>
struct SmoothFromZero {
  using Real = R;
  static constexpr int sum_count = 0;
  R first, keep, gain;
  const R* b;
  R* step;
  R* x;
  AYATORI_PORTABLE void row(std::int32_t i, R ax, double*) const {
    const R start = first * b[i];
    const R change = gain * (b[i] - first * ax) + keep * start;
    step[i] = change;
    x[i] = start + change;
  }
};

/// A term of a Chebyshev polynomial: step = keep step + gain d (b - A x); next = x + step. Without d: 1.
template <class R>
struct SmoothStep {
  using Real = R;
  static constexpr int sum_count = 0;
  R keep, gain;
  const R* d;
  const R* b;
  const R* x;
  R* step;
  R* next;
  AYATORI_PORTABLE void row(std::int32_t i, R ax, double*) const {
    R change = gain * (b[i] - ax);
    if (d != nullptr) change *= d[i];
    if (keep != 0) change += keep * step[i];
    step[i] = change;
    next[i] = x[i] + change;
  }
};

/// y = factor x
template <class R>
struct Scale {
  using Real = R;
  static constexpr int sum_count = 0;
  R factor;
  const R* x;
  R* y;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { y[i] = factor * x[i]; }
};

// ---- between precisions ----

/// y = d x, in single precision
struct ScaleDown {
  static constexpr int sum_count = 0;
  const double* d;
  const double* x;
  float* y;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { y[i] = static_cast<float>(d[i] * x[i]); }
};

/// y = d x, of x in single precision
struct ScaleUp {
  static constexpr int sum_count = 0;
  const double* d;
  const float* x;
  double* y;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { y[i] = d[i] * static_cast<double>(x[i]); }
};

// ---- vectors ----

/// y = d x
struct Multiply {
  static constexpr int sum_count = 0;
  const double* d;
  const double* x;
  double* y;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { y[i] = d[i] * x[i]; }
};

/// y = z = factor d x
struct ScaledMultiply {
  static constexpr int sum_count = 0;
  double factor;
  const double* d;
  const double* x;
  double* y;
  double* z;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { y[i] = z[i] = factor * d[i] * x[i]; }
};

/// y = y + factor x
struct Axpy {
  static constexpr int sum_count = 0;
  double factor;
  const double* x;
  double* y;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { y[i] += factor * x[i]; }
};

/// out = x^T y
struct Dot {
  static constexpr int sum_count = 1;
  const double* x;
  const double* y;
  double* out;
  AYATORI_PORTABLE void row(std::int32_t i, double* sums) const { sums[0] += x[i] * y[i]; }
  AYATORI_PORTABLE void finish(const double* sums) const { *out = sums[0]; }
};

/// y_k = x_place[k]: what another rank waits for.
struct Gather {
  static constexpr int sum_count = 0;
  const std::int32_t* place;
  const double* x;
  double* y;
  AYATORI_PORTABLE void row(std::int32_t k, double*) const { y[k] = x[place[k]]; }
};

// ---- the polynomial of GMRES in D^-1 A, by its factors ----

/// Step for a real root, factor = 1 / root: y = y + factor x; next = x - factor D^-1 A x
struct RealFactor {
  using Real = double;
  static constexpr int sum_count = 0;
  double factor;
  const double* d;
  const double* x;
  double* next;
  double* y;
  AYATORI_PORTABLE void row(std::int32_t i, double ax, double*) const {
    y[i] += factor * x[i];
    next[i] = x[i] - factor * d[i] * ax;
  }
};

/// The first half of a pair of conjugates, factor = 1 / |root|^2: step = twice x - D^-1 A x; y = y + factor
/// step
struct PairOfFactors {
  using Real = double;
  static constexpr int sum_count = 0;
  double twice;  ///< the real part
  double factor;
  const double* d;
  const double* x;
  double* step;
  double* y;
  AYATORI_PORTABLE void row(std::int32_t i, double ax, double*) const {
    const double change = twice * x[i] - d[i] * ax;
    step[i] = change;
    y[i] += factor * change;
  }
};

/// The second: x = x - factor D^-1 A step
struct SubtractScaledProduct {
  using Real = double;
  static constexpr int sum_count = 0;
  double factor;
  const double* d;
  double* x;
  AYATORI_PORTABLE void row(std::int32_t i, double ax, double*) const { x[i] -= factor * d[i] * ax; }
};

// ---- a Krylov basis: vector k of it begins at v + k stride ----

/// h_k = v_k^T w for up to eight vectors
struct BasisDots {
  static constexpr int sum_count = most_sums;
  const double* v;
  std::int64_t stride;
  int vectors;
  const double* w;
  double* h;
  AYATORI_PORTABLE void row(std::int32_t i, double* sums) const {
    const double element = w[i];
    for (int k = 0; k < BasisDots::sum_count; ++k)
      if (k < vectors) sums[k] += v[k * stride + i] * element;
  }
  AYATORI_PORTABLE void finish(const double* sums) const {
    for (int k = 0; k < vectors; ++k) h[k] = sums[k];
  }
};

/// w = w + sign V h
struct BasisCombine {
  static constexpr int sum_count = 0;
  const double* v;
  std::int64_t stride;
  int vectors;
  double sign;
  const double* h;
  double* w;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const {
    double sum = 0;
    for (int k = 0; k < vectors; ++k) sum += h[k] * v[k * stride + i];
    w[i] += sign * sum;
  }
};

// ---- conjugate gradients ----

struct CgState {
  double alpha, beta;
  double rz;      ///< r^T z
  double unit;    ///< norm of the first residual, by which r is scaled
  double target;  ///< square of the scaled norm at which to end
  Ended ended;
  std::int32_t iterations;
  double squares[most_batched];  ///< scaled residual norms, after iteration k + 1 in [k % most_batched]

  AYATORI_PORTABLE void end(Ended why) {
    if (ended == Ended::no) ended = why;
  }
  /// After an iteration.
  AYATORI_PORTABLE void note(double square) {
    if (ended != Ended::no) return;
    squares[iterations % most_batched] = square;
    ++iterations;
    if (square <= target) end(Ended::met_target);
    if (!(square - square == 0)) end(Ended::not_finite);
  }
};

/// q = A p, and the step's length
struct CgProduct {
  using Real = double;
  static constexpr int sum_count = 1;
  CgState* state;
  const double* p;
  double* q;
  AYATORI_PORTABLE void row(std::int32_t i, double ax, double* sums) const {
    q[i] = ax;
    sums[0] += p[i] * ax;
  }
  AYATORI_PORTABLE void finish(const double* sums) const {
    if (!(sums[0] > 0)) state->end(sums[0] - sums[0] == 0 ? Ended::curvature : Ended::not_finite);
    state->alpha = state->ended == Ended::no ? state->rz / sums[0] : 0;
  }
};

/// x = x + alpha unit p; r = r - alpha q; and z = d r, if d is given, with what the direction needs of it
struct CgUpdate {
  static constexpr int sum_count = 2;
  CgState* state;
  const double* p;
  const double* q;
  const double* d;
  double* x;
  double* r;
  double* z;
  AYATORI_PORTABLE void row(std::int32_t i, double* sums) const {
    const double alpha = state->alpha;
    x[i] += alpha * state->unit * p[i];
    const double left = r[i] - alpha * q[i];
    r[i] = left;
    sums[1] += left * left;
    if (d == nullptr) return;
    z[i] = d[i] * left;
    sums[0] += left * z[i];
  }
  AYATORI_PORTABLE void finish(const double* sums) const {
    state->note(sums[1]);
    if (d != nullptr) next_direction(*state, sums[0]);
  }
  AYATORI_PORTABLE static void next_direction(CgState& state, double rz) {
    if (state.ended == Ended::no && !(rz > 0))
      state.end(rz - rz == 0 ? Ended::preconditioner : Ended::not_finite);
    const bool goes_on = state.ended == Ended::no;
    state.beta = goes_on && state.rz > 0 ? rz / state.rz : 0;
    if (goes_on) state.rz = rz;
  }
};

/// What the direction needs of z = M r, where M is applied by itself.
struct CgWeigh {
  static constexpr int sum_count = 1;
  CgState* state;
  const double* r;
  const double* z;
  AYATORI_PORTABLE void row(std::int32_t i, double* sums) const { sums[0] += r[i] * z[i]; }
  AYATORI_PORTABLE void finish(const double* sums) const { CgUpdate::next_direction(*state, sums[0]); }
};

/// p = z + beta p
struct CgDirection {
  static constexpr int sum_count = 0;
  CgState* state;
  const double* z;
  double* p;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const { p[i] = z[i] + state->beta * p[i]; }
};

// ---- BiCGSTAB, preconditioned from the right (van der Vorst 1992) ----

struct BicgstabState : CgState {
  double rho, omega;
};

/// p = r + beta (p - omega v), and p_hat = d p if d is given
struct BicgstabDirection {
  static constexpr int sum_count = 0;
  BicgstabState* state;
  const double* r;
  const double* v;
  const double* d;
  double* p;
  double* p_hat;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const {
    const double next = r[i] + state->beta * (p[i] - state->omega * v[i]);
    p[i] = next;
    if (d != nullptr) p_hat[i] = d[i] * next;
  }
};

/// v = A p_hat
struct BicgstabFirstProduct {
  using Real = double;
  static constexpr int sum_count = 1;
  BicgstabState* state;
  const double* shadow;
  double* v;
  AYATORI_PORTABLE void row(std::int32_t i, double ax, double* sums) const {
    v[i] = ax;
    sums[0] += shadow[i] * ax;
  }
  AYATORI_PORTABLE void finish(const double* sums) const {
    if (!(sums[0] - sums[0] == 0)) state->end(Ended::not_finite);
    if (sums[0] == 0) state->end(Ended::orthogonal);
    state->alpha = state->ended == Ended::no ? state->rho / sums[0] : 0;
  }
};

/// r = r - alpha v, and r_hat = d r if d is given
struct BicgstabHalf {
  static constexpr int sum_count = 0;
  BicgstabState* state;
  const double* v;
  const double* d;
  double* r;
  double* r_hat;
  AYATORI_PORTABLE void row(std::int32_t i, double*) const {
    const double half = r[i] - state->alpha * v[i];
    r[i] = half;
    if (d != nullptr) r_hat[i] = d[i] * half;
  }
};

/// t = A r_hat
struct BicgstabSecondProduct {
  using Real = double;
  static constexpr int sum_count = 2;
  BicgstabState* state;
  const double* r;
  double* t;
  AYATORI_PORTABLE void row(std::int32_t i, double ax, double* sums) const {
    t[i] = ax;
    sums[0] += ax * r[i];
    sums[1] += ax * ax;
  }
  AYATORI_PORTABLE void finish(const double* sums) const {
    // t = 0 where the half step has solved the system.
    state->omega = state->ended == Ended::no && sums[1] > 0 ? sums[0] / sums[1] : 0;
  }
};

/// x = x + unit (alpha p_hat + omega r_hat); r = r - omega t
struct BicgstabUpdate {
  static constexpr int sum_count = 2;
  BicgstabState* state;
  const double* p_hat;
  const double* r_hat;
  const double* t;
  const double* shadow;
  double* x;
  double* r;
  AYATORI_PORTABLE void row(std::int32_t i, double* sums) const {
    x[i] += state->unit * (state->alpha * p_hat[i] + state->omega * r_hat[i]);
    const double left = r[i] - state->omega * t[i];
    r[i] = left;
    sums[0] += shadow[i] * left;
    sums[1] += left * left;
  }
  AYATORI_PORTABLE void finish(const double* sums) const {
    state->note(sums[1]);
    if (state->ended == Ended::no && (state->omega == 0 || sums[0] == 0)) state->end(Ended::orthogonal);
    const bool goes_on = state->ended == Ended::no;
    state->beta = goes_on ? sums[0] / state->rho * (state->alpha / state->omega) : 0;
    if (goes_on) state->rho = sums[0];
  }
};

/// Every step behind a product. A new one is a struct and a name here.
template <class R>
struct ProductStepsOf;
template <>
struct ProductStepsOf<double> {
  using type = std::variant<StoreProduct<double>, SubtractProduct<double>, SmoothStep<double>, CgProduct,
                            BicgstabFirstProduct, BicgstabSecondProduct, RealFactor, PairOfFactors,
                            SubtractScaledProduct>;
};
template <>
struct ProductStepsOf<float> {
  using type = std::variant<StoreProduct<float>, AddProduct<float>, SubtractProduct<float>,
                            SmoothFromZero<float>, SmoothStep<float>>;
};
template <class R>
using ProductStep = typename ProductStepsOf<R>::type;

/// Every step of vectors.
using VectorStep = std::variant<Scale<double>, Scale<float>, ScaleDown, ScaleUp, Multiply, ScaledMultiply,
                                Axpy, Dot, Gather, BasisDots, BasisCombine, CgUpdate, CgWeigh, CgDirection,
                                BicgstabDirection, BicgstabHalf, BicgstabUpdate>;

}  // namespace ayatori::gpu
