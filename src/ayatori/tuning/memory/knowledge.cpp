#include "ayatori/tuning/memory/knowledge.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "ayatori/base/json.hpp"
#include "ayatori/base/temporary_file.hpp"

namespace ayatori::tuning {

namespace {

/// The lesson of a file. Throws InputError.
Lesson read_lesson(const std::string& path) {
  constexpr std::int64_t most_bytes = 1 << 20;
  return lesson_from_json(read_ordered_json(path, most_bytes));
}

/// A lesson takes the place of another one, of a torn one, or of nothing: not of a link, a pipe or a device,
/// through which it would go elsewhere, or wait for ever.
void check_place(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular)
    throw EnvironmentError(fmt::format("{}: is not a regular file: the lesson is not kept", path));
}

/// This writer's turn in a folder. Of processes and of threads: the lock belongs to the descriptor.
class Turn {
 public:
  explicit Turn(const std::string& folder)
      : lock_(
            open((folder + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666)) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;  // no locks here
      if (std::chrono::steady_clock::now() > deadline) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~Turn() {
    if (lock_ >= 0) close(lock_);  // which gives the lock back
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static constexpr std::chrono::seconds patience{2};

  int lock_;
};

/// Those of keys that begin so.
std::vector<std::string> files_of(const std::string& folder, std::string_view key) {
  std::vector<std::string> paths;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return paths;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder, error.message()));
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (name.starts_with(key) && name.ends_with(".json")) paths.push_back(entries->path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

KnowledgeBase::Content KnowledgeBase::read(std::string_view key) const {
  Content content;
  for (const std::string& path : files_of(folder_, key)) {
    try {
      Lesson lesson = read_lesson(path);
      if (std::filesystem::path(path).stem() != lesson.key())
        throw InputError("not the file of the lesson in it");
      content.lessons.push_back(std::move(lesson));
    } catch (const InputError& error) {
      std::error_code gone;
      if (!std::filesystem::exists(std::filesystem::symlink_status(path, gone)))
        continue;  // forgotten while the folder was read
      content.ignored.push_back(printable(fmt::format("{}: ignored: {}", path, error.what())));
    }
  }
  return content;
}

std::string KnowledgeBase::store(Lesson lesson) const {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw EnvironmentError(fmt::format("{}: cannot be made: {}", folder_, error.message()));
  const Turn turn(folder_);
  remove_abandoned(folder_, [](std::string_view name) { return name.ends_with(".json"); });
  std::string path = path_of(lesson.key());
  check_place(path);
  try {
    const Lesson older = read_lesson(path);
    lesson = merge(older, std::move(lesson));
  } catch (const InputError&) {
    // none yet, or a torn one, which the new one replaces
  }
  write_file(path, to_json(lesson).dump(2) + "\n", Outlives::process);  // a torn lesson is learned again
  return path;
}

int KnowledgeBase::forget(std::string_view key) const {
  int count = 0;
  for (const std::string& path : files_of(folder_, key)) {
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
