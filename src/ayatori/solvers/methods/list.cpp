#include <algorithm>
#include <array>

#include "ayatori/base/find_named.hpp"
#include "ayatori/solvers/methods/methods.hpp"

namespace ayatori::solvers {

std::span<const Method> methods() {
  static const std::array list{
      cg_method,         minres_method,        bicgstab_method,     idr_method,
      gmres_method,      fgmres_method,        pipelined_cg_method, pipelined_gmres_method,
      refined_cg_method, refined_gmres_method, cocg_method};
  return list;
}

std::span<const BlockMethod> block_methods() {
  static const std::array list{block_cg_method, block_gmres_method};
  return list;
}

const BlockMethod* find_block_method(std::string_view method) {
  const auto list = block_methods();
  const auto place = std::ranges::find(list, method, &BlockMethod::method);
  return place == list.end() ? nullptr : &*place;
}

const Method& method(std::string_view name) {
  return find_named(methods(), name, "method");
}

std::string_view name_of(Stop stop) {
  switch (stop) {
    case Stop::converged:
      return "converged";
    case Stop::max_iterations:
      return "max-iterations";
    case Stop::stagnated:
      return "stagnated";
    case Stop::breakdown:
      return "breakdown";
    case Stop::interrupted:
      return "interrupted";
    case Stop::yielded:
      return "yielded";
  }
  return "unknown";
}

}  // namespace ayatori::solvers
