#include "ayatori/gpu/failure.hpp"

#include "ayatori/base/error.hpp"

namespace ayatori::gpu {

void throw_failure(const std::string& text) {
  throw EnvironmentError(text);
}

}  // namespace ayatori::gpu
