#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "ayatori/session/option.hpp"

namespace ayatori::python {

namespace nb = nanobind;

/// Sets an option of a request. `value` is of the type that the table says.
template <class Request>
void set_option(std::span<const session::Option<Request>> table, Request& request, const std::string& name,
                const nb::object& value) {
  for (const auto& option : table) {
    if (option.name != name) continue;
    std::visit(
        [&](auto place) {
          using T = std::remove_reference_t<decltype(place(request))>;
          place(request) = nb::cast<T>(value);
        },
        option.place);
    return;
  }
  throw std::logic_error("there is no option " + name);
}

/// A table of options as Python's keywords are made of it: (name, type, default, help, what to say of the
/// default, values that have names, whether there are no others).
template <class Request>
nb::list table_of(std::span<const session::Option<Request>> options) {
  nb::list table;
  Request usual;
  for (const auto& option : options) {
    const auto [kind, initial] = std::visit(
        [&](auto place) -> std::pair<const char*, nb::object> {
          auto& value = place(usual);
          using T = std::remove_reference_t<decltype(value)>;
          const nb::object object = nb::cast(value);
          if constexpr (std::is_same_v<T, std::string>) return {"str", object};
          if constexpr (std::is_same_v<T, bool>) return {"bool", object};
          if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::optional<int>>)
            return {"int", object};
          if constexpr (std::is_same_v<T, std::vector<std::string>>) return {"sequence of str", object};
          return {"float", object};
        },
        option.place);
    table.append(nb::make_tuple(option.name, kind, initial, description_of(option), option.initial,
                                option.words, option.only_words));
  }
  return table;
}

/// A request as a class with `set(name, value)`, and its table as a function.
template <class Request>
void bind_request(nb::module_& module, const char* class_name, const char* table_name,
                  std::span<const session::Option<Request>> (*table)()) {
  nb::class_<Request>(module, class_name)
      .def(nb::init<>())
      .def(
          "set",
          [table](Request& request, const std::string& name, const nb::object& value) {
            set_option(table(), request, name, value);
          },
          nb::arg("name"), nb::arg("value"));
  module.def(table_name, [table] { return table_of(table()); });
}

}  // namespace ayatori::python
