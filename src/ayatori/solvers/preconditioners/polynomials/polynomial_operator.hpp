#pragma once

#include <array>
#include <utility>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_products.hpp"
#include "ayatori/sparse/products/block_operator.hpp"

namespace ayatori::solvers {

/// What preconditioners y = p(D^-1 A) D^-1 x with a polynomial p have in common: products with one vector or
/// blocks of them, D^-1, and `vectors` vectors or blocks to work with. Derived has
/// `template <int Width> void apply_polynomial(std::span<const double> x, std::span<double> y) const`.
template <class Derived, int vectors>
class PolynomialOperator : public sparse::LinearOperator, public sparse::BlockOperator {
 public:
  void apply(std::span<const double> x, std::span<double> y) const override {
    derived().template apply_polynomial<1>(x, y);
  }
  void apply_block(std::span<const double> x, std::span<double> y, int width) const override {
    if (width > room_) comm::agree(comm_, [&] { make_room(width); });
    sparse::with_width(width, [&](auto w) { derived().template apply_polynomial<w()>(x, y); });
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(inverse_.size()); }

 protected:
  PolynomialOperator(const sparse::DistributedMatrix& matrix, Array<double> inverse)
      : comm_(matrix.comm()), matrix_(matrix), inverse_(std::move(inverse)) {
    make_room(1);
  }

  /// Collective. Y = A X.
  void multiply(std::span<const double> x, std::span<double> y, int width) const {
    matrix_.apply(x, y, width);
  }
  /// body(D^-1 of the row, element) for all elements of a block, rows shared by the threads.
  template <int Width, class F>
  void for_each(F&& body) const {
    parallel_for(local_size(), [&](std::int64_t i) {
      for (std::int64_t k = i * Width; k < (i + 1) * Width; ++k) body(inverse_[i], k);
    });
  }
  /// A block to work with.
  template <int Width>
  std::span<double> work(int number) const {
    return std::span<double>(work_[number]).first(inverse_.size() * Width);
  }

 private:
  const Derived& derived() const { return static_cast<const Derived&>(*this); }

  void make_room(int width) const {
    room_ = width;
    for (Array<double>& block : work_) {
      block.resize(std::int64_t{local_size()} * width);
      parallel_for(local_size(), [&](std::int64_t i) {
        for (std::int64_t k = i * width; k < (i + 1) * width; ++k) block[k] = 0;
      });
    }
  }

  comm::Comm comm_;
  BlockProducts matrix_;
  Array<double> inverse_;  ///< D^-1, or a multiple of it
  mutable std::array<Array<double>, vectors> work_;
  mutable int room_ = 0;  ///< vectors of a block that there is memory for
};

}  // namespace ayatori::solvers
