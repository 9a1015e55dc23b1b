#include "ayatori/comm/mpi_holder.hpp"

#include <mutex>
#include <ranges>
#include <vector>

#include "ayatori/comm/environment.hpp"

namespace ayatori::comm {

namespace {

/// All that live, in the order of their making, which is the same on all ranks.
struct Holders {
  std::mutex mutex;
  std::vector<MpiHolder*> alive;
  bool have_let_go = false;
};

Holders& holders() {
  static auto* const all = new Holders;  // for as long as the process: MPI may end after the statics
  return *all;
}

/// What they let go of takes calls of all ranks: the youngest first, as C++ would.
void release_holders() noexcept {
  const std::lock_guard lock(holders().mutex);
  holders().have_let_go = true;
  for (auto* const holder : std::views::reverse(holders().alive)) {
    try {
      holder->release();
    } catch (...) {  // nobody is left to be told
    }
  }
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

void release_holders_before_mpi_ends() {
  before_mpi_ends(release_holders);
}

bool has_mpi_ended() {
  const std::lock_guard lock(holders().mutex);
  return holders().have_let_go;
}

}  // namespace ayatori::comm
