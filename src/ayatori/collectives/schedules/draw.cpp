#include "ayatori/collectives/schedules/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ayatori::collectives {

namespace {

std::string chunk_words(const Chunks& chunks) {
  std::string text;
  for (const ChunkRange& range : chunks) {
    text += text.empty() ? "" : ",";
    text += range.count() == 1 ? fmt::format("{}", range.begin)
                               : fmt::format("{}-{}", range.begin, range.end - 1);
  }
  return text;
}

/// Calls f(sender, step) for every message of a stage.
template <class F>
void for_messages(const Schedule& schedule, int stage, F&& f) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Step& step : schedule.steps[rank]) {
      if (step.stage == stage && step.kind == Step::Kind::send) f(rank, step);
    }
  }
}

/// Whether what this step sends is combined with what the receiver has.
bool is_reduced(const Schedule& schedule, int sender, const Step& step) {
  return std::ranges::any_of(schedule.steps[step.peer], [&](const Step& other) {
    return other.stage == step.stage && other.peer == sender && other.reduces();
  });
}

}  // namespace

std::string draw_text(const Schedule& schedule) {
  std::string text;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    std::string line;
    int messages = 0;
    int most = 0;
    for_messages(schedule, stage, [&](int rank, const Step& step) {
      const char* arrow = is_reduced(schedule, rank, step) ? "+>" : "->";
      line += fmt::format("  {}{}{}", rank, arrow, step.peer);
      if (schedule.chunks > 1) line += fmt::format("[{}]", chunk_words(step.chunks));
      if (step.rail != network::any_rail) line += fmt::format("/{}", step.rail);
      most = std::max(most, chunk_count(step.chunks));
      ++messages;
    });
    text += fmt::format("stage {:>2}: {} message{} of up to {}/{}\n{}\n", stage + 1, messages,
                        messages == 1 ? "" : "s", most, schedule.chunks, line);
  }
  return text;
}

std::string draw_svg(const Schedule& schedule, const std::string& title) {
  constexpr int left = 70;
  constexpr int top = 60;
  constexpr int column = 90;
  constexpr int row = 26;
  const int width = left + schedule.stages * column + 30;
  const int height = top + schedule.ranks * row + 20;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
      "markerHeight=\"8\" "
      "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" "
      "fill=\"context-stroke\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"22\" font-size=\"15\">{2}</text>\n",
      width, height, title);
  const auto y_of = [&](int rank) { return top + row / 2 + rank * row; };
  for (int stage = 0; stage < schedule.stages; ++stage) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">stage {}</text>\n",
                       left + stage * column + column / 2, top - 12, stage + 1);
  }
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    svg += fmt::format(
        "<text x=\"10\" y=\"{0}\">rank {1}</text><line x1=\"{2}\" y1=\"{3}\" x2=\"{4}\" y2=\"{3}\" "
        "stroke=\"#ddd\"/>\n",
        y_of(rank) + 4, rank, left, y_of(rank), width - 20);
  }
  for (int stage = 0; stage < schedule.stages; ++stage) {
    for_messages(schedule, stage, [&](int rank, const Step& step) {
      const double share = static_cast<double>(chunk_count(step.chunks)) / schedule.chunks;
      const int x = left + stage * column;
      const auto dashes =
          step.rail > 0 ? fmt::format(" stroke-dasharray=\"{} 3\"", 12 / step.rail + 1) : std::string();
      const auto by_rail =
          step.rail != network::any_rail ? fmt::format(", rail {}", step.rail) : std::string();
      svg += fmt::format(
          "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{} "
          "marker-end=\"url(#head)\"><title>{} to {}: chunks {}, {:.3g} of the buffer{}</title></line>\n",
          x + 12, y_of(rank), x + column - 12, y_of(step.peer),
          is_reduced(schedule, rank, step) ? "#b5482a" : "#2a6fb5", 0.6 + 3 * std::sqrt(share), dashes, rank,
          step.peer, chunk_words(step.chunks), share, by_rail);
    });
  }
  return svg + "</svg>\n";
}

}  // namespace ayatori::collectives
