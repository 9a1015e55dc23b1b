#include "python/bindings/runtime.hpp"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/application.hpp"
#include "ayatori/comm/mpi_holder.hpp"
#include "ayatori/solvers/vector_ops.hpp"

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

std::atomic<int> calls_inside = 0;
std::atomic<bool> is_ending = false;

}  // namespace

void start_mpi() {
  if (environment()) return;
  int argc = 0;
  char** argv = nullptr;
  environment().emplace(argc, argv);
  comm::release_holders_before_mpi_ends();
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

void call_product(const nb::callable& function, const InOutVector& argument, std::span<const double> x,
                  std::span<double> y) {
  solvers::copy(x, span_of(argument));
  const auto result = nb::cast<InputVector>(function());
  if (result.size() != y.size())
    throw InputError(fmt::format("the operator gives {} elements for {}", result.size(), x.size()));
  solvers::copy(span_of(result), y);
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

void Interruption::rethrow() const {
  if (exception_) std::rethrow_exception(exception_);
  if (!others_have_failed_) return;
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

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
