#include "ayatori/comm/runtime/transport.hpp"

#include <memory>

#include "ayatori/comm/runtime/single.hpp"

namespace ayatori::comm {

namespace {

/// As long as the process: statics let go of communicators at its end.
const Transport*& in_use() {
  static const Transport* chosen = &single_transport();
  return chosen;
}

}  // namespace

const Transport& transport() {
  return *in_use();
}

void use_transport(const Transport& chosen) {
  in_use() = std::make_unique<const Transport>(chosen).release();
}

}  // namespace ayatori::comm
