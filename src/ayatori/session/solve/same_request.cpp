#include "ayatori/session/solve/same_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori::session {

namespace {

/// Those of which rank 0's counts, or each rank's.
constexpr std::array<std::string_view, 5> of_one_rank{"checkpoint", "every", "knowledge", "profile",
                                                      "threads"};

template <class T>
std::string text_of(const T& value) {
  return fmt::format("{}", value);
}
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "none";
}

std::int64_t fingerprint(const Option<SolveRequest>& option, const SolveRequest& request) {
  const auto text = std::visit([](const auto& value) { return text_of(value); }, value_of(option, request));
  return static_cast<std::int64_t>(std::hash<std::string>{}(text) >> 1U);  // which may be negated
}

}  // namespace

void check_same(const comm::Comm& comm, const SolveRequest& request) {
  const auto options = solve_options();
  std::vector<std::int64_t> extremes;  // each option's largest value, and the smallest negated
  for (const auto& option : options) {
    const std::int64_t mine = fingerprint(option, request);
    extremes.insert(extremes.end(), {mine, -mine});
  }
  comm.allreduce(std::span<std::int64_t>(extremes), comm::ReduceOp::max);
  for (std::size_t k = 0; k < options.size(); ++k) {
    if (extremes[2 * k] == -extremes[2 * k + 1] || std::ranges::count(of_one_rank, options[k].name) > 0)
      continue;
    throw InputError(
        fmt::format("--{} is not the same on all ranks: give each the same options", options[k].name));
  }
}

}  // namespace ayatori::session
