#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/tuning/model/records.hpp"

namespace ayatori::tuning {

inline constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// An arm that does not run on the processor that records are of: what is different there, in products here.
struct Elsewhere {
  double carried = 0;  ///< the way there, beside the set-up
  double pace = 1;     ///< an iteration there, against one here ...
  double each = 0;     ///< ... and what it takes however small the system is
};

/// What a solve has seen of one of its arms. Costs are in products with compressed sparse rows.
struct Seen {
  bool may_run = true;           ///< it is not excluded, and has not failed
  bool is_built = false;         ///< its set-up is there
  bool is_complete = false;      ///< complete factors: their set-ups say nothing of others
  bool is_kept = false;          ///< its iteration can go on where it stands
  Elsewhere elsewhere = {};      ///< where it runs
  double set_up = not_known;     ///< as it was, or as an analysis has told
  double set_up_at_least = 0;    ///< it was given up when it had taken so much
  double iteration = not_known;  ///< as measured
  double iterations = 0;         ///< iterations of its last run
  double digits = 0;             ///< that this run has gained, as if it had begun with x = 0, ...
  double digits_halfway = 0;     ///< ... and had gained after half of its iterations
};

/// A solve on its way.
struct Progress {
  double digits_wanted = recorded_digits;
  double products_spent = 0;           ///< on iterations and set-ups so far
  std::optional<std::size_t> at_work;  ///< the arm that runs
  std::vector<Seen> arms;
};

/// What an arm is expected to take to the end, in products.
struct Expected {
  double mean = std::numeric_limits<double>::infinity();        ///< where a mistake is left in time
  double to_the_end = std::numeric_limits<double>::infinity();  ///< where it is not
  double set_up = 0;
  double iteration = 1;
};

struct Range {
  double low;
  double high;
};

/// The same of all arms, in their order.
class Outlook {
 public:
  Outlook(std::vector<Expected> arms, std::vector<double> weights, std::vector<double> totals)
      : arms_(std::move(arms)), weights_(std::move(weights)), totals_(std::move(totals)) {}

  const Expected& operator[](std::size_t arm) const { return arms_[arm]; }
  std::size_t similar_systems() const { return weights_.size(); }
  std::size_t size() const { return arms_.size(); }
  /// The arm with the least mean; nothing where nothing is known of any.
  std::optional<std::size_t> soonest() const;
  /// Between which half of the similar systems lie: a quarter takes less, a quarter more.
  Range range(std::size_t arm) const;
  /// The share of similar systems in which arm `a` takes less than arm `b`.
  double chance(std::size_t a, std::size_t b) const;

 private:
  std::vector<Expected> arms_;
  std::vector<double> weights_;  ///< weights of the similar systems
  std::vector<double> totals_;   ///< by system and arm
};

/// What a forecast goes by before anything has been seen.
struct SystemTraits {
  Features features{};
  double rows = 0;
  /// Iterations with the diagonal that suffice, as the facts prove; infinite where they prove nothing.
  double most_with_diagonal = std::numeric_limits<double>::infinity();
};
SystemTraits traits_of(const MatrixFacts& facts);

/// What every arm is expected to take on a system, by what it took on systems that are alike: in their facts,
/// and in what the arms tried so far have shown. A pure function of both.
class Forecast {
 public:
  /// `kin`: for each arm of the solve the one of the records whose record stands for it; none: nothing is
  /// known of it.
  Forecast(const Records& records, const SystemTraits& traits,
           std::span<const std::optional<std::size_t>> kin);
  Forecast(const Records& records, const MatrixFacts& facts, std::span<const std::optional<std::size_t>> kin)
      : Forecast(records, traits_of(facts), kin) {}

  /// An arm that may not run, or of which nothing is known, is expected to take infinitely long.
  Outlook expected(const Progress& progress) const;

 private:
  const ArmRecord& record(std::size_t system, std::size_t arm) const {
    return records_of_[system * arms_ + arm];
  }
  /// By arm, in products; and the weight of the similar systems that know the arm.
  struct Costs {
    std::vector<double> set_up;
    std::vector<double> iteration;
    std::vector<double> known;
  };
  std::vector<double> weights(const Progress& progress) const;
  Costs find_costs(const Progress& progress, const std::vector<double>& weight) const;

  const Records& records_;
  std::vector<SimilarSystem> systems_;
  std::size_t arms_;
  std::vector<ArmRecord> records_of_;  ///< by systems_ and the arms of the solve
};

}  // namespace ayatori::tuning
