#include <algorithm>
#include <array>

#include "ayatori/solvers/device/preconditioners/types.hpp"

namespace ayatori::solvers {

std::span<const DevicePreconditionerType> device_preconditioners() {
  static const std::array list{device_none,      device_jacobi,           device_block_jacobi,
                               device_chebyshev, device_gmres_polynomial, device_amg};
  return list;
}

const DevicePreconditionerType* find_device_preconditioner(std::string_view name) {
  const auto list = device_preconditioners();
  const auto place = std::ranges::find(list, name, &DevicePreconditionerType::name);
  return place == list.end() ? nullptr : &*place;
}

}  // namespace ayatori::solvers
