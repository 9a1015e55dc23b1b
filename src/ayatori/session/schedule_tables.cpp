#include "ayatori/session/schedule_tables.hpp"

#include <cstdlib>
#include <utility>

#include "ayatori/base/json.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::session {

namespace {

std::string files_of(const std::string& word) {
  if (word == "none") return "";
  if (word != "auto") return word;
  const char* const value = std::getenv("AYATORI_COLLECTIVES");
  return value != nullptr ? value : "";
}

}  // namespace

FoundCollectives find_collectives(const comm::Comm& world, const std::string& word) {
  const std::string files = world.broadcast(files_of(word), 0);
  if (files.empty()) return {};
  const std::string read = comm::agree(
      world, [&] { return world.rank() == 0 ? collectives::read_schedules(files).dump() : std::string(); });
  const std::string text = world.broadcast(read, 0);
  const auto scheduled = comm::agree(world, [&] {
    collectives::ScheduleTable table(parse_json(text));
    return std::make_shared<collectives::ScheduledCollectives>(std::move(table));
  });
  if (scheduled->table().has(world.size())) scheduled->share_memory(world);
  return {scheduled, files};
}

std::int64_t scheduled_calls(std::span<const collectives::ScheduleUse> uses) {
  std::int64_t calls = 0;
  for (const auto& use : uses) calls += use.calls;
  return calls;
}

}  // namespace ayatori::session
