#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace ayatori::bench {

/// C += A B on one rank: C is m x n, A m x k, B k x n, all by rows; `..._row` elements from one row to the
/// next. Uses all threads.
struct LocalProduct {
  std::int64_t m, n, k;
  const double* a;
  std::int64_t a_row;
  const double* b;
  std::int64_t b_row;
  double* c;
  std::int64_t c_row;
  /// Called by the calling thread now and then, if there is one: lets messages proceed.
  std::function<void()> progress = {};
};

/// A way to compute it. Throws std::bad_alloc.
struct LocalProductType {
  std::string_view name;
  std::string_view description;
  void (*run)(const LocalProduct& product);
};

/// blas, own, reference.
std::span<const LocalProductType> local_products();

}  // namespace ayatori::bench
