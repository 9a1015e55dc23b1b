#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "ayatori/sparse/products/block_operator.hpp"

// Methods that solve A X = B for several right-hand sides at once: one product reads the matrix for all, one
// reduction serves all. Blocks of vectors are interleaved: element i of vector c is [i * width + c].

namespace ayatori::solvers {

struct BlockSystem {
  const sparse::BlockOperator& a;
  const sparse::BlockOperator& m;
  ConstVector b;  ///< columns of norm 1, or 0
  int width;
  const GlobalSum& sum;

  std::int64_t rows() const { return static_cast<std::int64_t>(b.size()) / width; }  ///< on this rank
};

struct BlockMethodOptions {
  std::span<const double> targets;  ///< target of each column: the norm of its residual at which it is solved
  int max_iterations = 10000;       ///< each a product with A for the whole block
  int restart = 30;                 ///< basis blocks of GMRES
  int stagnation_window = 500;      ///< as in MethodOptions
};

/// `residual_norm` of the result is the largest ratio of a column's norm to its target. Starts from 0. X is
/// finite, unless the matrix or the preconditioner was not. Collective; all ranks return the same. Throws
/// EnvironmentError (agreed) when memory is missing.
using BlockMethodFunction = MethodResult (*)(const BlockSystem& system, Vector x,
                                             const BlockMethodOptions& options, const Progress& progress);

/// The form for several right-hand sides of the method of this name in methods().
struct BlockMethod {
  std::string_view method;
  std::string_view description;
  BlockMethodFunction solve;
};

/// Every block method. Adding one is a file in methods/, its declaration in methods.hpp and its name in
/// list.cpp.
std::span<const BlockMethod> block_methods();

/// That of a method, or nullptr.
const BlockMethod* find_block_method(std::string_view method);

/// A preconditioner applied to the vectors of a block: by itself if it is a sparse::BlockOperator, otherwise
/// to one after the other, which costs 32 bytes per row and vector for taking blocks apart.
class BlockPreconditioner final : public sparse::BlockOperator {
 public:
  explicit BlockPreconditioner(const sparse::LinearOperator& m);

  void apply_block(std::span<const double> x, std::span<double> y, int width) const override;
  bool is_native() const { return native_ != nullptr; }

 private:
  const sparse::LinearOperator& m_;
  const sparse::BlockOperator* native_;
  mutable Array<double> in_;
  mutable Array<double> out_;
};

/// x = column c of the block.
void take_column(ConstVector block, int width, int c, Vector x);
/// Column c of the block = x.
void put_column(ConstVector x, int width, int c, Vector block);

}  // namespace ayatori::solvers
