#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "bench/papers/grid.hpp"

namespace ayatori::bench {

namespace {

using Points = std::span<const GridPoint>;

constexpr double side = 420;  ///< length of each picture's side
constexpr double gap = 70;
constexpr double top = 70;
constexpr std::array<const char*, 8> colours{"#1f6fb4", "#d9541e", "#2e9b57", "#8c4fb0",
                                             "#b58a00", "#c2337a", "#4a7d8c", "#666666"};

const char* colour(std::size_t i) {
  return colours[i % colours.size()];
}

std::string text(double x, double y, const std::string& what, const char* anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, what);
}

/// Speed-up over cores, both by powers of two.
class SpeedUps {
 public:
  explicit SpeedUps(Points points) : points_(points) {
    for (const GridPoint& point : points) {
      most_ = std::max({most_, static_cast<double>(point.cores()), scaling(points, point).speed_up});
      least_ = std::min(least_, scaling(points, point).speed_up);
    }
  }

  std::string svg() const {
    std::string svg =
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n",
                    gap, top, side, side);
    for (double tick = 1; tick <= most_; tick *= 2) {
      svg += text(x(tick), top + side + 18, fmt::format("{:g}", tick), "middle");
      svg += text(gap - 8, y(tick) + 4, fmt::format("{:g}", tick), "end");
    }
    svg += text(gap, top - 10, "speed-up over cores");
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#aaa\" stroke-dasharray=\"4\"/>\n",
                       x(1), y(1), x(most_), y(most_));
    std::map<int, std::vector<const GridPoint*>> lines;  // by threads
    for (const GridPoint& point : points_) lines[point.threads].push_back(&point);
    std::size_t k = 0;
    for (const auto& [threads, line] : lines) {
      svg += text(gap + 12, top + 20 + 16 * static_cast<double>(k),
                  fmt::format("<tspan fill=\"{}\">{} thread{} per rank</tspan>", colour(k), threads,
                              threads == 1 ? "" : "s"));
      svg += draw(line, colour(k++));
    }
    return svg;
  }

 private:
  double place(double value) const {
    const double low = std::log2(least_);
    return (std::log2(value) - low) / std::max(1e-9, std::log2(most_) - low);
  }
  double x(double cores) const { return gap + side * place(cores); }
  double y(double speed_up) const { return top + side * (1 - place(speed_up)); }

  std::string draw(const std::vector<const GridPoint*>& line, const char* paint) const {
    std::string path;
    std::string dots;
    for (const GridPoint* point : line) {
      const double px = x(point->cores());
      const double py = y(scaling(points_, *point).speed_up);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", px, py);
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"/>\n", px, py, paint);
    }
    return fmt::format("<path d=\"{}\" stroke=\"{}\" fill=\"none\"/>\n", path, paint) + dots;
  }

  Points points_;
  double most_ = 2;
  double least_ = 1;
};

/// A bar of core-seconds by phases for every point: of equal length where the speed-up is ideal.
std::string draw_phases(Points points) {
  const double left = 2 * gap + side;
  double most = 0;
  for (const GridPoint& point : points) most = std::max(most, point.cores() * point.sample.seconds);
  const double height = side / static_cast<double>(points.size());
  std::string svg = text(left, top - 10, "core-seconds by phases, ranks x threads");
  for (std::size_t k = 0; k < points.size(); ++k) {
    const GridPoint& point = points[k];
    const double y = top + static_cast<double>(k) * height;
    svg += text(left - 6, y + 0.6 * height, fmt::format("{} x {}", point.ranks, point.threads), "end");
    double x = left;
    for (std::size_t phase = 0; phase < point.sample.phases.size(); ++phase) {
      const double width = side * std::max(0.0, point.sample.phases[phase].seconds) * point.cores() / most;
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                         x, y + 0.15 * height, width, 0.7 * height, colour(phase));
      x += width;
    }
  }
  double x = left;
  for (std::size_t phase = 0; phase < points.front().sample.phases.size(); ++phase) {
    const std::string& name = points.front().sample.phases[phase].name;
    svg += text(x, top + side + 18, fmt::format("<tspan fill=\"{}\">{}</tspan>", colour(phase), name));
    x += 8.0 * static_cast<double>(name.size() + 2);
  }
  return svg;
}

}  // namespace

std::string draw_grid(Points points, const std::string& title) {
  const double width = 2 * side + 3 * gap;
  const double height = top + side + gap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"30\" font-size=\"16\">{3}</text>\n",
      width, height, gap, title);
  if (!points.empty()) svg += SpeedUps(points).svg() + draw_phases(points);
  return svg + "</svg>\n";
}

}  // namespace ayatori::bench
