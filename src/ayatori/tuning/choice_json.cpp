#include "ayatori/tuning/choice_json.hpp"

#include <nlohmann/json.hpp>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"

namespace ayatori::tuning {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
T value_or(const Json& json, const char* key, T absent) {
  const Json& value = json.at(key);
  return value.is_null() ? absent : value.get<T>();
}

void check_names(const Choice& choice) {
  const auto& method = solvers::method(choice.method);
  solvers::preconditioner(choice.preconditioner);
  if (method.restarts) solvers::orthogonalization(choice.orthogonalization);
  if (method.restarts != (choice.restart > 0))
    throw InputError(fmt::format("{} with a restart length of {}", method.name, choice.restart));
  if (!choice.kernel.empty()) sparse::kernel(choice.kernel);
  if (!choice.halo.empty()) sparse::halo_strategy(choice.halo);
}

}  // namespace

Json to_json(const Choice& choice) {
  const auto or_null = [](bool has, const auto& value) { return has ? Json(value) : Json(nullptr); };
  return {{"method", choice.method},
          {"preconditioner", choice.preconditioner},
          {"restart", or_null(choice.restart > 0, choice.restart)},
          {"orthogonalization", or_null(!choice.orthogonalization.empty(), choice.orthogonalization)},
          {"kernel", choice.kernel},
          {"halo", choice.halo}};
}

Choice choice_from_json(const Json& json) {
  try {
    Choice choice{json.at("method"),
                  json.at("preconditioner"),
                  value_or(json, "restart", 0),
                  value_or<std::string>(json, "orthogonalization", ""),
                  json.at("kernel"),
                  json.at("halo")};
    check_names(choice);
    return choice;
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("not a choice of numerics: {}", error.what()));
  }
}

}  // namespace ayatori::tuning
