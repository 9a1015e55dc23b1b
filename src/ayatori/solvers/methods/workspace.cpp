#include "ayatori/solvers/methods/workspace.hpp"

#include "ayatori/comm/agree.hpp"

namespace ayatori::solvers {

namespace {

/// Elements from one vector to the next: whole cache lines, and no multiple of a page, so that the same
/// element of several vectors does not compete for one set of the cache.
template <class Real>
std::size_t padded(std::size_t n) {
  constexpr std::size_t line = 64 / sizeof(Real);
  constexpr std::size_t page = 4096 / sizeof(Real);
  const std::size_t lines = (n + line - 1) / line * line;
  return lines % page == 0 ? lines + line : lines;
}

}  // namespace

template <class Real>
WorkspaceOf<Real>::WorkspaceOf(const comm::Comm& comm, std::size_t n, int count)
    : n_(n),
      stride_(padded<Real>(n)),
      storage_(comm::agree(comm, [&] { return Array<Real>(stride_ * count); })) {}

template class WorkspaceOf<double>;
template class WorkspaceOf<float>;

}  // namespace ayatori::solvers
