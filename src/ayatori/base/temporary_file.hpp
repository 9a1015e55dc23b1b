#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace ayatori {

/// What a new file must outlive.
enum class Outlives {
  power_failure,  ///< it is flushed to disk, which takes milliseconds
  process         ///< a failure of the machine may leave a torn file
};

/// A result file while it is being written: a temporary name in the same folder, renamed to the final one by
/// commit(). Destroyed without commit(), it removes the temporary: a reader sees the old file or the whole
/// new one, never a part. A symbolic link stays one: the file that it names is replaced. A device, a pipe,
/// and what the process has open (/dev/stderr) are written directly. No folder is made.
class TemporaryFile {
 public:
  /// Creates the temporary beside `path`. Throws EnvironmentError naming `path` when that is impossible.
  explicit TemporaryFile(std::string path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Where to write until commit().
  const std::string& temporary_path() const { return temporary_; }

  /// Renames. Throws EnvironmentError.
  void commit(Outlives outlives = Outlives::power_failure);

 private:
  std::string path_;
  std::string temporary_;
  bool direct_ = false;  ///< temporary_ is path_
  bool committed_ = false;
};

/// Nobody writes for so long: an older temporary was left by a process that was killed.
inline constexpr std::chrono::hours abandoned_after{1};

/// Removes temporaries in a folder that have not been written to for `age`, of the files whose names are
/// `wanted`. What cannot be removed stays, silently: it is of no harm.
void remove_abandoned(const std::string& folder, const std::function<bool(std::string_view name)>& wanted,
                      std::chrono::seconds age = abandoned_after);

/// Writes a whole file under a temporary name and renames it; "-" is standard output. Throws
/// EnvironmentError.
void write_file(const std::string& path, std::string_view content,
                Outlives outlives = Outlives::power_failure);

/// Finds out before the work whether its result can be written to `path`: a file there would take some bytes.
/// Leaves what is there as it is. Throws EnvironmentError.
void check_writable(const std::string& path);

}  // namespace ayatori
