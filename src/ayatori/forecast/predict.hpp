#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/forecast/iteration.hpp"
#include "ayatori/forecast/job_machine.hpp"
#include "ayatori/forecast/pattern.hpp"

namespace ayatori::forecast {

/// What the time of an iteration is made of. They follow each other: nothing overlaps but the reductions of
/// pipelined methods, of which only what takes longer than the product is counted.
enum class Phase {
  product,         ///< moving the matrix, x and y through memory; the mean of all ranks
  vectors,         ///< vector operations and the preconditioner, likewise
  imbalance,       ///< what the rank with most of both takes longer
  halo_latency,    ///< latency of the exchanges before products
  halo_bandwidth,  ///< what their bytes add
  reductions,
};
inline constexpr int phase_count = 6;

/// What the machine gives to a phase.
enum class Resource { memory, balance, latency, bandwidth };

struct PhaseType {
  std::string_view name;
  Resource resource;
  std::string_view bound;  ///< what bounds an iteration in which this phase is the longest, in words
  std::string_view help;   ///< what would make it shorter
  std::string_view loss;   ///< what costs efficiency if this phase does not shrink with more nodes
};

/// By Phase.
const PhaseType& type_of(Phase phase);

/// An iteration on a job of some shape.
struct Forecast {
  JobShape shape;
  std::array<double, phase_count> seconds{};  ///< by Phase
  double working_set = 0;                     ///< bytes of the rank that has most
  double rate = 0;                            ///< bytes per second of that rank
  std::int64_t messages = 0;                  ///< messages of a product, all ranks
  std::int64_t bytes = 0;                     ///< that they carry

  double operator[](Phase phase) const { return seconds[static_cast<int>(phase)]; }
  double total() const;
  /// One phase's share, between 0 and 1.
  double share(Phase phase) const { return (*this)[phase] / total(); }
  /// The longest phase.
  Phase bound() const;
  /// Seconds of all phases that wait for a resource.
  double waiting_for(Resource resource) const;
  /// The side of the network that an iteration waits for longer; nothing where there are no
  /// messages.
  std::optional<Resource> network_side() const;
  /// How many times as fast an iteration is where a resource gives twice as much (half the latency).
  double gain(Resource resource) const { return total() / (total() - waiting_for(resource) / 2); }
};

/// `network`: routes between nodes, whose links messages share; none: nodes have ports only.
Forecast predict(const SpreadMatrix& matrix, const IterationWork& work,
                 const VectorPreconditioner& preconditioner, const JobMachine& machine,
                 const network::Network* network = nullptr);

/// What the forecasts of one matrix by ascending shapes come to.
struct Conclusion {
  std::vector<std::string> crossovers;  ///< where one thing begins to take more than another, by shapes
  std::string scaling;   ///< what costs the last one most of its efficiency; empty where it has lost none
  std::string sentence;  ///< what bounds the last one, and what would help
};
Conclusion conclude(std::span<const Forecast> forecasts);

/// "8 nodes x 2 ranks"
std::string describe(const JobShape& shape);

}  // namespace ayatori::forecast
