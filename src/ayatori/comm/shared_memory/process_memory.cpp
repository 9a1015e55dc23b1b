#include "ayatori/comm/shared_memory/process_memory.hpp"

#include <chrono>
#include <thread>

#include <unistd.h>

#ifdef AYATORI_HAS_PROCESS_VM_READV
#include <sys/uio.h>
#endif

namespace ayatori::comm {

namespace {

/// What no other process has at that place.
std::uint64_t own_word() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) * 4194304 + static_cast<std::uint64_t>(getpid());
}

/// Waits until a process has come so far.
int await(const Introduction& of_process, int step) {
  int now = 0;
  while ((now = of_process.step.load(std::memory_order_acquire)) < step) std::this_thread::yield();
  return now;
}

}  // namespace

ProcessMemory::ProcessMemory(std::span<Introduction* const> of_processes, int own) {
  const std::uint64_t word = own_word();
  Introduction& mine = *of_processes[own];
  mine.process = getpid();
  mine.place = &word;
  mine.word = word;
  mine.step.store(Introduction::introduced, std::memory_order_release);
  bool can_read = true;
  for (const Introduction* other : of_processes) {
    await(*other, Introduction::introduced);
    processes_.push_back(other->process);
    std::uint64_t found = 0;
    const auto* const place = reinterpret_cast<const std::byte*>(other->place);
    const auto number = static_cast<int>(std::ssize(processes_)) - 1;
    const auto length = read(number, place, std::as_writable_bytes(std::span(&found, 1)));
    can_read = can_read && length == sizeof found && found == other->word;
  }
  mine.step.store(can_read ? Introduction::can_read_all : Introduction::cannot_read_all,
                  std::memory_order_release);
  // Nobody goes on, and takes its word along, before all have looked.
  for (const Introduction* other : of_processes)
    can_read = await(*other, Introduction::can_read_all) == Introduction::can_read_all && can_read;
  if (!can_read) processes_.clear();
}

std::int64_t ProcessMemory::read(int number, const std::byte* from, std::span<std::byte> to) const {
#ifdef AYATORI_HAS_PROCESS_VM_READV
  std::int64_t length = 0;
  while (length < std::ssize(to)) {
    const iovec place{to.data() + length, to.size() - length};
    // The call takes sources and destinations by the same type, which has no const.
    const iovec source{const_cast<std::byte*>(from) + length, to.size() - length};
    const auto copied = process_vm_readv(processes_[number], &place, 1, &source, 1, 0);
    if (copied <= 0) break;
    length += copied;
  }
  return length;
#else
  (void)number;
  (void)from;
  (void)to;
  return 0;
#endif
}

}  // namespace ayatori::comm
