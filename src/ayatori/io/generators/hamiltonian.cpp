#include <array>
#include <cmath>
#include <numbers>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/complex_rows.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// An electron on a square lattice of n^2 sites in a magnetic field (Hofstadter, Phys. Rev. B 14, 1976), with
// disorder (Anderson, Phys. Rev. 109, 1958), in units of the hopping energy, open boundary:
//
//   (H u)(x, y) = (4 + V) u(x, y) - u(x-1, y) - u(x+1, y) - exp(-i theta x) u(x, y-1) - exp(i theta x) u(x,
//   y+1)
//
// theta = 2 pi flux (Peierls' phase, Landau's gauge) and V uniform in [0, disorder). H is Hermitian positive
// definite with eigenvalues from 0 to 8 + disorder.
//
//   hamiltonian2d   H - shift: indefinite where the shift is inside the spectrum
//   transport2d     energy + i eta - H: its inverse is the retarded Green's function; neither Hermitian nor
//                   symmetric, but normal, each eigenvalue at least eta from 0

namespace ayatori::io {

namespace {

class Lattice {
 public:
  explicit Lattice(const GeneratorParameters& parameters)
      : n_(parameters.integer("n")),
        theta_(2 * std::numbers::pi * parameters.real("flux")),
        disorder_(parameters.real("disorder")),
        seed_(static_cast<std::uint64_t>(parameters.integer("seed"))) {}

  std::int64_t rows() const { return n_ * n_; }

  /// Adds row i of sign (H - energy).
  void add_row(std::int64_t i, double sign, sparse::Complex energy, ComplexRowBuilder& row) const {
    const Point2 p = point2(i, n_);
    const sparse::Complex hopping = -sign * std::polar(1.0, theta_ * static_cast<double>(p.x));
    const double potential = disorder_ * random_uniform(seed_, static_cast<std::uint64_t>(i));
    if (p.y > 0) row.add(i - n_, std::conj(hopping));
    if (p.x > 0) row.add(i - 1, -sign);
    row.add(i, sign * (4 + potential - energy));
    if (p.x < n_ - 1) row.add(i + 1, -sign);
    if (p.y < n_ - 1) row.add(i + n_, hopping);
  }

 private:
  std::int64_t n_;
  double theta_;
  double disorder_;
  std::uint64_t seed_;
};

GeneratedMatrix make_hamiltonian(const GeneratorParameters& parameters) {
  const Lattice lattice(parameters);
  const double shift = parameters.real("shift");
  return real_form(lattice.rows(),
                   [=](std::int64_t i, ComplexRowBuilder& row) { lattice.add_row(i, 1, shift, row); });
}

GeneratedMatrix make_transport(const GeneratorParameters& parameters) {
  const Lattice lattice(parameters);
  const sparse::Complex energy(parameters.real("energy"), parameters.real("eta"));
  return real_form(lattice.rows(),
                   [=](std::int64_t i, ComplexRowBuilder& row) { lattice.add_row(i, -1, energy, row); });
}

constexpr GeneratorParameter sites{"n", 100, 1, max_edge_2d, true, "sites per edge; n^2 complex unknowns"};
constexpr GeneratorParameter flux{"flux", 0.01, -0.5, 0.5, false, "quanta through a square of four sites"};
constexpr GeneratorParameter disorder{"disorder", 1, 0, 1e6, false, "greatest potential of a site"};
constexpr GeneratorParameter seed{"seed", 1, 0, 4294967295, true, "of the random potential"};
constexpr std::array parameters_hamiltonian{
    sites, flux, disorder,
    GeneratorParameter{"shift", 0, -1e6, 1e6, false, "an energy, taken off the diagonal; large: indefinite"},
    seed};
constexpr std::array parameters_transport{
    sites,
    flux,
    disorder,
    GeneratorParameter{"energy", 2, -1e6, 1e6, false, "of the electron"},
    GeneratorParameter{"eta", 0.01, 1e-12, 1e6, false, "imaginary part of the energy; small: hard"},
    seed};

}  // namespace

const Generator hamiltonian2d{"hamiltonian2d",
                              "Electron on a disordered lattice in a magnetic field: Hermitian",
                              true,
                              parameters_hamiltonian,
                              make_hamiltonian,
                              true};
const Generator transport2d{"transport2d",  "Green's function of such an electron: complex, unsymmetric",
                            false,          parameters_transport,
                            make_transport, true};

}  // namespace ayatori::io
