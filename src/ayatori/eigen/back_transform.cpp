#include "ayatori/eigen/back_transform.hpp"

#include <algorithm>

namespace ayatori::eigen {

void back_transform(const DistributedDense& reflectors, std::span<const double> tau, std::int64_t below,
                    std::int64_t block, Block z) {
  const auto count = static_cast<std::int64_t>(tau.size());
  Array<double> t(block * block);
  Array<double> w(block * z.columns);
  for (std::int64_t begin = (count - 1) / block * block; begin >= 0 && count > 0; begin -= block) {
    const std::int64_t width = std::min(block, count - begin);
    const std::int64_t height = z.rows - begin - below;
    Array<double> v = gather_columns(reflectors, {begin, begin + width}, begin + below);
    for (std::int64_t k = 1; k < width; ++k) std::fill_n(v.data() + k * height, k, 0.0);

    const ConstBlock panel{v.data(), height, width, height};
    const Block of_t{t.data(), width, width, width};
    const Block of_w{w.data(), width, z.columns, width};
    const Block target{z.data + begin + below, height, z.columns, z.leading};
    block_reflector(panel, tau.data() + begin, of_t);
    multiply(1, Op::transpose, panel, Op::none, target, 0, of_w);
    multiply_upper_triangular(Side::left, Op::none, of_t, of_w);
    multiply(-1, Op::none, panel, Op::none, of_w, 1, target);
  }
}

}  // namespace ayatori::eigen
