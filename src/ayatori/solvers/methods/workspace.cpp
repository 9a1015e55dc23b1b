#include "ayatori/solvers/methods/workspace.hpp"

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

/// Elements from one vector to the next: whole cache lines, and no multiple of a page, so that the same
/// element of several vectors does not compete for one set of the cache.
std::size_t padded(std::size_t n) {
  constexpr std::size_t line = 8;
  constexpr std::size_t page = 512;
  const std::size_t lines = (n + line - 1) / line * line;
  return lines % page == 0 ? lines + line : lines;
}

}  // namespace

Workspace::Workspace(const comm::Comm& comm, std::size_t n, int count)
    : n_(n),
      stride_(padded(n)),
      storage_(comm::agree(comm, [&] { return Array<double>(stride_ * count); })) {}

}  // namespace ayatori::solvers
