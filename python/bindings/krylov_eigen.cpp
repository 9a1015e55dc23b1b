#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

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

template <class Part>
Part part_of(const std::map<std::string, Part>& names, const std::string& name) {
  const auto found = names.find(name);
  if (found == names.end()) {
    std::string words;
    for (const auto& [word, part] : names) words += (words.empty() ? "" : ", ") + word;
    throw InputError(fmt::format("which is '{}', but must be one of {}", name, words));
  }
  return found->second;
}

eigen::Which which_of(const std::string& name) {
  using enum eigen::Which;
  static const std::map<std::string, eigen::Which> names{{"LM", largest_magnitude},
                                                         {"SM", smallest_magnitude},
                                                         {"LA", largest},
                                                         {"SA", smallest},
                                                         {"BE", both_ends}};
  return part_of(names, name);
}

eigen::SpectrumPart spectrum_part_of(const std::string& name) {
  using enum eigen::SpectrumPart;
  static const std::map<std::string, eigen::SpectrumPart> names{
      {"LM", largest_magnitude}, {"SM", smallest_magnitude}, {"LR", largest_real},
      {"SR", smallest_real},     {"LI", largest_imaginary},  {"SI", smallest_imaginary}};
  return part_of(names, name);
}

eigen::ProjectedOperator projected(const LinearOperator& a, const LinearOperator* inner) {
  const std::int64_t n = a.local_size();
  if (inner != nullptr && inner->local_size() != n) throw InputError("operators of different sizes");
  return {n, {0, n}, product_of(a), inner != nullptr ? product_of(*inner) : eigen::Product{}};
}

/// What `method` finds, which signals end.
template <class Method, class Options>
auto found_by(Method method, const LinearOperator& a, const LinearOperator* inner, Options options,
              const std::optional<InputVector>& start) {
  Interruption interruption;
  std::optional<decltype(method(communicator(0), projected(a, inner), options))> found;
  {
    const CoreCall call;
    options.wants_stop = [&] { return interruption.wants_stop(); };
    if (start) options.start = span_of(*start);
    found = method(communicator(0), projected(a, inner), options);
  }
  interruption.rethrow();
  return *std::move(found);
}

/// (values, vectors one after another, whether all converged).
nb::tuple lanczos(const LinearOperator& a, const LinearOperator* inner, std::int64_t count,
                  const std::string& which, std::int64_t basis, double tolerance, std::int64_t max_restarts,
                  const std::optional<InputVector>& start) {
  const eigen::LanczosOptions options{.count = count,
                                      .which = which_of(which),
                                      .basis = basis,
                                      .tolerance = tolerance,
                                      .max_restarts = max_restarts};
  auto pairs = found_by(eigen::lanczos, a, inner, options, start);
  return nb::make_tuple(to_numpy(std::move(pairs.values)), to_numpy(std::move(pairs.vectors)),
                        pairs.converged);
}

/// (basis vectors one after another, T by columns, whether all converged).
nb::tuple krylov_schur(const LinearOperator& a, const LinearOperator* inner, std::int64_t count,
                       const std::string& which, std::int64_t basis, double tolerance,
                       std::int64_t max_restarts, const std::optional<InputVector>& start) {
  const eigen::KrylovSchurOptions options{.count = count,
                                          .which = spectrum_part_of(which),
                                          .basis = basis,
                                          .tolerance = tolerance,
                                          .max_restarts = max_restarts};
  auto space = found_by(eigen::krylov_schur, a, inner, options, start);
  return nb::make_tuple(to_numpy(std::move(space.vectors)), to_numpy(std::move(space.t.values)),
                        space.converged);
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
