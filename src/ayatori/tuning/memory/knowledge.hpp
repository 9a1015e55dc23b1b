#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ayatori/tuning/memory/lesson.hpp"

namespace ayatori::tuning {

/// A folder of lessons, one file each, that many solves may read and write at the same time, also on a shared
/// file system: files are written whole under another name and renamed. Writers take turns by a lock on the
/// file `.lock`, so that of two that have the same lesson both are kept; where the file system has no locks,
/// or another writer does not let go of its own, the last one wins, and what the other learned is learned
/// again. Nothing here is collective: one rank acts.
class KnowledgeBase {
 public:
  explicit KnowledgeBase(std::string folder) : folder_(std::move(folder)) {}

  /// Lessons by key, and a line for every file that is none: torn, foreign, or of another version.
  struct Content {
    std::vector<Lesson> lessons;
    std::vector<std::string> ignored;
  };
  /// Content of all files whose keys begin so. Empty where there is no folder. Throws EnvironmentError if
  /// there is one that cannot be read.
  Content read(std::string_view key = "") const;

  /// Adds to what the file of the same key holds, and makes the folder if need be. Removes what writers that
  /// were killed have left. Gives the path. Throws EnvironmentError.
  std::string store(Lesson lesson) const;

  /// Removes lessons whose keys begin so; gives how many. Throws EnvironmentError.
  int forget(std::string_view key) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(const std::string& key) const { return folder_ + "/" + key + ".json"; }

  std::string folder_;
};

/// AYATORI_KNOWLEDGE, or ayatori/knowledge in XDG_DATA_HOME, or in ~/.local/share; "none" for none at all.
std::string default_knowledge_folder();

}  // namespace ayatori::tuning
