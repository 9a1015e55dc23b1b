#pragma once

#include <exception>
#include <mutex>

namespace ayatori::io::matrix_market {

/// Keeps the first exception of several threads: none may leave a parallel region.
class FirstException {
 public:
  template <class Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!exception_) exception_ = std::current_exception();
    }
  }
  /// When the threads are done.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
};

}  // namespace ayatori::io::matrix_market
