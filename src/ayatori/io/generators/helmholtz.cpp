#include <array>
#include <cmath>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/complex_rows.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Waves of one frequency, time factor exp(-i omega t), that leave the unit square or cube:
//
//   -Laplace(u) - (1 + i damping) (k / c)^2 u = f,   du/dn = i (k / c) u on all sides
//
// with Sommerfeld's condition, absorbing of first order (Engquist & Majda, Math. Comp. 31, 1977). 5 or 7
// points in the middles of n^d cells, h = 1 / n, scaled by h^2; complex symmetric, indefinite. Half a cell
// behind the boundary the condition, in central differences, gives (1 + i k h / 2c) / (1 - i k h / 2c) times
// the value before it: the boundary changes nothing but the diagonal.
//
// The ground has `layers` layers along the last axis; the velocity of each is contrast^v, v random in [0, 1).
// So k is the greatest wave number, and the defaults have 10 points per wavelength or more.

namespace ayatori::io {

namespace {

class Waves {
 public:
  Waves(int dimension, const GeneratorParameters& parameters)
      : dimension_(dimension),
        n_(parameters.integer("n")),
        layers_(parameters.integer("layers")),
        seed_(static_cast<std::uint64_t>(parameters.integer("seed"))),
        k_(parameters.real("k")),
        damping_(parameters.real("damping")),
        contrast_(parameters.real("contrast")) {}

  std::int64_t rows() const { return dimension_ == 3 ? n_ * n_ * n_ : n_ * n_; }

  void add_row(std::int64_t i, ComplexRowBuilder& row) const {
    const double step = wave_number(i / (rows() / n_)) / static_cast<double>(n_);
    const sparse::Complex behind = sparse::Complex(1, step / 2) / sparse::Complex(1, -step / 2);
    sparse::Complex centre = 2.0 * dimension_ - sparse::Complex(1, damping_) * (step * step);
    std::int64_t stride = 1;
    for (int axis = 0; axis < dimension_; ++axis) {
      const std::int64_t at = i / stride % n_;
      for (const std::int64_t side : {-1, 1}) {
        if (0 <= at + side && at + side < n_) {
          row.add(i + side * stride, -1);
        } else {
          centre -= behind;
        }
      }
      stride *= n_;
    }
    row.add(i, centre);
  }

 private:
  /// Wave number of the cells at one place along the last axis.
  double wave_number(std::int64_t place) const {
    const auto layer = static_cast<std::uint64_t>(place * layers_ / n_);
    return k_ / std::pow(contrast_, random_uniform(seed_, layer));
  }

  int dimension_;
  std::int64_t n_;
  std::int64_t layers_;
  std::uint64_t seed_;
  double k_;
  double damping_;
  double contrast_;
};

template <int Dimension>
GeneratedMatrix make(const GeneratorParameters& parameters) {
  const Waves waves(Dimension, parameters);
  return real_form(waves.rows(), [=](std::int64_t i, ComplexRowBuilder& row) { waves.add_row(i, row); });
}

constexpr GeneratorParameter damping{"damping", 0, 0, 1e3, false, "imaginary over real part of k^2"};
constexpr GeneratorParameter contrast{"contrast", 1,     1,
                                      1e3,        false, "greatest over least velocity; 1: constant"};
constexpr GeneratorParameter layers{"layers", 8, 1, 1e5, true, "layers, each with its velocity"};
constexpr GeneratorParameter seed{"seed", 1, 0, 4294967295, true, "of the random velocities"};
constexpr auto parameters(GeneratorParameter n, double wave_number) {
  return std::array{
      n,
      GeneratorParameter{"k", wave_number, 1e-6, 1e9, false, "wave number; 2 pi n / k cells per wavelength"},
      damping,
      contrast,
      layers,
      seed};
}
constexpr auto parameters_2d =
    parameters({"n", 100, 1, max_edge_2d, true, "cells per edge; n^2 complex unknowns"}, 60);
constexpr auto parameters_3d =
    parameters({"n", 32, 1, max_edge_3d, true, "cells per edge; n^3 complex unknowns"}, 20);

}  // namespace

const Generator helmholtz2d{
    "helmholtz2d", "Waves on a square, absorbing boundary, 5 points: complex symmetric",
    false,         parameters_2d,
    make<2>,       true};
const Generator helmholtz3d{"helmholtz3d", "Waves in a cube, absorbing boundary, 7 points: complex symmetric",
                            false,         parameters_3d,
                            make<3>,       true};

}  // namespace ayatori::io
