#include <algorithm>
#include <array>

#include "ayatori/solvers/device/methods/device_methods.hpp"

namespace ayatori::solvers {

std::span<const DeviceMethod> device_methods() {
  static const std::array list{device_cg, device_bicgstab, device_gmres};
  return list;
}

const DeviceMethod* find_device_method(std::string_view name) {
  const auto list = device_methods();
  const auto place = std::ranges::find(list, name, &DeviceMethod::name);
  return place == list.end() ? nullptr : &*place;
}

}  // namespace ayatori::solvers
