#include "ayatori/base/error.hpp"

namespace ayatori {

namespace {

template <class E>
[[noreturn]] void throw_as(const std::string& text, bool agreed) {
  E error(text);
  if (agreed) error.set_agreed();
  throw error;
}

}  // namespace

void throw_error(ErrorKind kind, const std::string& text, bool agreed) {
  switch (kind) {
    case ErrorKind::bad_input:
      throw_as<InputError>(text, agreed);
    case ErrorKind::environment:
      throw_as<EnvironmentError>(text, agreed);
    case ErrorKind::internal:
      break;
  }
  throw_as<InternalError>(text, agreed);
}

void assertion_failed(const char* condition, const char* file, int line) {
  throw InternalError(fmt::format("{}:{}: broken invariant: {}", file, line, condition));
}

}  // namespace ayatori
