#include "ayatori/tuning/policy/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/solvers/least_squares.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"

namespace ayatori::tuning {

namespace {

/// Halo strategies without +overlap.
std::vector<std::string> excludable_names() {
  auto names = names_in(solvers::preconditioners(), names_in(solvers::methods()));
  names.emplace_back(solvers::least_squares_name);
  names = names_in(solvers::orthogonalizations(), std::move(names));
  return names_in(sparse::halo_strategies(), names_in(sparse::kernels(), std::move(names)));
}

void check_exclusions(const Forced& forced) {
  const auto names = excludable_names();
  const auto is_known = [&](const std::string& name) {
    const std::string halo = name.substr(0, name.find("+overlap"));
    return std::ranges::find(names, name) != names.end() ||
           std::ranges::count(sparse::halo_strategies(), halo, &sparse::HaloType::name) > 0;
  };
  const std::array forced_names{forced.method, forced.preconditioner, forced.orthogonalization, forced.kernel,
                                forced.halo};
  for (const std::string& name : forced.excluded) {
    if (!is_known(name)) {
      const std::string near = did_you_mean(name, names);
      throw InputError(
          fmt::format("'{}' is excluded, but there is no method, preconditioner, orthogonalization, "
                      "kernel or halo strategy of this name{}{}",
                      name, near.empty() ? "" : ": ", near));
    }
    if (std::ranges::find(forced_names, name) != forced_names.end())
      throw InputError(fmt::format("'{}' is both forced and excluded", name));
  }
}

}  // namespace

bool is_least_squares(const Choice& choice) {
  return choice.method == solvers::least_squares_name;
}

Choice least_squares_choice() {
  return {.method = std::string(solvers::least_squares_name), .preconditioner = "none", .restart = 0};
}

std::string describe(const Choice& choice) {
  std::string text = choice.method;
  if (choice.restart > 0) text += fmt::format("({})", choice.restart);
  text += " + " + choice.preconditioner;
  if (!choice.device.empty()) return text + " on " + choice.device;
  if (!choice.orthogonalization.empty()) text += ", orthogonalization " + choice.orthogonalization;
  return text;
}

void check(const Forced& forced) {
  if (forced.preconditioner) solvers::preconditioner(*forced.preconditioner);
  if (forced.orthogonalization) solvers::orthogonalization(*forced.orthogonalization);
  if (forced.kernel) sparse::kernel(*forced.kernel);
  if (forced.halo) sparse::halo_strategy(*forced.halo);
  if (forced.restart && *forced.restart < 1) {
    throw InputError(fmt::format("the restart length is {}, but must be at least 1", *forced.restart));
  }
  check_exclusions(forced);
  if (!forced.method) return;
  const bool is_lsmr = *forced.method == solvers::least_squares_name;
  if (is_lsmr && forced.preconditioner.value_or("none") != "none")
    throw InputError(fmt::format("method '{}' takes no preconditioner, so '{}' contradicts it",
                                 *forced.method, *forced.preconditioner));
  const bool restarts = !is_lsmr && solvers::method(*forced.method).restarts;
  if (!restarts && forced.restart) {
    throw InputError(
        fmt::format("method '{}' never restarts, so a restart length contradicts it", *forced.method));
  }
  if (!restarts && forced.orthogonalization) {
    throw InputError(
        fmt::format("method '{}' keeps no basis, so an orthogonalization contradicts it", *forced.method));
  }
  if (is_lsmr) return;
  const auto& method = solvers::method(*forced.method);
  const auto built_in = method.only_orthogonalization;
  if (!built_in.empty() && forced.orthogonalization && *forced.orthogonalization != built_in) {
    throw InputError(fmt::format("method '{}' has orthogonalization {} built in, which {} contradicts",
                                 method.name, built_in, *forced.orthogonalization));
  }
}

}  // namespace ayatori::tuning
