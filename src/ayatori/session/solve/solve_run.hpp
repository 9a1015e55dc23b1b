#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/collectives/scheduled_collectives.hpp"
#include "ayatori/comm/threads.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/machine/profile.hpp"
#include "ayatori/session/problem/placement.hpp"
#include "ayatori/session/solve/replay.hpp"
#include "ayatori/tuning/history.hpp"
#include "ayatori/tuning/product/thread_race.hpp"
#include "ayatori/tuning/solver.hpp"

namespace ayatori::session {

/// How the collective calls of rank 0 were done.
struct CollectiveCalls {
  std::string tables;
  std::map<collectives::Operation, std::int64_t> calls;  ///< calls of operations that may have schedules
  std::vector<collectives::ScheduleUse> schedules;       ///< those among the calls that went by one
  bool can_copy_once = false;  ///< messages inside the node, on rank 0, where schedules have that
};

/// A solve of a sequence beside the one that the result is of.
struct EarlierSolve {
  std::string rhs;
  int together;  ///< right-hand sides that were solved at once
  std::string status;
  bool converged;
  double relative_residual;  ///< true
  std::int64_t iterations;
  double seconds;
  double setup_seconds;
  std::string output;  ///< where x was written; empty if nowhere
};

/// The solve of a sequence whose report this is.
EarlierSolve earlier_solve(std::string rhs, const tuning::SolveReport& report, std::string output);

/// Bytes that processes have held at most, from their start to the end of the solve.
struct PeakMemory {
  std::int64_t of_rank = 0;   ///< the one with most
  std::int64_t of_ranks = 0;  ///< all together
};

/// A finished solve, with what its session and its problem know.
struct SolveRun {
  tuning::SolveReport report;
  std::vector<EarlierSolve> earlier;  ///< with the other right-hand sides
  tuning::Reuse reuse;
  io::SourceFacts source;
  double rtol = 0;
  int ranks = 1;
  int threads = 1;
  tuning::ThreadRace thread_race;  ///< that threads were found by
  comm::NodeLoad load;  ///< load of the busiest node, with the threads that were offered; zeros if unknown
  std::string partition;
  std::optional<FoundPlacement> placement;          ///< none if it was not asked for
  std::shared_ptr<const machine::Profile> machine;  ///< nullptr without a profile
  std::string profile;                         ///< where the machine's profile comes from; empty without one
  double machine_seconds = 0;                  ///< that measuring the machine took
  std::optional<CollectiveCalls> collectives;  ///< none without tables of schedules
  std::string replayed;                        ///< the result whose decisions were repeated; empty if none
  SystemIdentity system;                       ///< what a replay of this one is to be of
  ReplayedAs as;                               ///< and what it needs
  nlohmann::ordered_json knowledge;            ///< null without a knowledge base
  std::string experience;                      ///< what it said, in a line; empty if nothing
  nlohmann::ordered_json resumed;              ///< null if from the beginning
  nlohmann::ordered_json checkpoint;           ///< null without one
  PeakMemory memory;
  std::string rhs;
  tuning::History history;  ///< history of the residuals
  double read_seconds = 0;
  double write_seconds = 0;  ///< time to write x, and what was learned
  double total_seconds = 0;
  std::optional<double> true_error;  ///< ||x - x*|| / ||x*||, where b was made from a known x*
  std::string output;                ///< where x was written; empty if nowhere
};

/// The summary for people: facts, choice and why, result, time split.
std::string summary(const SolveRun& run);

/// Facts of the matrix as the user gave it: those of a complex one, in complex numbers.
tuning::MatrixFacts shown_facts(const SolveRun& run);

/// Its last line: where x was written. Empty if nowhere.
std::string written_line(const SolveRun& run);

/// What was considered, tried and decided, in sentences.
std::string explanation(const SolveRun& run);

/// Schema "ayatori.solve/1" (docs/solve.schema.json).
nlohmann::ordered_json to_json(const SolveRun& run);

}  // namespace ayatori::session
