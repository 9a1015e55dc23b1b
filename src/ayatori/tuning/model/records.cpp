#include "ayatori/tuning/model/records.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"

namespace ayatori::tuning {

namespace {

namespace real_systems {
#include "ayatori/tuning/model/shipped.inc"
}
namespace complex_systems {
#include "ayatori/tuning/model/shipped_complex.inc"
}

constexpr double thousandths = 1e-3;
constexpr std::size_t header = 5;
constexpr std::size_t of_a_node = 2;
constexpr std::size_t of_an_arm = 3 + grid_points / 2;

std::int16_t in_thousandths(double value) {
  constexpr double largest = std::numeric_limits<std::int16_t>::max();
  return static_cast<std::int16_t>(std::lround(std::clamp(value / thousandths, -largest, largest)));
}

using Word = std::uint16_t;

constexpr std::size_t bits_of_a_word() {
  return std::numeric_limits<Word>::digits;
}

/// One of the bits that stand in `numbers`, the first in the lowest one.
bool bit(const std::int16_t* numbers, std::size_t place) {
  const auto word = static_cast<Word>(numbers[place / bits_of_a_word()]);
  return (word >> (place % bits_of_a_word()) & 1U) != 0;
}

std::size_t bits_before(const std::int16_t* numbers, std::size_t end) {
  std::size_t count = 0;
  for (std::size_t place = 0; place < end; ++place) count += bit(numbers, place) ? 1 : 0;
  return count;
}

std::size_t numbers_of_bits(std::size_t count) {
  return (count + bits_of_a_word() - 1) / bits_of_a_word();
}

/// A node of a tree: its first number holds two.
class Node {
 public:
  explicit Node(const std::int16_t* numbers)
      : low_(static_cast<Word>(numbers[0]) % radix),
        high_(static_cast<Word>(numbers[0]) / radix),
        second_(numbers[1]) {}

  bool is_leaf() const { return low_ == no_feature; }
  std::size_t feature() const { return low_; }
  std::int16_t threshold() const { return second_; }
  std::size_t right_child() const { return high_; }
  std::size_t systems() const { return high_; }                                   ///< in a leaf ...
  std::size_t first_system() const { return static_cast<std::size_t>(second_); }  ///< ... from this on

