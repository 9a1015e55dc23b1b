#include "ayatori/base/json.hpp"
#include "ayatori/collectives/table.hpp"
#include "ayatori/machine/profile.hpp"

namespace {

/// Runs f(), which may refuse its input but do nothing worse.
void attempt(auto&& f) {
  try {
    f();
  } catch (const ayatori::InputError&) {
  }
}

}  // namespace

/// A text as JSON, as a machine's profile, and as a table of schedules.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const auto json = ayatori::parse_json(text);
    const auto ordered = ayatori::parse_ordered_json(text);
    if (json != ayatori::parse_json(ordered.dump())) __builtin_trap();
    attempt([&] { ayatori::collectives::ScheduleTable{json}; });
  });
  attempt([&] { ayatori::machine::profile_from_json(text, "fuzz"); });
  return 0;
}
