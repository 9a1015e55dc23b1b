#include "python/bindings/runtime.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/application.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/threads.hpp"

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

}  // namespace

void start_mpi() {
  if (environment()) return;
  int argc = 0;
  char** argv = nullptr;
  environment().emplace(argc, argv);
}

void end_mpi() {
  environment().reset();
}

comm::Comm communicator(std::uintptr_t address) {
  start_mpi();
  if (address == 0) return comm::Comm::self();
  return comm::from_handle_at(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
}

CoreCall::CoreCall() : lock_(core_mutex()) {}

ThreadCount::ThreadCount(const comm::Comm& comm, int threads)
    : before_(omp_get_max_threads()), threads_(threads > 0 ? threads : before_) {
  comm::agree(comm, [&] {
    const int most = std::max(1024, 4 * omp_get_num_procs());
    if (threads < 0 || threads > most)
      throw InputError(fmt::format("{} threads: give 1 to {}, or leave them open", threads, most));
  });
  const bool is_told = threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr;
  // One rank's share is asked for once: that reads files, and a small system is solved in less time.
  const auto alone = [] {
    static const int threads = comm::threads_per_rank(comm::Comm::self());
    return threads;
  };
  const int fair = comm.size() > 1 ? comm::threads_per_rank(comm) : is_told ? threads_ : alone();
  if (!is_told) threads_ = std::min(threads_, fair);
  omp_set_num_threads(threads_);
}

ThreadCount::~ThreadCount() {
  omp_set_num_threads(before_);
}

bool Interruption::wants_stop() {
  if (exception_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_question_) return false;
  next_question_ = now + std::chrono::milliseconds(50);
  return !guard([] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

}  // namespace ayatori::python
