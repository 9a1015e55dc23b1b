#include "ayatori/eigen/reduction/back_transform.hpp"

#include <algorithm>

namespace ayatori::eigen {

template <class T>
void back_transform(const DenseOf<T>& reflectors, std::span<const Number<T>> tau, std::int64_t below,
                    std::int64_t block, Mutable<T> z) {
  const auto count = static_cast<std::int64_t>(tau.size());
  block *= panels_together;
  Array<T> t(block * block);
  Array<T> w(block * z.columns);
  for (std::int64_t begin = (count - 1) / block * block; begin >= 0 && count > 0; begin -= block) {
    const std::int64_t width = std::min(block, count - begin);
    const std::int64_t height = z.rows - begin - below;
    Array<T> v = gather_columns(reflectors, {begin, begin + width}, begin + below);
    for (std::int64_t k = 1; k < width; ++k) std::fill_n(v.data() + k * height, k, T{0});

    Array<T> u = v;  // becomes V T, in fewer operations than T (V^T z)
    const ConstBlockOf<T> panel{v.data(), height, width, height};
    const BlockOf<T> of_u{u.data(), height, width, height};
    const BlockOf<T> of_t{t.data(), width, width, width};
    const BlockOf<T> of_w{w.data(), width, z.columns, width};
    const BlockOf<T> target{z.data + begin + below, height, z.columns, z.leading};
    block_reflector<T>(panel, tau.data() + begin, of_t);
    multiply_upper_triangular<T>(Side::right, Op::none, of_t, of_u);
    multiply<T>(1, Op::transpose, panel, Op::none, target, 0, of_w);
    multiply<T>(-1, Op::none, of_u, Op::none, of_w, 1, target);
  }
}

template void back_transform(const DenseOf<double>& reflectors, std::span<const double> tau,
                             std::int64_t below, std::int64_t block, BlockOf<double> z);
template void back_transform(const DenseOf<float>& reflectors, std::span<const float> tau, std::int64_t below,
                             std::int64_t block, BlockOf<float> z);

}  // namespace ayatori::eigen
