#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Transport with decay, w . grad u + reaction u = g on the unit square, by discontinuous elements with upwind
// fluxes (Lesaint & Raviart 1974): n^2 squares, polynomials of degree `order` in x and in y, orthonormal
// products of Legendre polynomials. All is divided by h^2, h = 1 / n: the mass matrix is the identity.
//
//   recirculating=1   w = (Y (1 - X^2), -X (1 - Y^2)), X = 2x - 1, Y = 2y - 1: closed orbits, nothing crosses
//   the boundary recirculating=0   w = (2, 1) / sqrt(5): block triangular; what flows in belongs to the
//   right-hand side
//
// Gauss' formula with order + 2 points is exact for all integrals but those of fluxes that change sign inside
// a face. Unknowns of an element stand together, x modes fastest; elements with x fastest.

namespace ayatori::io {

namespace {

/// Orthonormal polynomials on [0, 1] with their slopes.
struct Mode {
  double value;
  double slope;
};

std::vector<Mode> modes_at(int order, double x) {
  const double t = 2 * x - 1;
  std::vector<Mode> modes;
  double before = 0;
  double value = 1;
  double slope_before = 0;
  double slope = 0;
  for (int k = 0; k <= order; ++k) {
    const double scale = std::sqrt(2.0 * k + 1);
    modes.push_back({scale * value, 2 * scale * slope});
    const double next = ((2 * k + 1) * t * value - k * before) / (k + 1);
    const double next_slope = slope_before + (2 * k + 1) * value;
    before = std::exchange(value, next);
    slope_before = std::exchange(slope, next_slope);
  }
  return modes;
}

struct Point {
  double x;
  double weight;
  std::vector<Mode> modes;
};

/// Gauss' points on [0, 1], by Newton's iteration for the zeros of the Legendre polynomial.
std::vector<Point> gauss_points(int count, int order) {
  std::vector<Point> points;
  for (int k = 0; k < count; ++k) {
    double x = 0.5 - std::cos(std::numbers::pi * (k + 0.75) / (count + 0.5)) / 2;
    for (int step = 0; step < 20; ++step) {
      const Mode top = modes_at(count, x).back();
      x -= top.value / top.slope;
    }
    const double slope = modes_at(count, x).back().slope / std::sqrt(2.0 * count + 1);
    points.push_back({x, 1 / (x * (1 - x) * slope * slope), modes_at(order, x)});
  }
  return points;
}

struct Wind {
  double x, y;
};

class Advection {
 public:
  explicit Advection(const GeneratorParameters& parameters)
      : n_(parameters.integer("n")),
        order_(static_cast<int>(parameters.integer("order"))),
        reaction_(parameters.real("reaction")),
        recirculating_(parameters.integer("recirculating") == 1),
        points_(gauss_points(order_ + 2, order_)),
        ends_{modes_at(order_, 0), modes_at(order_, 1)} {}

  std::int64_t rows() const { return n_ * n_ * block(); }

  void add_row(std::int64_t i, RowBuilder& row) const {
    const Test test{point2(i / block(), n_), static_cast<int>(i % block() % modes()),
                    static_cast<int>(i % block() / modes())};
    row.add(i, reaction_);
    add_inside(test, row);
    for (const int axis : {0, 1})
      for (const int end : {0, 1}) add_face(test, axis, end, row);
  }

 private:
  /// A test function: its element, and its modes along x and y.
  struct Test {
    Point2 element;
    int x, y;
  };

  int modes() const { return order_ + 1; }
  std::int64_t block() const { return static_cast<std::int64_t>(modes()) * modes(); }
  std::int64_t number(const Point2& element, int x, int y) const {
    return (element.y * n_ + element.x) * block() + y * modes() + x;
  }

  /// At a point of an element, coordinates from 0 to 1.
  Wind wind(const Point2& element, double x, double y) const {
    if (!recirculating_) return {2 / std::sqrt(5.0), 1 / std::sqrt(5.0)};
    const double X = 2 * (static_cast<double>(element.x) + x) / static_cast<double>(n_) - 1;
    const double Y = 2 * (static_cast<double>(element.y) + y) / static_cast<double>(n_) - 1;
    return {Y * (1 - X * X), -X * (1 - Y * Y)};
  }

  /// - (u, w . grad v)
  void add_inside(const Test& test, RowBuilder& row) const {
    for (int c = 0; c < modes(); ++c) {
      for (int d = 0; d < modes(); ++d) {
        double sum = 0;
        for (const Point& q : points_) {
          for (const Point& r : points_) {
            const Wind w = wind(test.element, q.x, r.x);
            const double slope = w.x * q.modes[test.x].slope * r.modes[test.y].value +
                                 w.y * q.modes[test.x].value * r.modes[test.y].slope;
            sum -= q.weight * r.weight * q.modes[c].value * r.modes[d].value * slope;
          }
        }
        row.add(number(test.element, c, d), static_cast<double>(n_) * sum);
      }
    }
  }

  /// The flux (w . normal) u v through one face, u from where the wind comes.
  void add_face(const Test& test, int axis, int end, RowBuilder& row) const {
    Point2 behind = test.element;
    (axis == 0 ? behind.x : behind.y) += end == 1 ? 1 : -1;
    const bool is_boundary = behind.x < 0 || behind.y < 0 || behind.x >= n_ || behind.y >= n_;
    for (int c = 0; c < modes(); ++c) {
      for (int d = 0; d < modes(); ++d) {
        const int across = axis == 0 ? c : d;
        const int along = axis == 0 ? d : c;
        double out = 0;
        double in = 0;
        for (const Point& q : points_) {
          const double at_end = end;
          const Wind w = axis == 0 ? wind(test.element, at_end, q.x) : wind(test.element, q.x, at_end);
          const double flux = (end == 1 ? 1 : -1) * (axis == 0 ? w.x : w.y);
          const double v =
              ends_[end][axis == 0 ? test.x : test.y].value * q.modes[axis == 0 ? test.y : test.x].value;
          const double u = q.modes[along].value;
          out += q.weight * std::max(flux, 0.0) * u * v;
          in += q.weight * std::min(flux, 0.0) * u * v;
        }
        const auto edges = static_cast<double>(n_);
        row.add(number(test.element, c, d), edges * out * ends_[end][across].value);
        if (!is_boundary && in != 0) row.add(number(behind, c, d), edges * in * ends_[1 - end][across].value);
      }
    }
  }

  std::int64_t n_;
  int order_;
  double reaction_;
  bool recirculating_;
  std::vector<Point> points_;
  std::array<std::vector<Mode>, 2> ends_;
};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const auto advection = std::make_shared<const Advection>(parameters);
  return {advection->rows(), [=](std::int64_t i, RowBuilder& row) { advection->add_row(i, row); }};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 50, 1, max_edge_2d / 10, true, "elements per edge; (order + 1)^2 n^2 unknowns"},
    GeneratorParameter{"order", 2, 0, 8, true, "degree of the polynomials"},
    GeneratorParameter{"reaction", 1, 0, 1e9, false, "decay; 0 and recirculating: singular"},
    GeneratorParameter{"recirculating", 1, 0, 1, true, "1: a vortex, 0: a constant wind"}};

}  // namespace

const Generator dg_advection{"dg-advection", "Transport on a square, discontinuous elements, upwind", false,
                             parameters, make};

}  // namespace ayatori::io
