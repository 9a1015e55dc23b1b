#include "ayatori/session/report/page.hpp"

#include <set>
#include <string_view>

#include "ayatori/base/json.hpp"
#include "ayatori/collectives/schedules/draw.hpp"
#include "ayatori/collectives/words/plan_json.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "ayatori/session/report/template.hpp"

namespace ayatori::session {

namespace {

using nlohmann::ordered_json;

constexpr int most_ranks_drawn = 64;
constexpr std::size_t most_drawings = 12;

/// Pictures of the schedules that a search has found best, each once.
void add_drawings(ordered_json& result) {
  std::set<std::string> drawn;
  for (const auto& entry : result.value("best", ordered_json::array())) {
    const auto plan = collectives::plan_of(entry.at("plan"));
    const auto text = describe(plan);
    if (plan.ranks > most_ranks_drawn || drawn.size() >= most_drawings || !drawn.insert(text).second)
      continue;
    result["drawings"].push_back({{"text", text}, {"svg", draw_svg(expand(plan), text)}});
  }
}

ordered_json read(const NamedText& file) {
  if (file.text.find("<svg") != std::string::npos && file.text.front() == '<')
    return {{"schema", "drawing"}, {"text", file.name}, {"svg", file.text}};
  return naming(file.name + ": no result of ayatori", [&] {
    auto result = parse_ordered_json(file.text);
    const auto schema = result.is_object() ? result.value("schema", std::string()) : std::string();
    if (!schema.starts_with("ayatori.")) throw InputError("there is no schema in it");
    if (schema == "ayatori.collective-schedules/1") add_drawings(result);
    return result;
  });
}

/// As it may stand in a script element: nothing in it can end that.
std::string embedded(const ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', false, ordered_json::error_handler_t::replace))
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string report_page(const std::vector<NamedText>& results) {
  if (results.empty()) throw InputError("a report wants at least one result");
  auto data = ordered_json::array();
  for (const auto& file : results) data.push_back({{"name", file.name}, {"result", read(file)}});
  constexpr std::string_view place = "@DATA@";
  std::string page(report_template);
  return page.replace(page.find(place), place.size(), embedded(data));
}

}  // namespace ayatori::session
