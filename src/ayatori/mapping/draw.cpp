#include "ayatori/mapping/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ayatori/mapping/heat_map.hpp"

namespace ayatori::mapping {

namespace {

constexpr double side = 480;  ///< length of each picture's side
constexpr double gap = 60;
constexpr double top = 90;

/// From light yellow over red to black, for shares from 0 to 1.
std::string colour(double share) {
  const double t = std::clamp(share, 0.0, 1.0);
  const auto part = [](double x) { return static_cast<int>(std::lround(255 * std::clamp(x, 0.0, 1.0))); };
  return fmt::format("#{:02x}{:02x}{:02x}", part(1.9 - 1.8 * t), part(0.95 - 1.35 * t), part(0.7 - 1.6 * t));
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

/// Borders of nodes, as lines across the picture; none where they would cover it.
std::string borders(const Evaluation& evaluation, double x, double y) {
  constexpr int most_nodes = 48;
  std::vector<int> count(evaluation.network().nodes(), 0);
  for (const int node : evaluation.placement()) ++count[node];
  if (std::ranges::count_if(count, [](int ranks) { return ranks > 0; }) > most_nodes) return "";
  std::string path;
  double place = 0;
  for (const int ranks : count) {
    place += ranks;
    const double at = side * place / evaluation.graph().ranks();
    path += fmt::format("M{:.1f} {:.1f}v{:.0f}M{:.1f} {:.1f}h{:.0f}", x + at, y, side, x, y + at, side);
  }
  return fmt::format("<path d=\"{}\" stroke=\"#9ab\" stroke-width=\"0.5\" fill=\"none\"/>\n", path);
}

std::string draw(const HeatMap& map, double most, double x, double y) {
  std::string svg =
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n", x,
                  y, side, side);
  const double cell = side / map.cells;
  for (int row = 0; row < map.cells; ++row) {
    for (int column = 0; column < map.cells; ++column) {
      const double bytes = map.bytes[row * static_cast<std::size_t>(map.cells) + column];
      if (bytes == 0) continue;
      svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                         x + column * cell, y + row * cell, cell, cell, colour(std::sqrt(bytes / most)));
    }
  }
  return svg;
}

/// The links, both directions as two lines beside each other; the busiest ones last, on top.
std::string draw_links(const Evaluation& evaluation, double most_seconds, double x, double y) {
  const auto& network = evaluation.network();
  std::vector<int> order(network.links().size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int link) { return evaluation.link_seconds(link); });
  std::string svg;
  for (const int link : order) {
    const auto [from, to, width] = network.links()[link];
    const double share = most_seconds > 0 ? evaluation.link_seconds(link) / most_seconds : 0;
    const network::Point a = network.position(from);
    const network::Point b = network.position(to);
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const double aside = length > 0 ? 0.0025 / length : 0;
    const double dx = -(b.y - a.y) * aside;
    const double dy = (b.x - a.x) * aside;
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-width=\"{:.1f}\"/>\n",
                       x + side * (a.x + dx), y + side * (a.y + dy), x + side * (b.x + dx),
                       y + side * (b.y + dy), share > 0 ? colour(share) : "#eee", 0.5 + 2.5 * share);
  }
  return svg;
}

}  // namespace

std::string draw_svg(const Evaluation& before, const Evaluation& after, const std::string& title) {
  const double width = 2 * side + 3 * gap;
  const double height = top + 2 * side + 2 * gap;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"30\" font-size=\"16\">{3}</text>\n",
      width, height, gap, escaped(title));
  constexpr int most_cells = 192;
  const HeatMap maps[2] = {heat_map(before, most_cells), heat_map(after, most_cells)};
  const double most = std::max(maps[0].most, maps[1].most);
  double most_seconds = 0;
  for (const Evaluation* evaluation : {&before, &after}) {
    for (std::size_t link = 0; link < evaluation->network().links().size(); ++link)
      most_seconds = std::max(most_seconds, evaluation->link_seconds(static_cast<int>(link)));
  }
  const Evaluation* evaluations[2] = {&before, &after};
  for (int k = 0; k < 2; ++k) {
    const double x = gap + k * (side + gap);
    const auto& evaluation = *evaluations[k];
    const Metrics metrics = evaluation.metrics();
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\">{}: {:.1f} % of messages, {:.1f} % of bytes inside nodes</text>\n", x,
        top - 12, k == 0 ? "in the order of ranks" : "placed",
        100.0 * static_cast<double>(metrics.inside.messages) /
            static_cast<double>(std::max<std::int64_t>(1, metrics.total.messages)),
        100.0 * static_cast<double>(metrics.inside.bytes) /
            static_cast<double>(std::max<std::int64_t>(1, metrics.total.bytes)));
    svg += draw(maps[k], most, x, top);
    svg += borders(evaluation, x, top);
    const double below = top + side + gap;
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\">links: the busiest takes {:.3g} us, a message {:.2f} hops</text>\n", x,
        below - 12, 1e6 * metrics.link_seconds, metrics.mean_hops);
    svg += draw_links(evaluation, most_seconds, x, below);
  }
  return svg + "</svg>\n";
}

}  // namespace ayatori::mapping
