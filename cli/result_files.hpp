#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/comm/comm.hpp"

namespace ayatori::cli {

/// Results on their way to files. What a disk that is full by now does not take, after hours of work, goes to
/// a second place: a new folder ayatori-XXXXXX in the current directory, or in that for temporary files. All
/// members are collective.
class ResultFiles {
 public:
  explicit ResultFiles(const comm::Comm& comm) : comm_(comm) {}

  /// Writes the rows that `comm` holds, each rank its own.
  using WriteArray =
      std::function<void(const comm::Comm& comm, const std::string& path, std::span<const double> local)>;

  /// Has an array written, of which every rank holds a part, in the order of ranks. `what` is what messages
  /// call it. Gives the name of the file that it is in; empty if there is none.
  std::string write_array(const std::string& path, std::string_view what, std::span<const double> local,
                          const WriteArray& write);

  /// The same of a text, which is made on rank 0. `otherwise` is as below.
  std::string write_text(const std::string& path, std::string_view what,
                         const std::function<std::string()>& make, const char* otherwise = "result.json");

  /// Throws EnvironmentError, agreed, if anything is not in the file where it should be: says where it is.
  void finish() const;

 private:
  /// `otherwise` is the name of the file where standard output has none.
  std::string write_elsewhere(const std::string& path, const char* otherwise, std::string_view what,
                              const std::string& why,
                              const std::function<void(const std::string& path)>& write);

  const comm::Comm& comm_;
  std::vector<std::string> failures_;
};

}  // namespace ayatori::cli
