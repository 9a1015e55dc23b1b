#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <map>
#include <optional>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/krylov_schur.hpp"
#include "ayatori/eigen/lanczos.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

namespace {

using sparse::LinearOperator;

eigen::Product product_of(const LinearOperator& a) {
  return [&a](std::span<const double> x, std::span<double> y) { a.apply(x, y); };
}

eigen::Which which_of(const std::string& name) {
  using enum eigen::Which;
  static const std::map<std::string, eigen::Which> names{{"LM", largest_magnitude},
                                                         {"SM", smallest_magnitude},
                                                         {"LA", largest},
                                                         {"SA", smallest},
                                                         {"BE", both_ends}};
  const auto found = names.find(name);
  if (found == names.end())
    throw InputError(fmt::format("which is '{}', but must be LM, SM, LA, SA or BE", name));
  return found->second;
}

eigen::ProjectedOperator projected(const LinearOperator& a, const LinearOperator* inner) {
  const std::int64_t n = a.local_size();
  if (inner != nullptr && inner->local_size() != n) throw InputError("operators of different sizes");
  return {n, {0, n}, product_of(a), inner != nullptr ? product_of(*inner) : eigen::Product{}};
}

/// (values, vectors one after another, whether all converged).
nb::tuple lanczos(const LinearOperator& a, const LinearOperator* inner, std::int64_t count,
                  const std::string& which, std::int64_t basis, double tolerance, std::int64_t max_restarts,
                  const std::optional<InputVector>& start) {
  Interruption interruption;
  std::optional<eigen::LanczosPairs> pairs;
  {
    const CoreCall call;
    eigen::LanczosOptions options{.count = count,
                                  .which = which_of(which),
                                  .basis = basis,
                                  .tolerance = tolerance,
                                  .max_restarts = max_restarts,
                                  .wants_stop = [&] { return interruption.wants_stop(); }};
    if (start) options.start = span_of(*start);
    pairs = eigen::lanczos(communicator(0), projected(a, inner), options);
  }
  interruption.rethrow();
  return nb::make_tuple(to_numpy(std::move(pairs->values)), to_numpy(std::move(pairs->vectors)),
                        pairs->converged);
}

eigen::SpectrumPart part_of(const std::string& name) {
  using enum eigen::SpectrumPart;
  static const std::map<std::string, eigen::SpectrumPart> names{
      {"LM", largest_magnitude}, {"SM", smallest_magnitude}, {"LR", largest_real},
      {"SR", smallest_real},     {"LI", largest_imaginary},  {"SI", smallest_imaginary}};
  const auto found = names.find(name);
  if (found == names.end())
    throw InputError(fmt::format("which is '{}', but must be LM, SM, LR, SR, LI or SI", name));
  return found->second;
}

/// (basis vectors one after another, T by columns, whether all converged).
nb::tuple krylov_schur(const LinearOperator& a, const LinearOperator* inner, std::int64_t count,
                       const std::string& which, std::int64_t basis, double tolerance,
                       std::int64_t max_restarts, const std::optional<InputVector>& start) {
  Interruption interruption;
  std::optional<eigen::InvariantSpace> space;
  {
    const CoreCall call;
    eigen::KrylovSchurOptions options{.count = count,
                                      .which = part_of(which),
                                      .basis = basis,
                                      .tolerance = tolerance,
                                      .max_restarts = max_restarts,
                                      .wants_stop = [&] { return interruption.wants_stop(); }};
    if (start) options.start = span_of(*start);
    space = eigen::krylov_schur(communicator(0), projected(a, inner), options);
  }
  interruption.rethrow();
  return nb::make_tuple(to_numpy(std::move(space->vectors)), to_numpy(std::move(space->t.values)),
                        space->converged);
}

}  // namespace

void bind_krylov_eigen(nb::module_& module) {
  module.def("lanczos", &lanczos, nb::arg("a"), nb::arg("inner").none(), nb::arg("count"), nb::arg("which"),
             nb::arg("basis"), nb::arg("tolerance"), nb::arg("max_restarts"), nb::arg("start").none());
  module.def("krylov_schur", &krylov_schur, nb::arg("a"), nb::arg("inner").none(), nb::arg("count"),
             nb::arg("which"), nb::arg("basis"), nb::arg("tolerance"), nb::arg("max_restarts"),
             nb::arg("start").none());
}

}  // namespace ayatori::python
