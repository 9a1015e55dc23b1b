#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "ayatori/comm/comm.hpp"

namespace ayatori::python {

namespace nb = nanobind;

/// Contiguous one-dimensional arrays of the caller's, used where they are.
using InputVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InOutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InputIndices = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  ///< int32 or int64

template <class T>
std::span<T> span_of(const nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& array) {
  return {array.data(), array.size()};
}

/// Hands a vector over to numpy without a copy.
template <class Vector>
auto to_numpy(Vector&& values) {
  using Held = std::remove_cvref_t<Vector>;
  using T = typename Held::value_type;
  auto* held = new Held(std::forward<Vector>(values));
  const nb::capsule owner(held, [](void* pointer) noexcept { delete static_cast<Held*>(pointer); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(held->data(), {held->size()}, owner);
}

/// y = f() by a Python function, which finds x in `argument`. Precondition: the GIL is held. Throws
/// InputError where f gives another number of elements.
void call_product(const nb::callable& function, const InOutVector& argument, std::span<const double> x,
                  std::span<double> y);

/// The communicator whose MPI_Comm is at this address; 0 stands for this process alone. Starts MPI where
/// nobody has. Collective.
comm::Comm communicator(std::uintptr_t address);

/// Starts MPI where nobody has. Throws EnvironmentError where it has ended.
void start_mpi();

/// Ends MPI if start_mpi() has started it; nothing communicates afterwards. Calls of other threads that are
/// in the core are asked to stop, and waited for.
void end_mpi();

/// One call into the core at a time, whichever Python thread it comes from, without the GIL: others go on.
/// A call from within a callback of the same thread is let in.
class CoreCall {
 public:
  CoreCall();

 private:
  /// Counts those that are inside, until they have the GIL again.
  struct Presence {
    Presence();
    ~Presence();
  };

  Presence presence_;
  nb::gil_scoped_release release_;
  std::unique_lock<std::recursive_mutex> lock_;
};

/// What Python has to say while the core works: Ctrl-C, or an exception of a callback, which ends the work
/// and is thrown by rethrow() when all ranks have left it.
class Interruption {
 public:
  /// Asks Python for signals, now and then. To be called without the GIL.
  bool wants_stop();
  /// Runs `callback` with the GIL; false if it throws, or has thrown.
  template <class Callback>
  bool guard(Callback&& callback) {
    if (exception_) return false;
    const nb::gil_scoped_acquire acquire;
    try {
      callback();
      return true;
    } catch (...) {
      exception_ = std::current_exception();
      return false;
    }
  }
  /// What a callback has thrown, unless one has thrown before.
  void keep(std::exception_ptr exception) {
    if (!exception_) exception_ = std::move(exception);
  }
  bool has_failed() const { return exception_ != nullptr; }
  /// Collective, when the work is done. What a callback has thrown on one rank is KeyboardInterrupt on the
  /// others, even where the work came to its end before it could be stopped.
  void agree(const comm::Comm& comm) { others_have_failed_ = comm.any(has_failed()); }
  void rethrow() const;

 private:
  std::exception_ptr exception_;
  bool others_have_failed_ = false;
  std::chrono::steady_clock::time_point next_question_{};
};

void bind_solve_call(nb::module_& module);
void bind_solve(nb::module_& module);
void bind_preconditioner(nb::module_& module);
void bind_operators(nb::module_& module);
void bind_iterate(nb::module_& module);
/// After bind_iterate: its operators are one.
void bind_factors(nb::module_& module);
void bind_eigen(nb::module_& module);
void bind_krylov_eigen(nb::module_& module);
void bind_least_squares(nb::module_& module);
void bind_machine(nb::module_& module);
void bind_knowledge(nb::module_& module);
void bind_files(nb::module_& module);

}  // namespace ayatori::python
