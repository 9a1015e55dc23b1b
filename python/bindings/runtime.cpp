#include "python/bindings/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <thread>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/application.hpp"

namespace ayatori::python {

namespace {

std::recursive_mutex& core_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

/// MPI from the first use to the end of the interpreter, in one process only once.
std::optional<comm::Environment>& environment() {
  static std::optional<comm::Environment> mpi;
  return mpi;
}

/// All that live, in the order of their making, which is the same on all ranks.
struct Holders {
  std::mutex mutex;
  std::vector<MpiHolder*> alive;
};

Holders& holders() {
  static auto* const all = new Holders;  // for as long as the process: objects outlive the statics
  return *all;
}

/// What they let go of takes calls of all ranks: the youngest first, as C++ would.
void release_holders() noexcept {
  const std::lock_guard lock(holders().mutex);
  for (auto* const holder : std::views::reverse(holders().alive)) {
    try {
      holder->release();
    } catch (...) {  // nobody is left to be told
    }
  }
}

std::atomic<int> calls_inside = 0;
std::atomic<bool> is_ending = false;

}  // namespace

void start_mpi() {
  if (environment()) return;
  int argc = 0;
  char** argv = nullptr;
  environment().emplace(argc, argv);
  comm::before_mpi_ends(release_holders);
}

void end_mpi() {
  is_ending = true;
  {
    const nb::gil_scoped_release release;
    constexpr auto longest = std::chrono::seconds(60);  // then one waits for another rank that has gone
    const auto begin = std::chrono::steady_clock::now();
    while (calls_inside > 0 && std::chrono::steady_clock::now() - begin < longest)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  is_ending = false;
  environment().reset();
}

MpiHolder::MpiHolder() {
  const std::lock_guard lock(holders().mutex);
  holders().alive.push_back(this);
}

MpiHolder::~MpiHolder() {
  const std::lock_guard lock(holders().mutex);
  std::erase(holders().alive, this);
}

comm::Comm communicator(std::uintptr_t address) {
  start_mpi();
  if (address == 0) return comm::Comm::self();
  return comm::from_handle_at(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
}

CoreCall::Presence::Presence() {
  ++calls_inside;
}

CoreCall::Presence::~Presence() {
  --calls_inside;
}

CoreCall::CoreCall() : lock_(core_mutex()) {}

bool Interruption::wants_stop() {
  if (exception_ || is_ending) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_question_) return false;
  next_question_ = now + std::chrono::milliseconds(50);
  return !guard([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

}  // namespace ayatori::python
