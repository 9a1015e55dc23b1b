#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ayatori/comm/comm.hpp"

namespace ayatori::io {

/// A file that all ranks write at the same time, each at its own places.
class SharedFile {
 public:
  virtual ~SharedFile() = default;

  /// Throws EnvironmentError. To a pipe, which has no places, one rank writes in ascending order.
  virtual void write(std::string_view bytes, std::int64_t offset) const = 0;
};

/// Collective. Every rank calls write(file), which makes no collective call; after that the file stands at
/// `path`, or, if anything failed on any rank, what stood there before. "-" is standard output, to which one
/// rank writes, as to a pipe. The ranks share the file system.
/// Throws EnvironmentError, agreed, naming `path`.
void write_shared_file(const comm::Comm& comm, const std::string& path,
                       const std::function<void(const SharedFile& file)>& write);

}  // namespace ayatori::io
