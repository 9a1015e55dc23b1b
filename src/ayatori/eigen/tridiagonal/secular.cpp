#include "ayatori/eigen/tridiagonal/secular.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/eigen/dense/blas.hpp"

namespace ayatori::eigen {

namespace {

/// Root j of an update of order 2 as a distance from `pole`: a root of t^2 - b t + c, by the formula without
/// cancellation.
template <class T>
T shift_of_two(const RankOneUpdateOf<T>& update, std::int64_t j, std::int64_t pole) {
  const std::int64_t other = 1 - pole;
  const T gap = update.d[other] - update.d[pole];
  const T near = update.rho * update.z[pole] * update.z[pole];
  const T far = update.rho * update.z[other] * update.z[other];
  const T b = gap + near + far;
  const T c = near * gap;
  const T root = std::hypot(gap + far - near, 2 * std::sqrt(near * far));
  const bool is_larger = j == 1;
  if (is_larger == (b >= 0)) return is_larger ? (b + root) / 2 : (b - root) / 2;
  return is_larger ? 2 * c / (b - root) : 2 * c / (b + root);
}

template <class T>
SecularRootOf<T> root_of_two(const RankOneUpdateOf<T>& update, std::int64_t j) {
  const SecularRootOf<T> from_first{0, shift_of_two(update, j, 0)};
  const SecularRootOf<T> from_second{1, shift_of_two(update, j, 1)};
  return std::abs(from_first.shift) < std::abs(from_second.shift) ? from_first : from_second;
}

/// Root j; a shift that is no number where the iteration failed.
template <class T>
SecularRootOf<T> find_root(const RankOneUpdateOf<T>& update, std::int64_t j, std::vector<T>& distance) {
  const std::int64_t k = update.size();
  if (k == 1) return {0, update.rho};
  if (k == 2) return root_of_two(update, j);
  distance.resize(k);
  if (!secular_root<T>(k, j, update.d.data(), update.z.data(), update.rho, distance.data()))
    return {j, std::numeric_limits<T>::quiet_NaN()};
  const bool is_upper = j + 1 < k && std::abs(distance[j + 1]) < std::abs(distance[j]);
  const std::int64_t pole = is_upper ? j + 1 : j;
  return {pole, -distance[pole]};
}

}  // namespace

template <class T>
std::vector<SecularRootOf<T>> secular_roots(const comm::Comm& comm, const RankOneUpdateOf<T>& update) {
  const Range mine = split_evenly(update.size(), comm.size(), comm.rank());
  std::vector<SecularRootOf<T>> found(mine.size());
  parallel_ranges_throwing(mine.size(), [&](Range range) {
    std::vector<T> distance;
    for (std::int64_t i = range.begin; i < range.end; ++i)
      found[i] = find_root(update, mine.begin + i, distance);
  });
  auto roots = gather_shares(comm, std::move(found), update.size());
  // All ranks see the same roots, and throw together.
  if (std::ranges::any_of(roots, [](const SecularRootOf<T>& root) { return !std::isfinite(root.shift); }))
    throw_error(ErrorKind::internal, "an iteration for a root of a secular equation did not converge", true);
  return roots;
}

template <class T>
std::vector<T> exact_z(const comm::Comm& comm, const RankOneUpdateOf<T>& update,
                       std::type_identity_t<std::span<const SecularRootOf<T>>> roots) {
  const std::int64_t k = update.size();
  const Range mine = split_evenly(k, comm.size(), comm.rank());
  std::vector<T> found(mine.size());
  std::vector<T> poles(k);
  std::vector<T> shifts(k);
  for (std::int64_t j = 0; j < k; ++j) {
    poles[j] = update.d[roots[j].pole];
    shifts[j] = roots[j].shift;
  }
  parallel_for(mine.size(), [&](std::int64_t local) {
    const std::int64_t i = mine.begin + local;
    const T d = update.d[i];
    // By interlacing, factors before i are below 1, those behind above, and no product of some of them
    // overflows.
    const auto product_over = [&](Range range) {
      T product = 1;
#pragma omp simd reduction(* : product)
      for (std::int64_t j = range.begin; j < range.end; ++j)
        product *= ((d - poles[j]) - shifts[j]) / (d - update.d[j]);
      return product;
    };
    const T product = roots[i].distance(update, d) * product_over({0, i}) * product_over({i + 1, k});
    found[local] = std::copysign(std::sqrt(std::abs(product)), update.z[i]);
  });
  return gather_shares(comm, std::move(found), k);
}

template std::vector<SecularRootOf<double>> secular_roots(const comm::Comm& comm,
                                                          const RankOneUpdateOf<double>& update);
template std::vector<double> exact_z(const comm::Comm& comm, const RankOneUpdateOf<double>& update,
                                     std::span<const SecularRootOf<double>> roots);
template std::vector<SecularRootOf<float>> secular_roots(const comm::Comm& comm,
                                                         const RankOneUpdateOf<float>& update);
template std::vector<float> exact_z(const comm::Comm& comm, const RankOneUpdateOf<float>& update,
                                    std::span<const SecularRootOf<float>> roots);

}  // namespace ayatori::eigen
