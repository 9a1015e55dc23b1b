#include "ayatori/session/call_threads.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/threads.hpp"

namespace ayatori::session {

CallThreads::CallThreads(const comm::Comm& comm, int threads)
    : before_(omp_get_max_threads()), threads_(threads > 0 ? threads : before_) {
  comm::agree(comm, [&] {
    const int most = std::max(1024, 4 * omp_get_num_procs());
    if (threads < 0 || threads > most)
      throw InputError(fmt::format("{} threads: give 1 to {}, or leave them open", threads, most));
  });
  const bool is_told = threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr;
  // One rank's share is asked for once: that reads files, and a small system is solved in less time.
  const auto alone = [] {
    static const int share = comm::threads_per_rank(comm::Comm::self());
    return share;
  };
  const int fair = comm.size() > 1 ? comm::threads_per_rank(comm) : is_told ? threads_ : alone();
  if (!is_told) threads_ = std::min(threads_, fair);
  omp_set_num_threads(threads_);
}

CallThreads::~CallThreads() {
  omp_set_num_threads(before_);
}

}  // namespace ayatori::session
