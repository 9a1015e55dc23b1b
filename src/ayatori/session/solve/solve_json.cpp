#include <algorithm>
#include <nlohmann/json.hpp>

#include "ayatori/base/version.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/session/solve/solve_run.hpp"
#include "ayatori/tuning/report_json.hpp"

namespace ayatori::session {

namespace {

nlohmann::ordered_json collectives_json(const CollectiveCalls& collectives) {
  nlohmann::ordered_json json{{"tables", collectives.tables},
                              {"can_copy_once", collectives.can_copy_once},
                              {"calls", nlohmann::ordered_json::object()},
                              {"schedules", nlohmann::ordered_json::array()}};
  for (const auto& [operation, calls] : collectives.calls)
    json["calls"][std::string(type_of(operation).name)] = calls;
  for (const auto& [operation, entry, calls] : collectives.schedules)
    json["schedules"].push_back({{"operation", type_of(operation).name},
                                 {"ranks", entry->plan->ranks},
                                 {"bytes", entry->bytes},
                                 {"text", describe(*entry->plan)},
                                 {"calls", calls}});
  return json;
}

nlohmann::ordered_json sequence_json(const SolveRun& run) {
  if (run.earlier.empty()) return nullptr;
  nlohmann::ordered_json json{{"solves", run.reuse.solves},
                              {"set_ups", run.reuse.set_ups},
                              {"set_up_seconds", run.reuse.set_up_seconds},
                              {"extra_seconds", run.reuse.extra_seconds},
                              {"break_even_solves", run.reuse.break_even},
                              {"earlier", nlohmann::ordered_json::array()}};
  for (const auto& solve : run.earlier)
    json["earlier"].push_back({{"rhs", solve.rhs},
                               {"together", solve.together},
                               {"status", solve.status},
                               {"converged", solve.converged},
                               {"relative_residual", solve.relative_residual},
                               {"iterations", solve.iterations},
                               {"seconds", {{"total", solve.seconds}, {"setup", solve.setup_seconds}}},
                               {"output", solve.output}});
  return json;
}

nlohmann::ordered_json to_json(const tuning::ThreadRace& race) {
  auto entries = nlohmann::ordered_json::array();
  for (const auto& entry : race.entries)
    entries.push_back({{"threads", entry.threads}, {"seconds", entry.seconds}});
  return {{"offered", race.offered}, {"entries", std::move(entries)}, {"seconds", race.seconds}};
}

/// Beside the phases of the tuner. "other" is what all of them leave of the total.
void add_what_is_around(const SolveRun& run, nlohmann::ordered_json& seconds) {
  const tuning::PhaseSeconds& phases = run.report.seconds;
  const double inside = phases.setup + phases.tuning + phases.verification + phases.snapshots + phases.solve;
  seconds["machine"] = run.machine_seconds;
  seconds["read"] = run.read_seconds;
  seconds["write"] = run.write_seconds;
  seconds["total"] = run.total_seconds;
  seconds["other"] =
      std::max(run.total_seconds - inside - run.machine_seconds - run.read_seconds - run.write_seconds, 0.0);
}

}  // namespace

nlohmann::ordered_json to_json(const SolveRun& run) {
  auto json = tuning::to_json(run.report);
  json["matrix"] = tuning::to_json(shown_facts(run));
  json["version"] = version;
  json["mpi"] = comm::mpi_version();
  json["matrix"]["source"] = run.source.name;
  json["matrix"]["format"] = run.source.format;
  json["rhs"] = run.rhs;
  json["sequence"] = sequence_json(run);
  json["rtol"] = run.rtol;
  json["ranks"] = run.ranks;
  json["threads"] = run.threads;
  json["thread_race"] = to_json(run.thread_race);
  json["oversubscribed"] = run.load.is_oversubscribed();
  json["partition"] = run.partition;
  json["placement"] = run.placement ? to_json(*run.placement) : nlohmann::ordered_json(nullptr);
  json["profile"] =
      run.profile.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(run.profile);
  json["collectives"] =
      run.collectives ? collectives_json(*run.collectives) : nlohmann::ordered_json(nullptr);
  json["knowledge"] = run.knowledge;
  json["resumed"] = run.resumed;
  json["checkpoint"] = run.checkpoint;
  json["true_error"] =
      run.true_error ? nlohmann::ordered_json(*run.true_error) : nlohmann::ordered_json(nullptr);
  json["replayed"] =
      run.replayed.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(run.replayed);
  json["replay"] = replay_json(run.report.script, run.system, run.as);
  json["output"] = run.output.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(run.output);
  json["memory"] = {{"peak_bytes_of_rank", run.memory.of_rank}, {"peak_bytes", run.memory.of_ranks}};
  json["history"] = run.history.to_json();
  add_what_is_around(run, json["seconds"]);
  return json;
}

}  // namespace ayatori::session
