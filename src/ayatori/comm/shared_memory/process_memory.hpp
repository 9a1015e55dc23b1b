#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ayatori::comm {

/// What a process says of itself to the others of its node, in memory that all of them see; zeros before.
struct alignas(64) Introduction {
  enum Step : int { none, introduced, can_read_all, cannot_read_all };
  std::atomic<int> step;
  int process;                 ///< as the kernel names it
  const std::uint64_t* place;  ///< address of a word in its memory
  std::uint64_t word;          ///< that is there
};

/// The memory of the processes of a node, out of which the kernel copies, where it has a call for that
/// (process_vm_readv: cross-memory attach) and allows it: not to other users, nor under some security modules
/// and in some containers, nor by names of processes that mean others there.
class ProcessMemory {
 public:
  /// Memory of no process.
  ProcessMemory() = default;
  /// Collective over the processes of a node: each tries to read a word of every other.
  ProcessMemory(std::span<Introduction* const> of_processes, int own);

  /// Whether every process can read of every other; the same on all.
  bool is_readable() const { return !processes_.empty(); }
  /// Copies from the memory of a process, by its number. Returns how many bytes: fewer where what comes next
  /// is not to be had.
  std::int64_t read(int number, const std::byte* from, std::span<std::byte> to) const;

 private:
  std::vector<int> processes_;  ///< empty if they cannot be read
};

}  // namespace ayatori::comm
