#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/factorizations/between_blocks.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/ilu0.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {

/// y = M x with M the block diagonal of (L D U)^-1, one block per contiguous range of rows. A thread solves
/// with the blocks that it has factored, without a barrier in between. Traffic: 12 bytes per off-diagonal
/// entry of the blocks, 16 per row, and 40 per row for x and y; of complex numbers 20, 24 and 80. Split, with
/// the product: 32 and 88 per row, and what stands outside of the blocks.
template <class Scalar>
class BlockFactors final : public sparse::LinearOperator, public SplitForm {
 public:
  /// blocks = 0: one per thread, and the rows of that thread in vector operations. factor(rows) gives the
  /// factors of the block of these rows; it may throw.
  template <class Factor>
  BlockFactors(const sparse::DistributedMatrix& matrix, std::int32_t rows, int blocks, const Factor& factor)
      : matrix_(matrix), rows_(rows), factors_(blocks > 0 ? blocks : threads_for(rows)) {
    FirstException exception;
    for_each_block([&](int b) { exception.guard([&] { factors_[b] = factor(rows_of(b)); }); });
    exception.rethrow();
    if (!std::ranges::all_of(factors_, &Ilu0Of<Scalar>::holds_triangles)) return;
    std::vector<Range> ranges;
    for (int b = 0; b < static_cast<int>(factors_.size()); ++b) ranges.push_back(rows_of(b));
    between_ = std::make_unique<const BetweenBlocks>(matrix.interior(), ranges);
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    for_each_block([&](int b) { factors_[b].solve(part<const Scalar>(x, b), part<Scalar>(y, b)); });
  }

  // Split, where all ranks can:
  void apply(std::span<const double> x, std::span<double> z, std::span<double> w,
             std::span<double> u) const override {
    for_each_block([&](int b) {
      factors_[b].solve_upper(part<const Scalar>(x, b), part<Scalar>(z, b), part<Scalar>(w, b),
                              u.empty() ? std::span<Scalar>() : part<Scalar>(u, b));
    });
    between_->add_product(z, w);
    matrix_.add_halo_product(z, w);
    for_each_block([&](int b) { factors_[b].finish_product(part<const Scalar>(z, b), part<Scalar>(w, b)); });
  }
  void to_split(std::span<double> r) const override {
    for_each_block([&](int b) { factors_[b].solve_lower(part<Scalar>(r, b)); });
  }
  void from_split(std::span<const double> seen, std::span<double> r) const override {
    for_each_block(
        [&](int b) { factors_[b].multiply_lower(part<const Scalar>(seen, b), part<Scalar>(r, b)); });
  }
  std::int32_t local_size() const override {
    return rows_ * static_cast<std::int32_t>(sizeof(Scalar) / sizeof(double));
  }

  /// Where the factors of all blocks of this rank hold the triangles of the matrix; else nothing.
  const SplitForm* split() const { return between_ != nullptr ? this : nullptr; }
  const std::vector<Ilu0Of<Scalar>>& factors() const { return factors_; }
  Range rows_of(int b) const { return split_evenly(rows_, static_cast<std::int64_t>(factors_.size()), b); }

 private:
  template <class F>
  void for_each_block(F&& f) const {
    block_for(static_cast<int>(factors_.size()), rows_, f);
  }
  template <class Element, class Number>
  std::span<Element> part(std::span<Number> vector, int b) const {
    const Range rows = rows_of(b);
    return as<Scalar>(vector).subspan(rows.begin, rows.size());
  }

  const sparse::DistributedMatrix& matrix_;
  std::int32_t rows_;
  std::vector<Ilu0Of<Scalar>> factors_;
  std::unique_ptr<const BetweenBlocks> between_;  ///< where the factors hold the triangles
};

/// `op` as a preconditioner, with its split form where this rank has one.
template <class Operator>
BuiltPreconditioner built(std::unique_ptr<Operator> op) {
  const SplitForm* const split = op->split();
  return {.op = std::move(op), .split = split};
}

/// Collective. There is a split form where all ranks have one.
inline void agree_on_split(const comm::Comm& comm, BuiltPreconditioner& made) {
  if (comm.any(made.split == nullptr)) made.split = nullptr;
}

}  // namespace ayatori::solvers
