#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/solve.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using DenseMatrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

eigen::Selection selection(std::int64_t count, bool largest, double lower, double upper) {
  using Kind = eigen::Selection::Kind;
  if (count > 0) return {.kind = largest ? Kind::largest : Kind::smallest, .count = count};
  if (lower <= upper) return {.kind = Kind::range, .lower = lower, .upper = upper};
  return {};
}

/// (values, vectors as an n x pairs array in column-major order, ratios, seconds). `count` of 0: all, or
/// those in [lower, upper] where these are in order.
nb::tuple eigh(const DenseMatrix& matrix, bool vectors, std::int64_t count, bool largest, double lower,
               double upper, int threads) {
  const auto n = static_cast<std::int64_t>(matrix.shape(0));
  if (static_cast<std::int64_t>(matrix.shape(1)) != n)
    throw InputError(
        fmt::format("{} x {}, but eigenvalues want a square matrix", matrix.shape(0), matrix.shape(1)));
  eigen::EigenResult result;
  {
    const CoreCall call;
    const auto comm = communicator(0);
    const ThreadCount thread_count(comm, threads);
    const eigen::EigenOptions options{.selection = selection(count, largest, lower, upper),
                                      .vectors = vectors};
    check(options, n, comm.size());
    eigen::check_memory(comm, n, options);
    auto a = eigen::make_dense(eigen::make_grid(comm, {}), n);
    const double* const data = matrix.data();
    const std::int64_t down = matrix.stride(0);
    const std::int64_t across = matrix.stride(1);
    fill(a, [&](std::int64_t i, std::int64_t j) { return data[i * down + j * across]; });
    check_symmetric(a, "a");
    result = eigen::solve_symmetric(std::move(a), options);
  }
  nb::dict ratios;
  ratios["moments"] = result.check.moments;
  if (vectors) {
    ratios["residual"] = result.check.residual;
    ratios["orthogonality"] = result.check.orthogonality;
  }
  nb::dict seconds;
  const auto& times = result.times;
  seconds["total"] = times.total;
  seconds["tridiagonalization"] = times.tridiagonalization;
  seconds["tridiagonal_solve"] = times.tridiagonal_solve;
  seconds["redistribution"] = times.redistribution;
  seconds["back_transformation"] = times.back_transformation;
  seconds["verification"] = times.verification;
  const bool passed = result.check.passed();
  return nb::make_tuple(to_numpy(std::move(result.values)), to_numpy(std::move(result.vectors.values)),
                        passed, ratios, seconds);
}

}  // namespace

void bind_eigen(nb::module_& module) {
  module.def("eigh", &eigh, nb::arg("a"), nb::arg("vectors"), nb::arg("count"), nb::arg("largest"),
             nb::arg("lower"), nb::arg("upper"), nb::arg("threads"));
  module.attr("largest_good_ratio") = eigen::largest_good_ratio;
}

}  // namespace ayatori::python
