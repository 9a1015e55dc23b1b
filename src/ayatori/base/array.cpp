#include "ayatori/base/array.hpp"

#include <sys/mman.h>

namespace ayatori {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

bool wants_huge_pages(std::size_t bytes) {
  return bytes >= huge_page - huge_page / 8;
}

/// Blocks that nearly end with a huge page get the whole of it: small pages cost several times as much to
/// touch first.
std::size_t padded(std::size_t bytes) {
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  return whole - bytes <= whole / 8 ? whole : bytes;
}

std::align_val_t alignment_of(std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  return std::align_val_t{wants_huge_pages(bytes) ? huge_page : cache_line};
}

}  // namespace

void* allocate_untouched(std::size_t bytes) {
  void* memory = ::operator new(padded(bytes), alignment_of(bytes));
#ifdef MADV_HUGEPAGE
  if (wants_huge_pages(bytes))
    madvise(memory, padded(bytes), MADV_HUGEPAGE);  // advice: nothing is lost if it is not taken
#endif
  return memory;
}

void free_untouched(void* memory, std::size_t bytes) noexcept {
  ::operator delete(memory, alignment_of(bytes));
}

}  // namespace ayatori
