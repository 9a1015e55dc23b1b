#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace ayatori {

/// Allocates on cache-line boundaries and leaves elements of trivial types uninitialised, so that a page
/// belongs to the memory of the thread that first writes it (first touch) and resize() costs no pass over the
/// data.
template <class T>
class FirstTouchAllocator {
 public:
  using value_type = T;
  static constexpr std::align_val_t alignment{64};

  FirstTouchAllocator() = default;
  template <class U>
  FirstTouchAllocator(const FirstTouchAllocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, alignment); }

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
