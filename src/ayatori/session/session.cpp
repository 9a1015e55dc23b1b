#include "ayatori/session/session.hpp"

#include <utility>

namespace ayatori::session {

Session begin_session(const comm::Comm& world, const SessionOptions& options) {
  const int threads = comm::set_threads(world, options.threads);
  auto session = begin_session(world, threads, {}, options.collectives);
  session.machine = find_profile(world, options.profile, Measuring::where_solves_need_it);
  session.load = comm::busiest_node(world);
  return session;
}

Session begin_session(const comm::Comm& world, int threads, FoundProfile machine,
                      const std::string& collectives) {
  auto found = find_collectives(world, collectives);
  auto comm = found.scheduled ? world.with_collectives(found.scheduled) : world;
  return {world, std::move(comm), threads, std::move(found), std::move(machine), {}};
}

}  // namespace ayatori::session
