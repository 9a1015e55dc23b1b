#include "ayatori/session/call_threads.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"

namespace ayatori::session {

int threads_of_call(const comm::Comm& comm, int threads) {
  comm::agree(comm, [&] {
    const int most = std::max(1024, 4 * omp_get_num_procs());
    if (threads < 0 || threads > most)
      throw InputError(fmt::format("{} threads: give 1 to {}, or leave them open", threads, most));
  });
  // One rank's share is asked for once: that reads files, and a small system is solved in less time.
  const auto alone = [] {
    static const int share = comm::threads_per_rank(comm::Comm::self());
    return share;
  };
  const bool is_told = threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr;
  const int wanted = threads > 0 ? threads : omp_get_max_threads();
  const int fair = comm.size() > 1 ? comm::threads_per_rank(comm) : is_told ? wanted : alone();
  return is_told ? wanted : std::min(wanted, fair);
}

ThreadScope::ThreadScope(int threads) : before_(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  omp_set_num_threads(before_);
}

}  // namespace ayatori::session
