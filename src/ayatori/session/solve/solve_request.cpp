#include "ayatori/session/solve/solve_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/base/number_in.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/gpu/device.hpp"
#include "ayatori/session/problem/placement.hpp"
#include "ayatori/session/problem/problem.hpp"
#include "ayatori/sparse/products/block_operator.hpp"

namespace ayatori::session {

namespace {

std::optional<std::string> unless_auto(const std::string& word) {
  return word == "auto" ? std::nullopt : std::optional(word);
}

std::optional<int> restart_length(const std::string& word) {
  if (word == "auto") return std::nullopt;
  const auto length = number_in<int>(word);
  if (!length) throw InputError(fmt::format("--restart {}: neither 'auto' nor a whole number", word));
  return length;
}

void check_seconds(const char* name, double value) {
  if (!(value >= 0)) throw InputError(fmt::format("{} {}: not a number of seconds", name, value));
}

/// Options of preconditioners are errors where no preconditioner that obeys them has been asked for.
void check_obedience(const SolveRequest& request) {
  for (const auto& option : solve_options()) {
    if (option.is_obeyed != nullptr && is_given(option, request) && !option.is_obeyed(request))
      throw InputError(
          fmt::format("--{} has no meaning with --preconditioner {}", option.name, request.preconditioner));
  }
}

void check_preconditioner_options(const SolveRequest& request) {
  if (!(request.drop >= 0 && request.drop < 1))
    throw InputError(fmt::format("--drop {}: want 0 to 1", request.drop));
  if (!(request.low_rank >= 0 && request.low_rank < 1))
    throw InputError(fmt::format("--low-rank {}: want 0 to 1", request.low_rank));
}

/// A device that is asked for has to be there, as no other place is as good.
void check_device(const std::string& word) {
  if (word == "auto" || word == "none") return;
  const auto type = std::ranges::find(gpu::device_types(), word, &gpu::DeviceType::name);
  if (type == gpu::device_types().end())
    throw InputError(fmt::format("--device {}: want auto, none or cuda", word));
  if (const std::string why = type->why_not(); !why.empty())
    throw EnvironmentError(fmt::format("--device {}: {}", word, why));
}

void check_replay(const SolveRequest& request) {
  if (request.replay.empty()) return;
  for (const auto& option : solve_options()) {
    if (option.is_decision && is_given(option, request))
      throw InputError(
          "--replay repeats a solve: what was chosen, the tolerance and the limits are those of then");
  }
}

void check_checkpoint(const SolveRequest& request) {
  if (!request.every && request.checkpoint.empty()) return;
  if (request.checkpoint.empty())
    throw InputError("--every says how often a checkpoint is written: name its file with --checkpoint");
  check_seconds("--every", request.every.value_or(0));
  check_writable(request.checkpoint);
}

tuning::SolveOptions options_of(const SolveRequest& request) {
  return {.rtol = request.rtol,
          .max_iterations = request.max_iterations,
          .time_limit = request.time_limit,
          .tuning_share = request.tuning_share,
          .deterministic = request.deterministic,
          .may_use_one_rank = request.use_ranks == "auto",
          .forced = {.method = unless_auto(request.method),
                     .preconditioner = unless_auto(request.preconditioner),
                     .restart = restart_length(request.restart),
                     .orthogonalization = unless_auto(request.orthogonalization),
                     .kernel = unless_auto(request.kernel),
                     .halo = unless_auto(request.halo),
                     .excluded = request.exclude},
          .preconditioner = {.degree = request.degree,
                             .overlap = request.overlap,
                             .fill = request.fill,
                             .drop_tolerance = request.drop,
                             .ordering = request.ordering,
                             .triangular = request.triangular,
                             .factor_precision = request.factor_precision,
                             .low_rank = request.low_rank,
                             .complement = request.complement,
                             .reproducible = request.reproducible}};
}

}  // namespace

void check(const SolveRequest& request) {
  check_values(solve_options(), request);
  if (request.knowledge.empty()) throw InputError("--knowledge is empty: name a folder, or leave it out");
  check_seconds("--time-limit", request.time_limit);
  check_preconditioner_options(request);
  check_obedience(request);
  check_device(request.device);
  check(tuning_options(request).forced);
  check_replay(request);
  check_checkpoint(request);
  check_placement(request.placement, request.network);
}

SessionOptions session_options(const SolveRequest& request) {
  return {request.threads, request.profile, request.collectives};
}

tuning::SolveOptions tuning_options(const SolveRequest& request) {
  tuning::SolveOptions options = options_of(request);
  options.device = request.device;
  // Factors of fewer digits lose some in every correction, which GMRES then computes wrongly and FGMRES
  // keeps.
  const bool has_fewer_digits = request.factor_precision != "double" || request.low_rank > 0;
  constexpr const char* flexible = "fgmres";
  if (has_fewer_digits && !options.forced.method && !options.forced.excludes(flexible))
    options.forced.method = flexible;
  return options;
}

int most_at_once(const std::string& block) {
  if (block == "auto") return sparse::max_block_width;
  if (block == "off") return 1;
  const auto width = number_in<int>(block);
  if (!width || *width < 1 || *width > sparse::max_block_width)
    throw InputError(fmt::format("--block {}: want auto, off, or 1 to {}", block, sparse::max_block_width));
  return *width;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::weakly_canonical(a, error) == std::filesystem::weakly_canonical(b, error);
}

}  // namespace ayatori::session
