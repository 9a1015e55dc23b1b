#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::session {

/// Threads for one call from an application, put back afterwards: so many, or, for 0, those that OpenMP would
/// use (which the application may have limited), but on several ranks no more than there are cores for.
class CallThreads {
 public:
  /// Collective. Throws InputError, agreed.
  CallThreads(const comm::Comm& comm, int threads);
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;
  int threads() const { return threads_; }

 private:
  int before_;
  int threads_;
};

}  // namespace ayatori::session
