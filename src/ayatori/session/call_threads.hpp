#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::session {

/// Collective. Threads of this rank for a call from an application: this many, or, for 0, those that OpenMP
/// would use (which the application may have limited), but on several ranks no more than there are cores for.
/// Throws InputError, agreed.
int threads_of_call(const comm::Comm& comm, int threads);

/// OpenMP's number of threads for as long as this lives.
class ThreadScope {
 public:
  explicit ThreadScope(int threads);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

/// The two together. Collective.
class CallThreads {
 public:
  CallThreads(const comm::Comm& comm, int threads)
      : threads_(threads_of_call(comm, threads)), scope_(threads_) {}
  int threads() const { return threads_; }

 private:
  int threads_;
  ThreadScope scope_;
};

}  // namespace ayatori::session
