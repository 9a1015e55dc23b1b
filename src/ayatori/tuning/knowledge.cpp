#include "ayatori/tuning/knowledge.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/temporary_file.hpp"

namespace ayatori::tuning {

namespace {

/// The lesson of a file. Throws InputError.
Lesson read_lesson(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw InputError("cannot be read");
  auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) throw InputError("no JSON");
  return lesson_from_json(json);
}

std::vector<std::string> json_files(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return paths;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder, error.message()));
  for (const auto& entry : entries) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

KnowledgeBase::Content KnowledgeBase::read() const {
  Content content;
  for (const std::string& path : json_files(folder_)) {
    try {
      Lesson lesson = read_lesson(path);
      if (std::filesystem::path(path).stem() != lesson.key())
        throw InputError("not the file of the lesson in it");
      content.lessons.push_back(std::move(lesson));
    } catch (const InputError& error) {
      std::error_code gone;
      if (!std::filesystem::exists(path, gone)) continue;  // forgotten while the folder was read
      content.ignored.push_back(fmt::format("{}: ignored: {}", path, error.what()));
    }
  }
  return content;
}

std::string KnowledgeBase::store(Lesson lesson) const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw EnvironmentError(fmt::format("{}: cannot be made: {}", folder_, error.message()));
  std::string path = path_of(lesson.key());
  try {
    const Lesson older = read_lesson(path);
    lesson = merge(older, std::move(lesson));
  } catch (const InputError&) {
    // none yet, or a torn one, which the new one replaces
  }
  write_file(path, to_json(lesson).dump(2) + "\n");
  return path;
}

int KnowledgeBase::forget(std::string_view key) const {
  int count = 0;
  for (const std::string& path : json_files(folder_)) {
    const std::string name = std::filesystem::path(path).stem().string();
    if (!name.starts_with(key)) continue;
    std::error_code error;
    if (std::filesystem::remove(path, error)) ++count;
    if (error) throw EnvironmentError(fmt::format("{}: cannot be removed: {}", path, error.message()));
  }
  return count;
}

std::string default_knowledge_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (auto folder = variable("AYATORI_KNOWLEDGE"); !folder.empty()) return folder;
  std::string data = variable("XDG_DATA_HOME");
  if (data.empty() && !variable("HOME").empty()) data = variable("HOME") + "/.local/share";
  return data.empty() ? "none" : data + "/ayatori/knowledge";
}

}  // namespace ayatori::tuning
