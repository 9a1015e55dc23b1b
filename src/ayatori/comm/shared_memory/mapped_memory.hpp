#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace ayatori::comm {

/// Memory of the processes of a node that all of them see: a part of each. It begins with zeros.
///
/// The kernel is asked for all of it before anybody counts on it. A window of the MPI would be less: where
/// /dev/shm is full Open MPI waits for ever in MPI_Win_allocate_shared, and MPICH dies when it writes there;
/// the first allows it to one thread at a time; and all ranks have to meet to free one.
class MappedMemory {
 public:
  /// Collective over the processes of a node: gives what each of them says, in their order, to all.
  using Tell = std::function<std::vector<std::int64_t>(std::int64_t)>;
  /// Where it may come from, the best first: the kernel's own, which no file system limits, but which cannot
  /// be opened by processes of other containers; a file in /dev/shm, which is gone as soon as all have it.
  enum class Source { kernel, dev_shm };
  static constexpr Source sources[] = {Source::kernel, Source::dev_shm};

  /// Collective over the processes of a node, of which this one is number `own`. `bytes` may differ; a
  /// process that wants none at all says less than nothing. Nothing, on all of them, if there is none.
  static std::optional<MappedMemory> make(int own, std::int64_t bytes, const Tell& tell,
                                          std::span<const Source> from = sources);

  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&& other) noexcept;
  /// Unmaps the memory of this process alone: others keep theirs.
  ~MappedMemory();

  /// Part of a process of the node, on a page of its own.
  std::byte* part(int number) const { return begin_ + places_[number]; }

 private:
  MappedMemory(std::byte* begin, std::vector<std::int64_t> places)
      : begin_(begin), places_(std::move(places)) {}

  std::byte* begin_;
  std::vector<std::int64_t> places_;  ///< where parts begin, and where the last one ends
};

}  // namespace ayatori::comm
