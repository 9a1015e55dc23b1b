#include "c/runtime.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <ranges>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/application.hpp"

namespace ayatori::c {

namespace {

/// All that live, in the order of their making, which is the same on all ranks.
struct Holders {
  std::mutex mutex;
  std::vector<MpiHolder*> alive;
  bool mpi_has_ended = false;
};

Holders& holders() {
  static auto* const all = new Holders;  // for as long as the process: MPI may end after the statics
  return *all;
}

/// What they let go of takes calls of all ranks: the youngest first, as C++ would.
void release_holders() noexcept {
  const std::lock_guard lock(holders().mutex);
  holders().mpi_has_ended = true;
  for (auto* const holder : std::views::reverse(holders().alive)) {
    try {
      holder->release();
    } catch (...) {  // nobody is left to be told
    }
  }
}

/// Starts MPI where nobody has, until the process ends.
void start_mpi() {
  static std::optional<comm::Environment> mpi;
  if (holders().mpi_has_ended)
    throw EnvironmentError("MPI has ended in this process, and cannot begin again");
  if (mpi) return;
  int argc = 0;
  char** argv = nullptr;
  mpi.emplace(argc, argv);
  comm::before_mpi_ends(release_holders);
}

}  // namespace

MpiHolder::MpiHolder() {
  const std::lock_guard lock(holders().mutex);
  holders().alive.push_back(this);
}

MpiHolder::~MpiHolder() {
  const std::lock_guard lock(holders().mutex);
  std::erase(holders().alive, this);
}

comm::Comm communicator(const void* address) {
  start_mpi();
  return address == nullptr ? comm::Comm::self().duplicate() : comm::from_handle_at(address);
}

comm::Comm fortran_communicator(int handle) {
  start_mpi();
  return comm::from_fortran_handle(handle);
}

}  // namespace ayatori::c