 private:
  static constexpr Word radix = 32;
  static constexpr Word no_feature = radix - 1;
  Word low_;
  Word high_;
  std::int16_t second_;
};

/// Logarithm of a magnitude that may be 0.
double logarithm(double value) {
  constexpr double least = 1e-12;
  return std::log(std::max(value, least));
}

}  // namespace

Features features_of(const MatrixFacts& facts) {
  const auto rows = static_cast<double>(std::max<std::int64_t>(facts.rows, 1));
  const double mean = std::max(static_cast<double>(facts.nonzeros) / rows, 1e-3);
  const double bandwidth = std::clamp(static_cast<double>(facts.bandwidth), 1.0, rows);
  const double least_diagonal =
      std::max({facts.min_abs_diagonal, 1e-12 * facts.max_abs_diagonal, std::numeric_limits<double>::min()});
  const std::array<double, feature_count> values{
      logarithm(rows),
      logarithm(mean),
      logarithm(facts.mean_row_of_entries / mean),
      logarithm(static_cast<double>(facts.max_row_nonzeros) / mean),
      facts.symmetric || facts.complex_symmetric ? 1.0 : 0.0,
      facts.pattern_symmetric ? 1.0 : 0.0,
      logarithm(facts.asymmetry + 1e-4),
      facts.looks_definite() ? 1.0 : 0.0,
      static_cast<double>(facts.zero_diagonals) / rows,
      static_cast<double>(facts.odd_diagonals()) / rows,
      facts.dominant_rows,
      facts.diffusive_rows,
      facts.strongly_dominant_rows,
      logarithm(facts.least_dominance + 1e-4),
      logarithm(std::min(std::abs(facts.constant_quotient), 1.0) + 1e-6),
      std::min(logarithm(facts.max_abs_diagonal / least_diagonal), 20.0),
      logarithm(facts.dropped_fill + 1e-3),
      facts.dropped_fill == 0 ? 1.0 : 0.0,
      facts.block_size > 1 ? 1.0 : 0.0,
      logarithm(bandwidth) / std::max(logarithm(rows), 1.0),
      static_cast<double>(facts.boundary_rows) / rows,
  };
  Features features{};
  std::ranges::transform(values, features.begin(), in_thousandths);
  return features;
}

double ArmRecord::digits_after(double iterations_done) const {
  const double place = std::clamp(std::log2(std::max(iterations_done / stretch, 1.0)), 0.0,
                                  static_cast<double>(grid_points) - 1.001);
  const auto before = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(before);
  return (1 - share) * digits[before] + share * digits[before + 1];
}

double ArmRecord::iterations_to(double digits_gained) const {
  const auto place =
      std::ranges::find_if(digits, [&](float reached) { return reached >= digits_gained; }) - digits.begin();
  if (place == static_cast<std::ptrdiff_t>(grid_points))
    return outcome == Outcome::solved ? iterations : std::numeric_limits<double>::infinity();
  if (place == 0) return stretch;
  const double below = digits[place - 1];
  const double share = (digits_gained - below) / (digits[place] - below);
  return std::min(stretch * std::exp2(static_cast<double>(place) - 1 + share), std::max(iterations, 1.0));
}

Records::Records(std::span<const std::int16_t> numbers, std::span<const std::string_view> arms,
                 std::span<const std::string_view> families)
    : numbers_(numbers), arms_(arms), families_(families) {
  const auto fits = [&](std::size_t end) { return end <= numbers_.size(); };
  const auto require = [](bool holds) {
    if (!holds) throw InputError("the records of earlier systems do not fit this version");
  };
  require(fits(header) && numbers_[0] == static_cast<std::int16_t>(arms.size()) &&
          numbers_[1] == static_cast<std::int16_t>(families.size()) &&
          numbers_[2] == static_cast<std::int16_t>(feature_count) &&
          numbers_[4] == static_cast<std::int16_t>(grid_points));
  std::size_t place = header;
  for (int tree = 0; tree < numbers_[3]; ++tree) {
    trees_.push_back(place);
    require(fits(place + 1));
    place += 1 + of_a_node * static_cast<std::size_t>(numbers_[place]);
    require(fits(place + 1));
    place += 1 + static_cast<std::size_t>(numbers_[place]);
  }
  growth_ = place;
  place = growth_ + 2 * arms_.size();
  for (std::size_t system = 0; system < families_.size(); ++system) {
    systems_.push_back(place);
    const std::size_t records = place + 1 + numbers_of_bits(arms_.size());
    require(fits(records));
    place = records + of_an_arm * bits_before(&numbers_[place + 1], arms_.size());
  }
  require(place == numbers_.size());
}

const Records& Records::shipped(const MatrixFacts& facts) {
  static const Records of_real(real_systems::shipped_numbers, real_systems::shipped_arms,
                               real_systems::shipped_families);
  static const Records of_complex(complex_systems::shipped_numbers, complex_systems::shipped_arms,
                                  complex_systems::shipped_families);
  return facts.is_complex() ? of_complex : of_real;
}

std::vector<SimilarSystem> Records::similar(const Features& features, std::size_t most) const {
  std::vector<double> weight(size(), 0.0);
  for (const std::size_t begin : trees_) {
    const auto nodes = static_cast<std::size_t>(numbers_[begin]);
    const auto node_at = [&](std::size_t place) { return Node(&numbers_[begin + 1 + of_a_node * place]); };
    std::size_t place = 0;
    Node node = node_at(place);
    while (!node.is_leaf()) {
      const bool is_left = features[node.feature()] <= node.threshold();
      place = is_left ? place + 1 : node.right_child();
      node = node_at(place);
    }
    const std::size_t members = begin + 1 + of_a_node * nodes + 1 + node.first_system();
    const double share = 1.0 / static_cast<double>(node.systems());
    for (std::size_t i = 0; i < node.systems(); ++i)
      weight[static_cast<std::size_t>(numbers_[members + i])] += share;
  }
  std::vector<SimilarSystem> found;
  for (std::size_t i = 0; i < weight.size(); ++i)
    if (weight[i] > 0) found.push_back({i, weight[i]});
  const auto is_nearer = [](const SimilarSystem& a, const SimilarSystem& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.number < b.number;
  };
  std::ranges::sort(found, is_nearer);
  if (found.size() > most) found.resize(most);
  double sum = 0;
  for (const SimilarSystem& system : found) sum += system.weight;
  for (SimilarSystem& system : found) system.weight /= sum;
  return found;
}

ArmRecord Records::record(std::size_t system, std::size_t arm, double rows) const {
  const std::int16_t* numbers = &numbers_[systems_[system]];
  const double larger = logarithm(rows) - thousandths * numbers[0];  // logarithm of the ratio
  const std::int16_t* known = numbers + 1;
  if (!bit(known, arm)) return {};
  numbers = known + numbers_of_bits(arms_.size()) + of_an_arm * bits_before(known, arm);
  const bool is_solved = numbers[2] >= 0;
  const int log_iterations = is_solved ? numbers[2] : -1 - numbers[2];
  ArmRecord record{.outcome = is_solved ? ArmRecord::Outcome::solved : ArmRecord::Outcome::failed};
  const double set_up_power = thousandths * numbers_[growth_ + arm];
  const double power = thousandths * numbers_[growth_ + arms_.size() + arm];
  record.log_set_up = thousandths * numbers[0] + set_up_power * larger;
  record.log_iteration = thousandths * numbers[1];
  record.stretch = std::exp(power * larger);
  record.iterations = record.stretch * std::exp(thousandths * log_iterations);
  for (std::size_t i = 0; i < grid_points; ++i) {
    const auto pair = static_cast<std::uint16_t>(numbers[3 + i / 2]);
    record.digits[i] = static_cast<float>(i % 2 == 0 ? pair & 0xff : pair >> 8) / digit_steps;
  }
  return record;
}

}  // namespace ayatori::tuning
