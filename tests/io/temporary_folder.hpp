#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::io {

/// A folder for the files of a test, the same on all ranks; removed with everything in it. Made and destroyed
/// collectively.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(comm::Comm comm) : comm_(std::move(comm)) {
    comm::agree(comm_, [&] {
      std::string name = (std::filesystem::temp_directory_path() / "ayatori-test-XXXXXX").string();
      if (comm_.rank() == 0 && mkdtemp(name.data()) == nullptr) throw EnvironmentError("no temporary folder");
      path_ = name;
    });
    path_ = comm_.broadcast(path_, 0);
  }
  ~TemporaryFolder() {
    comm_.barrier();
    if (comm_.rank() == 0) std::filesystem::remove_all(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }

  /// Collective. Makes a file of this content; gives its path.
  std::string file(const std::string& name, const std::string& content) const {
    if (comm_.rank() == 0) std::ofstream(path(name), std::ios::binary) << content;
    comm_.barrier();
    return path(name);
  }

 private:
  comm::Comm comm_;
  std::string path_;
};

/// The bytes of a file.
inline std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace ayatori::io
