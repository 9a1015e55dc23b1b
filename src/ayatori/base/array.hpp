#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace ayatori {

/// Uninitialised memory on a cache-line boundary. Blocks of about a huge page or more ask the kernel for
/// such: far fewer faults when they are first touched, and fewer address translations when they are streamed
/// through. Throws std::bad_alloc.
void* allocate_untouched(std::size_t bytes);

/// Gives back what allocate_untouched(bytes) gave.
void free_untouched(void* memory, std::size_t bytes) noexcept;

/// Allocates on cache-line boundaries and leaves elements of trivial types uninitialised, so that a page
/// belongs to the memory of the thread that first writes it (first touch) and resize() costs no pass over the
/// data.
template <class T>
class FirstTouchAllocator {
 public:
  using value_type = T;

  FirstTouchAllocator() = default;
  template <class U>
  FirstTouchAllocator(const FirstTouchAllocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_untouched(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept { free_untouched(p, n * sizeof(T)); }

  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    if constexpr (sizeof...(Args) == 0) {
      ::new (static_cast<void*>(p)) U;
    } else {
      ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
    }
  }
  template <class U>
  bool operator==(const FirstTouchAllocator<U>&) const noexcept {
    return true;
  }
};

/// A std::vector whose new elements are uninitialised: Array<double>(n) must be written before it is read;
/// Array<double>(n, 0.0) is initialised by the calling thread.
template <class T>
using Array = std::vector<T, FirstTouchAllocator<T>>;

}  // namespace ayatori
