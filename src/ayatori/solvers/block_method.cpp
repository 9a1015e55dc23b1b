#include "ayatori/solvers/block_method.hpp"

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"

namespace ayatori::solvers {

void take_column(ConstVector block, int width, int c, Vector x) {
  AYATORI_ASSERT(block.size() == x.size() * width);
  parallel_for(static_cast<std::int64_t>(x.size()), [&](std::int64_t i) { x[i] = block[i * width + c]; });
}

void put_column(ConstVector x, int width, int c, Vector block) {
  AYATORI_ASSERT(block.size() == x.size() * width);
  parallel_for(static_cast<std::int64_t>(x.size()), [&](std::int64_t i) { block[i * width + c] = x[i]; });
}

BlockPreconditioner::BlockPreconditioner(const sparse::LinearOperator& m)
    : m_(m), native_(dynamic_cast<const sparse::BlockOperator*>(&m)) {
  if (native_ != nullptr) return;
  in_.resize(m.local_size());
  out_.resize(m.local_size());
}

void BlockPreconditioner::apply_block(std::span<const double> x, std::span<double> y, int width) const {
  if (native_ != nullptr) return native_->apply_block(x, y, width);
  for (int c = 0; c < width; ++c) {
    take_column(x, width, c, in_);
    m_.apply(in_, out_);
    put_column(out_, width, c, y);
  }
}

}  // namespace ayatori::solvers
