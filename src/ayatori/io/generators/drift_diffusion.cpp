#include <array>
#include <cmath>
#include <numbers>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// A Newton step for a silicon diode: Poisson's equation and those of electrons and holes, all coupled, fluxes
// by Scharfetter & Gummel (IEEE Trans. Electron Devices 16, 1969), recombination by Shockley, Read & Hall.
// Units are volts and densities per cubic centimetre, nothing is scaled: entries span tens of orders of
// magnitude.
//
//   eps sum (psi - psi') = q h^2 (p - n + N),   q D_n sum (n B(-D) - n' B(D)) + q h^2 R = 0,   D = (psi' -
//   psi) / V_T
//                                               q D_p sum (p B(D) - p' B(-D)) + q h^2 R = 0,   B(x) = x /
//                                               (e^x - 1)
//
// A square of `length`, n^2 inner points; contacts at left (p side, at `bias` volts) and right (n side, 0 V),
// insulated above and below. The junction is a wave around the middle. The state that is linearized around is
// locally neutral: quasi-Fermi potentials fall linearly from the junction to the contact of the other side,
// and densities follow. Unknowns psi, n, p of a point stand together.

namespace ayatori::io {

namespace {

constexpr double charge = 1.602176634e-19;         ///< C
constexpr double permittivity = 11.7 * 8.854e-14;  ///< F / cm, silicon
constexpr double thermal_voltage = 0.02585;        ///< V, at 300 K
constexpr double intrinsic = 1e10;                 ///< per cm^3
constexpr double electron_diffusion = 36;          ///< cm^2 / s
constexpr double hole_diffusion = 12;
constexpr double lifetime = 1e-7;  ///< s

/// x / (exp(x) - 1) and its derivative.
double bernoulli(double x) {
  if (std::abs(x) < 1e-5) return 1 - x / 2;
  return x / std::expm1(x);
}
double bernoulli_slope(double x) {
  if (std::abs(x) < 1e-3) return -0.5 + x / 6;
  if (x > 300) return 0;
  const double e = std::expm1(x);
  return (e - x * (e + 1)) / (e * e);
}

struct State {
  double psi, n, p;
};

struct Diode {
  std::int64_t n;
  double bias;
  double doping;
  double step;  ///< cm

  void add_row(std::int64_t i, RowBuilder& row) const {
    const Point2 at = point2(i / 3, n);
    const std::int64_t first = i - i % 3;
    if (i % 3 == 0) {
      row.add(first + 1, charge * step * step);
      row.add(first + 2, -charge * step * step);
    } else {
      add_recombination(state(at), first, row);
    }
    for (const auto& [dx, dy] : {Point2{-1, 0}, Point2{1, 0}, Point2{0, -1}, Point2{0, 1}}) {
      const Point2 other{at.x + dx, at.y + dy};
      if (other.y < 0 || other.y >= n) continue;
      const bool is_contact = other.x < 0 || other.x >= n;
      const std::int64_t beside = 3 * (other.y * n + other.x);
      const auto add = [&](std::int64_t unknown, double own, double others) {
        row.add(first + unknown, own);
        if (!is_contact) row.add(beside + unknown, others);
      };
      if (i % 3 == 0) {
        add(0, permittivity, -permittivity);
        continue;
      }
      const State here = state(at);
      const State there = state(other);
      const double drop = (there.psi - here.psi) / thermal_voltage;
      // Holes are electrons in the opposite field.
      const bool is_electrons = i % 3 == 1;
      const double d = is_electrons ? drop : -drop;
      const double own = is_electrons ? here.n : here.p;
      const double others = is_electrons ? there.n : there.p;
      const double weight = charge * (is_electrons ? electron_diffusion : hole_diffusion);
      add(i % 3, weight * bernoulli(-d), -weight * bernoulli(d));
      const double slope = (is_electrons ? -1 : 1) * weight / thermal_voltage *
                           (own * bernoulli_slope(-d) + others * bernoulli_slope(d));
      add(0, -slope, slope);
    }
  }

 private:
  State state(const Point2& at) const {
    const double x = static_cast<double>(at.x + 1) / static_cast<double>(n + 1);
    const double y = (static_cast<double>(at.y) + 0.5) / static_cast<double>(n);
    const double junction = 0.5 + 0.1 * std::cos(2 * std::numbers::pi * y);
    const double of_electrons = x < 0.5 ? bias * (1 - 2 * x) : 0;
    const double of_holes = x < 0.5 ? bias : bias * (2 - 2 * x);
    const double half_split = (of_holes - of_electrons) / (2 * thermal_voltage);
    const double root_np = intrinsic * std::exp(half_split);
    const double level = std::asinh(doping * std::tanh((x - junction) / 0.02) / (2 * root_np));
    return {(of_electrons + of_holes) / 2 + thermal_voltage * level, root_np * std::exp(level),
            root_np * std::exp(-level)};
  }

  /// Derivatives of R = (n p - n_i^2) / (lifetime (n + p + 2 n_i)).
  void add_recombination(const State& s, std::int64_t first, RowBuilder& row) const {
    const double sum = s.n + s.p + 2 * intrinsic;
    const double rate = (s.n * s.p - intrinsic * intrinsic) / sum;
    const double weight = charge * step * step / (lifetime * sum);
    row.add(first + 1, weight * (s.p - rate));
    row.add(first + 2, weight * (s.n - rate));
  }
};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const std::int64_t n = parameters.integer("n");
  const Diode diode{n, parameters.real("bias"), parameters.real("doping"),
                    parameters.real("length") * 1e-4 / static_cast<double>(n + 1)};
  return {3 * n * n, [=](std::int64_t i, RowBuilder& row) { diode.add_row(i, row); }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 80, 1, max_edge_2d, true, "inner points per edge; 3 n^2 unknowns"},
    GeneratorParameter{"bias", 0.5, -15, 1.5, false, "volts at the p contact; negative: reverse"},
    GeneratorParameter{"doping", 1e17, 1e12, 1e21, false, "donors and acceptors per cm^3"},
    GeneratorParameter{"length", 2, 0.01, 1000, false, "of the diode in micrometres"}};

}  // namespace

const Generator drift_diffusion{
    "drift-diffusion", "A silicon diode, potential, electrons and holes, unscaled", false, parameters, make};

}  // namespace ayatori::io
