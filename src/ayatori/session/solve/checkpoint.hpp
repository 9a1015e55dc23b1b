#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ayatori/session/problem/problem.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::session {

/// What tells one system from others, however it is spread.
struct SystemIdentity {
  sparse::Fingerprint matrix;
  std::uint64_t rhs = 0;
  double rtol = 0;
};

/// Where a solve begins that another one left.
struct Resumed {
  Array<double> x;  ///< in the solver's numbering
  tuning::Choice choice;
  std::string file;
  std::int64_t iterations = 0;
  double seconds = 0;
  double relative_residual = 1;
};

/// Collective. What `path` holds, on any number of ranks. Throws InputError, agreed, if it is no checkpoint,
/// damaged, or of another matrix or right-hand side.
Resumed resume(const comm::Comm& comm, const std::string& path, const Problem& problem,
               const SystemIdentity& system);

/// Begins where the other left: x and the arm at work.
void begin_with(const Resumed& resumed, tuning::SolveOptions& options);

/// Collective. Runs what writes a file, so that nothing ends the process meanwhile; empty: as it is.
using Uninterrupted = std::function<void(const std::function<void()>& write)>;

/// Writes checkpoints, and counts them.
class CheckpointWriter {
 public:
  /// `before`: what the solve was resumed from, whose time and iterations count as well.
  CheckpointWriter(comm::Comm comm, const Problem& problem, std::string path, SystemIdentity system,
                   const Resumed* before, Uninterrupted uninterrupted = {});

  /// Collective. A file that cannot be written is no reason to end the solve: the checkpoint before stays.
  void write(const tuning::Snapshot& snapshot);

  int written() const { return written_; }
  /// Why the last one could not be written; empty if it was.
  const std::string& failure() const { return failure_; }
  const std::string& path() const { return path_; }

 private:
  comm::Comm comm_;
  const Problem& problem_;
  std::string path_;
  SystemIdentity system_;
  Uninterrupted uninterrupted_;
  std::int64_t iterations_before_ = 0;
  double seconds_before_ = 0;
  int written_ = 0;
  std::string failure_;
};

nlohmann::ordered_json to_json(const Resumed& resumed);
nlohmann::ordered_json to_json(const CheckpointWriter& writer);

}  // namespace ayatori::session
