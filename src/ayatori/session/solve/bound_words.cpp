#include "ayatori/session/solve/bound_words.hpp"

#include <fmt/format.h>

namespace ayatori::session {

std::string limit_words(const std::vector<forecast::PhaseLimit>& phases) {
  std::string text;
  for (const auto& phase : phases) {
    text += text.empty() ? "Iterating: " : ", ";
    text += fmt::format("{} {:.3g} s", phase.name, phase.seconds);
    if (phase.limit) text += fmt::format(" ({:.1f} times the limit)", phase.distance());
  }
  return fmt::format("{}.\n{}\n", text, forecast::bound_sentence(phases));
}

nlohmann::ordered_json limit_json(const std::vector<forecast::PhaseLimit>& phases) {
  nlohmann::ordered_json json{{"phases", nlohmann::ordered_json::object()},
                              {"sentence", forecast::bound_sentence(phases)}};
  for (const auto& phase : phases) {
    auto& entry = json["phases"][std::string(phase.name)];
    entry["seconds"] = phase.seconds;
    if (phase.limit) entry["limit"] = *phase.limit;
  }
  return json;
}

}  // namespace ayatori::session
