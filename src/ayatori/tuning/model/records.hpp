#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/tuning/facts/facts.hpp"

namespace ayatori::tuning {

/// What a forest sees of a matrix, in thousandths; bench/training/model.py computes the same. Symmetric is a
/// matrix that is equal to its transpose, complex or not.
inline constexpr std::size_t feature_count = 21;
using Features = std::array<std::int16_t, feature_count>;
Features features_of(const MatrixFacts& facts);

/// Digits that all recorded solves gained, and the iterations at which they are kept: 1, 2, 4, ...
inline constexpr double recorded_digits = 8;
inline constexpr std::size_t grid_points = 12;
/// A digit is kept in this many steps, as a byte.
inline constexpr int digit_steps = 30;

/// What an arm took and did on a recorded system. Costs are in products with compressed sparse rows.
struct ArmRecord {
  enum class Outcome { unknown, solved, failed };
  Outcome outcome = Outcome::unknown;
  double log_set_up = 0;  ///< natural logarithms
  double log_iteration = 0;
  double iterations = 0;  ///< to recorded_digits; many where it failed
  double stretch = 1;     ///< by which iterations were multiplied, for a system of another size
  std::array<float, grid_points> digits{};

  bool is_known() const { return outcome != Outcome::unknown; }
  /// Digits gained after this many iterations, between those kept.
  double digits_after(double iterations_done) const;
  /// Iterations after which this many digits were gained; infinite if never.
  double iterations_to(double digits_gained) const;
};

/// A recorded system that is like another one, and how much: weights of all that are like one sum up to 1.
struct SimilarSystem {
  std::size_t number;
  double weight;
};

/// Recorded systems with a forest that tells which of them a matrix is like (Meinshausen, JMLR 7, 2006: as
/// far as they share leaves). Numbers as bench/training/model.py writes them:
///   arms, systems, features, trees, grid points;
///   for each tree: nodes; of each feature + 32 * right child, threshold, its left child being the next one,
///     or 31 + 32 * systems in the leaf, where they begin; numbers of systems, and these;
///   for each arm the power of the rows by which set-ups grow, then that of iterations;
///   for each system: logarithm of the rows; a bit for each arm, whether it is known, sixteen in a number,
///   the
///     first in its lowest bit; for each known arm logarithms of set-up, of an iteration, of iterations (-1 -
///     that where it failed), then digits after 1, 2, 4, ... iterations in steps of 1 / digit_steps, two in a
///     number: the first in its lower byte.
class Records {
 public:
  Records(std::span<const std::int16_t> numbers, std::span<const std::string_view> arms,
          std::span<const std::string_view> families);

  /// Those that the program ships with: of real systems, which Hermitian ones are like, or of other complex
  /// ones, whose rows and entries are counted in complex numbers.
  static const Records& shipped(const MatrixFacts& facts = {});

  std::span<const std::string_view> arms() const { return arms_; }
  std::string_view family(std::size_t system) const { return families_[system]; }
  std::size_t size() const { return families_.size(); }

  /// The systems most like this one, the most alike first, at most `most`.
  std::vector<SimilarSystem> similar(const Features& features, std::size_t most) const;

  /// Record of this arm on this system, as if that had this many rows.
  ArmRecord record(std::size_t system, std::size_t arm, double rows) const;

 private:
  std::span<const std::int16_t> numbers_;
  std::span<const std::string_view> arms_;
  std::span<const std::string_view> families_;
  std::vector<std::size_t> trees_;    ///< where each begins
  std::size_t growth_ = 0;            ///< where the powers are
  std::vector<std::size_t> systems_;  ///< where each begins
};

}  // namespace ayatori::tuning
