#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/tuning/memory/knowledge.hpp"

namespace ayatori::session {

/// What a solve takes from the knowledge base, and what it gives back.
class SolveKnowledge {
 public:
  /// Collective. `word`: a folder, "none", or "auto" (tuning::default_knowledge_folder()). Rank 0 reads. A
  /// folder that cannot be read counts as an empty one, and that is noted. The machine of the situation is
  /// found here: processor and MPI.
  SolveKnowledge(comm::Comm comm, const std::string& word, sparse::Fingerprint matrix, std::string source,
                 tuning::Situation situation);

  bool in_use() const { return base_.has_value(); }

  /// Collective. What is known for a matrix of these facts; the same on every rank.
  tuning::Experience recall(const tuning::MatrixFacts& facts);

  /// Called on rank 0. What cannot be kept is noted, and no error.
  void store(const tuning::SolveReport& report, const tuning::Forced& forced);

  /// Notes of files that were passed over, and of what could not be read or kept, each once; on rank 0.
  std::vector<std::string> take_notes();
  /// One line; empty if nothing was found.
  std::string summary(const tuning::SolveReport& report) const;
  nlohmann::ordered_json to_json() const;

 private:
  comm::Comm comm_;
  std::optional<tuning::KnowledgeBase> base_;
  sparse::Fingerprint matrix_;
  std::string source_;
  tuning::Situation situation_;
  std::vector<tuning::Lesson> lessons_;  ///< on rank 0
  tuning::Recalled recalled_;            ///< on rank 0 whole, elsewhere its experience
  std::string written_;
  std::vector<std::string> notes_;
  std::size_t taken_ = 0;  ///< notes taken so far
};

}  // namespace ayatori::session
