#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ayatori/comm/comm.hpp"
#include "ayatori/eigen/davidson.hpp"
#include "ayatori/eigen/projected.hpp"

namespace ayatori::eigen {

/// An operator that is known by its products, in an inner product (x, B y).
struct ProjectedOperator {
  std::int64_t n = 0;
  Range rows;     ///< rows of this rank
  Product apply;  ///< must be self-adjoint in the inner product for `lanczos`
  Product inner;  ///< B x, B symmetric positive definite; empty: the identity
};

/// Collective. Throws InputError unless there can be `count` eigenvalues, and `start` is of this rank's rows
/// or empty.
void check_wanted(const comm::Comm& comm, const ProjectedOperator& a, std::int64_t count,
                  std::span<const double> start);

/// The basis of a Krylov decomposition: orthonormal vectors in the operator's inner product, orthogonalized
/// in full, by classical Gram-Schmidt as often as it takes. The operator is taken times a power of two that
/// makes its first product about 1. Collective throughout.
class KrylovBasis {
 public:
  KrylovBasis(const comm::Comm& comm, const ProjectedOperator& a, std::int64_t capacity);

  /// Column k becomes the operator's product with column k - 1, made orthonormal to those before it. `h` (k
  /// elements) gets the coefficients. Returns the norm of what is new in it, 0 where that is rounding: then
  /// the column is no vector.
  double extend(std::int64_t k, std::span<double> h);
  /// Column k becomes a random vector, or `start` if that is given, orthonormal to those before it. False if
  /// there is none.
  bool start(std::int64_t k, std::span<const double> start = {});

  Columns& columns() { return v_; }
  std::int64_t n() const { return a_.n; }
  const comm::Comm& comm() const { return comm_; }
  std::int64_t products() const { return products_; }
  double unit() const { return unit_; }  ///< eigenvalues are times this

 private:
  double orthonormalize(std::int64_t k, std::span<double> h);
  void find_unit(std::span<const double> product);

  const comm::Comm& comm_;
  const ProjectedOperator& a_;
  Columns v_;
  Array<double> image_;  ///< B x
  double unit_ = 1;
  double largest_ = 0;  ///< norm of a product so far
  std::uint64_t randoms_ = 1;
  std::int64_t products_ = 0;
};

}  // namespace ayatori::eigen
