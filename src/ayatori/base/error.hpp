#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace ayatori {

/// What went wrong, by who has to act. The values are the exit statuses of the command line.
enum class ErrorKind : int {
  bad_input = 2,    ///< the user: a file, an option or a value is wrong
  environment = 3,  ///< the machine: memory, disk, MPI, a missing library
  internal = 4,     ///< us: a broken invariant
};

/// Base of everything the library throws on purpose. The text is one line: what, where, what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

  /// True once all ranks of a communicator hold this same error (see comm::agree): nobody waits for anybody.
  bool agreed() const noexcept { return agreed_; }
  void set_agreed() noexcept { agreed_ = true; }

 private:
  ErrorKind kind_;
  bool agreed_ = false;
};

/// A file, an option or a value given by the user is wrong.
class InputError : public Error {
 public:
  explicit InputError(const std::string& text) : Error(ErrorKind::bad_input, text) {}
};

/// The machine or the libraries under us failed.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& text) : Error(ErrorKind::environment, text) {}
};

/// A broken invariant: a defect of this project.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& text) : Error(ErrorKind::internal, text) {}
};

/// Throws the typed error for `kind`; the inverse of Error::kind().
[[noreturn]] void throw_error(ErrorKind kind, const std::string& text, bool agreed = false);

/// Throws InternalError, naming the place: the sink of AYATORI_ASSERT.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

/// A documented precondition that only a defect can break; checked in the dev and asan builds.
#ifdef AYATORI_ASSERTIONS
#define AYATORI_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::ayatori::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define AYATORI_ASSERT(condition) static_cast<void>(0)
#endif

}  // namespace ayatori
