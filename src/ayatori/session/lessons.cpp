#include "ayatori/session/lessons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/json.hpp"

namespace ayatori::session {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

tuning::KnowledgeBase knowledge_base(const std::string& folder) {
  if (folder.empty()) throw InputError("--knowledge is empty: name a folder, or leave it out");
  const auto found = folder == "auto" ? tuning::default_knowledge_folder() : folder;
  if (found == "none") throw InputError("there is no knowledge base: name a folder with --knowledge");
  return tuning::KnowledgeBase(found);
}

tuning::KnowledgeBase::Content lessons_of(const tuning::KnowledgeBase& base, const std::string& key) {
  auto content = base.read();
  std::erase_if(content.lessons, [&](const auto& lesson) { return !lesson.key().starts_with(key); });
  if (content.lessons.empty() && !key.empty())
    throw InputError(fmt::format("{}: nothing is known by the key {}", base.folder(), key));
  return content;
}

std::string summary(const tuning::Lesson& lesson) {
  const auto& s = lesson.situation;
  return fmt::format("{}  {} x {}  {:.0e}  {} solve{}  {} failed  {}: {}", lesson.key(), s.ranks, s.threads,
                     s.rtol, lesson.solves, lesson.solves == 1 ? "" : "s", lesson.failed.size(),
                     lesson.source,
                     lesson.best ? fmt::format("{} in {:.3g} s", describe(*lesson.best), lesson.seconds)
                                 : "nothing has worked yet");
}

std::string text_of(std::span<const tuning::Lesson> lessons) {
  Json json = Json::array();
  for (const auto& lesson : lessons) json.push_back(to_json(lesson));
  return json.dump(2) + "\n";
}

int import_lessons(const tuning::KnowledgeBase& base, const std::string& path) {
  const auto json = naming(path, [&] { return read_ordered_json(path); });
  if (!json.is_array()) throw InputError(fmt::format("{}: no list of lessons", path));
  std::vector<tuning::Lesson> lessons;
  try {
    for (const Json& lesson : json) lessons.push_back(tuning::lesson_from_json(lesson));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: lesson {}: {}", path, lessons.size() + 1, error.what()));
  }
  for (auto& lesson : lessons) base.store(std::move(lesson));
  return static_cast<int>(lessons.size());
}

}  // namespace ayatori::session
