#pragma once

#include <cstdint>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

/// The work vectors of a method: allocated once, before it iterates, and placed by the threads that first
/// write them.
template <class Real>
class WorkspaceOf {
 public:
  /// Collective. `count` vectors of `n` local elements, uninitialised. Throws EnvironmentError (agreed) when
  /// memory is missing on any rank.
  WorkspaceOf(const comm::Comm& comm, std::size_t n, int count);

  std::span<Real> operator[](int i) { return std::span<Real>(storage_).subspan(i * stride_, n_); }
  /// The vectors [first, first + size).
  BasisOf<Real> basis(int first, int size) const {
    return {storage_.data() + first * static_cast<std::int64_t>(stride_), static_cast<std::int64_t>(stride_),
            size};
  }

 private:
  std::size_t n_;
  std::size_t stride_;
  Array<Real> storage_;
};

extern template class WorkspaceOf<double>;
extern template class WorkspaceOf<float>;
using Workspace = WorkspaceOf<double>;

}  // namespace ayatori::solvers
