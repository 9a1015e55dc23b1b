#pragma once

#include <cstdint>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

/// The work vectors of a method: allocated once, before it iterates, and placed by the threads that first
/// write them.
class Workspace {
 public:
  /// Collective. `count` vectors of `n` local elements, uninitialised. Throws EnvironmentError (agreed) when
  /// memory is missing on any rank.
  Workspace(const comm::Comm& comm, std::size_t n, int count);

  Vector operator[](int i) { return Vector(storage_).subspan(i * stride_, n_); }
  /// The vectors [first, first + size).
  Basis basis(int first, int size) const {
    return {storage_.data() + first * static_cast<std::int64_t>(stride_), static_cast<std::int64_t>(stride_),
            size};
  }

 private:
  std::size_t n_;
  std::size_t stride_;
  Array<double> storage_;
};

}  // namespace ayatori::solvers
