#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// What one rank has to say after its part of a common task.
struct LocalOutcome {
  bool failed = false;
  ErrorKind kind = ErrorKind::internal;
  std::string text;
};

/// Collective. Returns if no rank failed; otherwise throws, on every rank, the error of the lowest rank that
/// did.
void agree_on_outcome(const Comm& comm, const LocalOutcome& mine);

/// Collective. Runs `local` on every rank and gives its result; an exception on any rank becomes the same
/// exception on all of them, so that nobody waits for a rank that has left. `local` makes no collective call
/// on this communicator.
template <class Local>
auto agree(const Comm& comm, Local&& local) -> std::invoke_result_t<Local> {
  LocalOutcome outcome;
  const auto guarded = [&](auto&& run) {
    try {
      run();
    } catch (const Error& error) {
      outcome = {true, error.kind(), error.what()};
    } catch (const std::bad_alloc&) {
      outcome = {true, ErrorKind::environment, "out of memory: use more nodes, or a smaller problem"};
    } catch (const std::exception& error) {
      outcome = {true, ErrorKind::internal, error.what()};
    }
    agree_on_outcome(comm, outcome);
  };
  using Result = std::invoke_result_t<Local>;
  if constexpr (std::is_void_v<Result>) {
    guarded(local);
  } else {
    std::optional<Result> result;
    guarded([&] { result.emplace(local()); });
    return std::move(*result);
  }
}

}  // namespace ayatori::comm
