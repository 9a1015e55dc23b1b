#include "petsc/options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::petsc {

namespace {

using session::SolveRequest;

// PETSc's macros want the options under this name.
PetscErrorCode read(OptionItems PetscOptionsObject, const char* name, const char* help, std::string& value) {
  std::array<char, PETSC_MAX_PATH_LEN> text{};
  PetscBool is_set = PETSC_FALSE;
  PetscCall(PetscOptionsString(name, help, "", value.c_str(), text.data(), text.size(), &is_set));
  if (is_set) value = text.data();
  return success;
}

PetscErrorCode read(OptionItems PetscOptionsObject, const char* name, const char* help, bool& value) {
  PetscBool chosen = value ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool(name, help, "", chosen, &chosen, nullptr));
  value = chosen;
  return success;
}

template <class Integer>
requires(std::is_same_v<Integer, int> || std::is_same_v<Integer, std::int64_t>) PetscErrorCode
    read(OptionItems PetscOptionsObject, const char* name, const char* help, Integer& value) {
  auto number = static_cast<PetscInt>(value);
  PetscCall(PetscOptionsInt(name, help, "", number, &number, nullptr));
  value = number;
  return success;
}

PetscErrorCode read(OptionItems PetscOptionsObject, const char* name, const char* help, double& value) {
  PetscReal number = value;
  PetscCall(PetscOptionsReal(name, help, "", number, &number, nullptr));
  value = number;
  return success;
}

template <class Number>
PetscErrorCode read(OptionItems PetscOptionsObject, const char* name, const char* help,
                    std::optional<Number>& value) {
  Number number = value.value_or(0);
  const Number before = number;
  PetscCall(read(PetscOptionsObject, name, help, number));
  if (number != before) value = number;
  return success;
}

PetscErrorCode read(OptionItems PetscOptionsObject, const char* name, const char* help,
                    std::vector<std::string>& value) {
  constexpr int most = 64;
  std::array<char*, most> words{};
  PetscInt count = most;
  PetscBool is_set = PETSC_FALSE;
  PetscCall(PetscOptionsStringArray(name, help, "", words.data(), &count, &is_set));
  if (!is_set) return success;
  value.assign(words.begin(), words.begin() + count);
  for (PetscInt i = 0; i < count; ++i) PetscCall(PetscFree(words[i]));
  return success;
}

}  // namespace

SolveRequest first_request() {
  SolveRequest request;
  request.knowledge = "none";
  return request;
}

PetscErrorCode set_from_options(OptionItems PetscOptionsObject, const std::string& prefix,
                                std::initializer_list<std::string_view> omitted, SolveRequest& request) {
  for (const auto& option : session::solve_options()) {
    if (std::ranges::find(omitted, option.name) != omitted.end()) continue;
    std::string name = prefix + option.name;
    std::replace(name.begin() + 1, name.end(), '-', '_');
    std::string help = session::description_of(option);
    if (!option.words.empty()) help += fmt::format(" [{}]", fmt::join(option.words, " "));
    PetscCall(std::visit(
        [&](auto place) { return read(PetscOptionsObject, name.c_str(), help.c_str(), place(request)); },
        option.place));
  }
  return success;
}

bool same_request(const SolveRequest& a, const SolveRequest& b) {
  return std::ranges::all_of(session::solve_options(), [&](const auto& option) {
    return session::value_of(option, a) == session::value_of(option, b);
  });
}

bool moves_rows(const SolveRequest& request) {
  return request.partition != "contiguous" || request.placement != "none";
}

session::FoundProfile find_profile(const comm::Comm& comm, const std::string& word) {
  if (word != "auto") return session::find_profile(comm, word);
  const auto text = comm::agree(comm, [&]() -> std::string {
    if (comm.rank() != 0) return {};
    const auto path = machine::default_profile_path();
    std::error_code error;
    return path.empty() || path == "none" || !std::filesystem::exists(path, error) ? "" : path;
  });
  const auto path = comm.broadcast(text, 0);
  if (path.empty()) return {};
  try {
    return session::find_profile(comm, path);
  } catch (const InputError&) {  // a profile of another version
    return {};
  }
}

}  // namespace ayatori::petsc
