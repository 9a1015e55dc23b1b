#include "ayatori/session/solve/replay.hpp"

#include <fmt/format.h>

#include "ayatori/base/json.hpp"
#include "ayatori/base/regular_file.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::session {

namespace {

using Json = nlohmann::ordered_json;

/// Throws InputError unless the result is one that can be replayed here.
void check(const Json& result, const SystemIdentity& system, const ReplayedAs& now) {
  if (result.at("schema") != "ayatori.solve/1") throw InputError("of another schema");
  ReplayedAs then{whole_number<int>(result.at("ranks")), whole_number<int>(result.at("threads")),
                  result.at("partition")};
  if (const Json& placement = result.at("placement"); !placement.is_null() && !placement.at("kept"))
    placement.at("rank_of_part").get_to(then.rank_of_part);
  if (const Json& collectives = result.at("collectives"); !collectives.is_null())
    collectives.at("tables").get_to(then.tables);
  result.at("replay").at("coordinates").get_to(then.coordinates);
  then.near_null_space = result.at("replay").value("near_null_space", false);
  then.fields = result.at("replay").value("fields", false);
  if (then.ranks != now.ranks || then.threads > now.threads)
    throw InputError(fmt::format("of {} x {} ranks and threads, but there are {} x {} here", then.ranks,
                                 then.threads, now.ranks, now.threads));
  if (then.partition != now.partition) throw InputError(fmt::format("of --partition {}", then.partition));
  if (then.rank_of_part != now.rank_of_part) throw InputError("of another --placement");
  if (then.tables != now.tables)
    throw InputError(fmt::format("of --collectives {}", then.tables.empty() ? "none" : then.tables));
  if (then.coordinates != now.coordinates)
    throw InputError(then.coordinates ? "of a solve with --coordinates" : "of a solve without --coordinates");
  if (then.near_null_space != now.near_null_space)
    throw InputError(then.near_null_space ? "of a solve with a near null space"
                                          : "of a solve without a near null space");
  if (then.fields != now.fields)
    throw InputError(then.fields ? "of a solve with --fields" : "of a solve without --fields");
  if (result.at("replay").at("matrix") != fmt::format("{:016x}", system.matrix.values))
    throw InputError("of another matrix");
  if (result.at("replay").at("rhs") != fmt::format("{:016x}", system.rhs))
    throw InputError("of another right-hand side");
  if (!result.at("resumed").is_null())
    throw InputError("of a solve that was resumed, whose first half is gone");
  const std::string status = result.at("status");
  if (status != "converged" && status != "not converged")
    throw InputError(fmt::format("of a solve that did not come to its end: {}", status));
}

}  // namespace

Replay load_replay(const comm::Comm& comm, const std::string& path, const SystemIdentity& system,
                   const ReplayedAs& now) {
  std::string text = comm::agree(comm, [&] {
    if (comm.rank() != 0) return std::string();
    return naming(path, [&] { return read_regular_file(path, most_json_bytes); });
  });
  text = comm.broadcast(text, 0);
  return comm::agree(comm, [&]() -> Replay {
    const auto result = naming(path + ": no result of a solve", [&] { return parse_ordered_json(text); });
    return naming(path + ": the result cannot be replayed", [&]() -> Replay {
      check(result, system, now);
      return {std::make_shared<const tuning::Script>(tuning::script_from_json(result.at("replay"))),
              number_between(result.at("rtol"), 0, 1), whole_number<int>(result.at("threads"), 1)};
    });
  });
}

Json replay_json(const tuning::Script& script, const SystemIdentity& system, const ReplayedAs& as) {
  Json json = to_json(script);
  json["matrix"] = fmt::format("{:016x}", system.matrix.values);
  json["rhs"] = fmt::format("{:016x}", system.rhs);
  json["coordinates"] = as.coordinates;
  json["near_null_space"] = as.near_null_space;
  json["fields"] = as.fields;
  return json;
}

}  // namespace ayatori::session
