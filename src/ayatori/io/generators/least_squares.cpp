#include <array>
#include <cmath>
#include <cstdint>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/grid.hpp"

// Adjustment of a geodetic network: a rectangular matrix of linearized observations (Mikhail & Ackermann,
// Observations and Least Squares, 1976). n^2 stations at the points of a grid, moved at random by up to 0.3
// of its edges. Neighbours along both axes and both diagonals are measured from each other:
//
//   distance           (c, s) . (x' - x),                        (c, s) the direction from one to the other
//   2 directions       (-s, c) . (x' - x) / distance - w,        where w is the orientation of that station
//
// Columns: x, y and w of each station together. Rows are weighted by 10^-(spread u), u uniform in [0, 1).
// With datum=1 the two coordinates of the first and the last station are observed as well. datum=0: of rank 3
// less, shifts and a rotation are null vectors, which the least-squares solution of least norm has none of.

namespace ayatori::io {

namespace {

struct Network {
  std::int64_t n;
  bool has_datum;
  double spread;
  double jitter;
  std::uint64_t seed;

  std::int64_t rows() const { return 3 * pairs() + (has_datum ? 4 : 0); }

  void add_row(std::int64_t i, RowBuilder& row) const {
    if (i >= 3 * pairs()) {
      const std::int64_t k = i - 3 * pairs();
      row.add((k < 2 ? 0 : 3 * (n * n - 1)) + k % 2, 1);
      return;
    }
    const auto [first, second] = pair(i / 3);
    const auto [x, y] = position(first);
    const auto [x2, y2] = position(second);
    const double distance = std::hypot(x2 - x, y2 - y);
    const double c = (x2 - x) / distance;
    const double s = (y2 - y) / distance;
    const double weight = std::pow(10.0, -spread * random_uniform(seed + 1, static_cast<std::uint64_t>(i)));
    const auto add = [&](const Point2& station, double of_x, double of_y) {
      row.add(column(station), weight * of_x);
      row.add(column(station) + 1, weight * of_y);
    };
    if (i % 3 == 0) {
      add(first, -c, -s);
      add(second, c, s);
    } else {
      add(first, s / distance, -c / distance);
      add(second, -s / distance, c / distance);
      row.add(column(i % 3 == 1 ? first : second) + 2, -weight);
    }
  }

 private:
  struct Position {
    double x, y;
  };
  struct Pair {
    Point2 first, second;
  };

  /// Each line of stations but the last: n - 1 pairs along it, then n, n - 1, n - 1 with the next line.
  std::int64_t pairs_of_line() const { return 4 * n - 3; }
  std::int64_t pairs() const { return (n - 1) * pairs_of_line() + n - 1; }
  std::int64_t column(const Point2& p) const { return 3 * (p.y * n + p.x); }

  Pair pair(std::int64_t k) const {
    const std::int64_t y = k / pairs_of_line();
    k -= y * pairs_of_line();
    if (k < n - 1) return {{k, y}, {k + 1, y}};
    k -= n - 1;
    if (k < n) return {{k, y}, {k, y + 1}};
    k -= n;
    if (k < n - 1) return {{k, y}, {k + 1, y + 1}};
    k -= n - 1;
    return {{k + 1, y}, {k, y + 1}};
  }

  Position position(const Point2& p) const {
    const auto number = static_cast<std::uint64_t>(2 * (p.y * n + p.x));
    const auto moved = [&](std::int64_t at, std::uint64_t index) {
      return static_cast<double>(at) + jitter * (2 * random_uniform(seed, index) - 1);
    };
    return {moved(p.x, number), moved(p.y, number + 1)};
  }
};

GeneratedMatrix make(const GeneratorParameters& parameters) {
  const Network network{parameters.integer("n"), parameters.integer("datum") == 1, parameters.real("spread"),
                        parameters.real("jitter"), static_cast<std::uint64_t>(parameters.integer("seed"))};
  return {network.rows(), [=](std::int64_t i, RowBuilder& row) { network.add_row(i, row); },
          3 * network.n * network.n};
}

constexpr std::array parameters{
    GeneratorParameter{"n", 60, 2, max_edge_2d, true, "stations per edge; 3 n^2 columns, about 12 n^2 rows"},
    GeneratorParameter{"spread", 1, 0, 8, false, "decades that the weights span"},
    GeneratorParameter{"datum", 1, 0, 1, true, "1: two stations are known, 0: rank 3 less"},
    GeneratorParameter{"jitter", 0.3, 0, 0.3, false, "how far stations are moved, in edges"},
    GeneratorParameter{"seed", 1, 0, 4294967295, true, "of the random moves and weights"}};

}  // namespace

const Generator least_squares{"least-squares", "Observations of a geodetic network: rectangular", false,
                              parameters, make};

}  // namespace ayatori::io
