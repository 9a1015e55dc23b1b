#include "ayatori/base/array.hpp"

#include <sys/mman.h>

namespace ayatori {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

bool wants_huge_pages(std::size_t bytes) {
  return bytes >= 2 * huge_page;
}

std::align_val_t alignment_of(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  return std::align_val_t{wants_huge_pages(bytes) ? huge_page : cache_line};
}

}  // namespace

void* allocate_untouched(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment_of(bytes));
#ifdef MADV_HUGEPAGE
  if (wants_huge_pages(bytes))
    madvise(memory, bytes, MADV_HUGEPAGE);  // advice: nothing is lost if it is not taken
#endif
  return memory;
}

void free_untouched(void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, alignment_of(bytes));
}

}  // namespace ayatori
