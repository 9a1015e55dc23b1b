#include "ayatori/tuning/policy/choice_json.hpp"

#include "ayatori/base/json.hpp"
#include "ayatori/gpu/device.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/sparse/halo.hpp"
#include "ayatori/sparse/kernel.hpp"

namespace ayatori::tuning {

namespace {

using Json = nlohmann::ordered_json;

/// Null stands for what does not apply.
int restart_of(const Json& json) {
  return json.is_null() ? 0 : whole_number<int>(json, 1);
}

std::string name_or_none(const Json& json) {
  return json.is_null() ? "" : json.get<std::string>();
}

void check_names(const Choice& choice) {
  const bool restarts = !is_least_squares(choice) && solvers::method(choice.method).restarts;
  solvers::preconditioner(choice.preconditioner);
  if (restarts || !choice.orthogonalization.empty()) solvers::orthogonalization(choice.orthogonalization);
  if (restarts != (choice.restart > 0))
    throw InputError(fmt::format("{} with a restart length of {}", choice.method, choice.restart));
  if (!choice.kernel.empty()) sparse::kernel(choice.kernel);
  if (!choice.halo.empty()) sparse::halo_strategy(choice.halo);
  if (!choice.device.empty()) gpu::device_type(choice.device);
}

}  // namespace

Json to_json(const Choice& choice) {
  const auto or_null = [](bool has, const auto& value) { return has ? Json(value) : Json(nullptr); };
  Json json{{"method", choice.method},
            {"preconditioner", choice.preconditioner},
            {"restart", or_null(choice.restart > 0, choice.restart)},
            {"orthogonalization", or_null(!choice.orthogonalization.empty(), choice.orthogonalization)},
            {"kernel", choice.kernel},
            {"halo", choice.halo}};
  if (!choice.device.empty()) json["device"] = choice.device;
  return json;
}

Choice choice_from_json(const Json& json) {
  try {
    Choice choice{json.at("method"),
                  json.at("preconditioner"),
                  restart_of(json.at("restart")),
                  name_or_none(json.at("orthogonalization")),
                  json.at("kernel"),
                  json.at("halo"),
                  json.value("device", "")};
    check_names(choice);
    return choice;
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("not a choice of numerics: {}", words_of(error)));
  }
}

}  // namespace ayatori::tuning
