#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ayatori/tuning/model/records.hpp"

namespace ayatori::tuning {

/// What an arm took on a system of hand-made records, in products.
struct RecordedArm {
  ArmRecord::Outcome outcome = ArmRecord::Outcome::unknown;
  double set_up = 1;
  double iteration = 1;
  double iterations = 1;
  std::array<double, grid_points> digits{};
};

/// As records keep it: the first number of a tree's node. A leaf has no feature, and systems for a right
/// child.
inline constexpr int no_feature = 31;
inline std::int16_t two_in_one(int feature, int right_child) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(feature + 32 * right_child));
}

/// As records keep it, with the outcome.
inline std::int16_t iterations_of(ArmRecord::Outcome outcome, int log_iterations) {
  return static_cast<std::int16_t>(outcome == ArmRecord::Outcome::solved ? log_iterations
                                                                         : -1 - log_iterations);
}

/// As records keep them: two bytes in a number.
inline void append_digits(std::vector<std::int16_t>& numbers, const std::array<double, grid_points>& digits) {
  for (std::size_t i = 0; i < grid_points; i += 2)
    numbers.push_back(static_cast<std::int16_t>(static_cast<std::uint16_t>(
        std::lround(digit_steps * digits[i]) + 256 * std::lround(digit_steps * digits[i + 1]))));
}

/// The same number of digits in every iteration.
inline RecordedArm steady(double set_up, double iteration, double iterations) {
  RecordedArm arm{ArmRecord::Outcome::solved, set_up, iteration, iterations, {}};
  for (std::size_t i = 0; i < grid_points; ++i)
    arm.digits[i] =
        std::min(recorded_digits, recorded_digits * std::exp2(static_cast<double>(i)) / iterations);
  return arm;
}

/// Records of systems of 1000 rows that are all alike, and grow in nothing, in the layout that records.hpp
/// documents.
class HandMade {
 public:
  static constexpr std::int64_t rows = 1000;
  using System = std::vector<RecordedArm>;

  /// `arms`: their names, for a solve that has to find them.
  explicit HandMade(const std::vector<System>& systems, std::vector<std::string_view> families = {},
                    std::vector<std::string_view> arms = {})
      : arms_(std::move(arms)),
        families_(std::move(families)),
        numbers_(numbers_of(systems)),
        records_(numbers_, arms_, families_) {}
  HandMade(const HandMade&) = delete;
  HandMade& operator=(const HandMade&) = delete;

  const Records& records() const { return records_; }

 private:
  static std::int16_t in_thousandths(double value) {
    return static_cast<std::int16_t>(std::lround(1000 * value));
  }

  /// Which arms are known, sixteen in a number.
  static void append_bits(std::vector<std::int16_t>& numbers, const System& system) {
    constexpr std::size_t in_a_number = 16;
    for (std::size_t begin = 0; begin < system.size(); begin += in_a_number) {
      unsigned bits = 0;
      for (std::size_t i = begin; i < std::min(begin + in_a_number, system.size()); ++i)
        bits |= (system[i].outcome != ArmRecord::Outcome::unknown ? 1U : 0U) << (i - begin);
      numbers.push_back(static_cast<std::int16_t>(static_cast<std::uint16_t>(bits)));
    }
  }

  std::vector<std::int16_t> numbers_of(const std::vector<System>& systems) {
    arms_.resize(systems.front().size(), "an arm");
    families_.resize(systems.size(), "a family");
    const auto count = static_cast<std::int16_t>(systems.size());
    const auto of_arms = static_cast<std::int16_t>(arms_.size());
    std::vector<std::int16_t> numbers{of_arms, count, feature_count, 1, grid_points};
    numbers.insert(numbers.end(), {1, two_in_one(no_feature, count), 0, count});  // a tree that is one leaf
    for (std::int16_t i = 0; i < count; ++i) numbers.push_back(i);
    numbers.resize(numbers.size() + 2 * arms_.size(), 0);  // powers
    for (const System& system : systems) {
      numbers.push_back(in_thousandths(std::log(rows)));
      append_bits(numbers, system);
      for (const RecordedArm& arm : system) {
        if (arm.outcome == ArmRecord::Outcome::unknown) continue;
        for (const double cost : {arm.set_up, arm.iteration})
          numbers.push_back(in_thousandths(std::log(cost)));
        numbers.push_back(iterations_of(arm.outcome, in_thousandths(std::log(arm.iterations))));
        append_digits(numbers, arm.digits);
      }
    }
    return numbers;
  }

  std::vector<std::string_view> arms_;
  std::vector<std::string_view> families_;
  std::vector<std::int16_t> numbers_;
  Records records_;  ///< records of the three above
};

/// Records by which CG with the diagonal takes few iterations or far too many: it begins, and is left by a
/// solve that does not see the few.
inline const Records& records_that_mislead() {
  static const HandMade made({{steady(0.5, 1.2, 20), steady(3, 2, 30), steady(2, 4, 40)},
                              {steady(0.5, 1.2, 4000), steady(3, 2, 60), steady(2, 4, 80)}},
                             {}, {"cg + jacobi", "cg + block-ilu0", "cg + chebyshev"});
  return made.records();
}

}  // namespace ayatori::tuning
