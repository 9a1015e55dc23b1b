#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/model/records.hpp"
#include "ayatori/tuning/policy/choice.hpp"

namespace ayatori::tuning {

/// What may be tried.
struct ListedArm {
  Choice choice;
  std::string why;                      ///< one sentence
  bool last_resort = false;             ///< only for when the others have failed
  std::optional<std::size_t> kin = {};  ///< the arm of the records whose record stands for it
  double expected = 0;                  ///< products that a solve from nothing takes
};

/// All that may be tried, the expected winner first, last resorts last: every method with every
/// preconditioner that the records know and that applies to the matrix, then what nothing is known of. Forced
/// parts are the same in all. `longest_restart` bounds the basis by what memory holds. Throws InputError if
/// nothing is left that is not excluded.
std::vector<ListedArm> list_arms(const MatrixFacts& facts, const Forced& forced, int longest_restart,
                                 double rtol, const Records& records);
inline std::vector<ListedArm> list_arms(const MatrixFacts& facts, const Forced& forced, int longest_restart,
                                        double rtol) {
  return list_arms(facts, forced, longest_restart, rtol, Records::shipped(facts));
}

/// The same arms, and behind them those that a device of this kind can run as well (`ranks` ranks share it or
/// have one each); where they are to run there `alone`, nothing else. Throws InputError if nothing is left.
std::vector<ListedArm> with_device(std::vector<ListedArm> arms, std::string_view device, bool alone,
                                   int ranks);

/// For a Forecast: of each arm the one of the records that stands for it.
std::vector<std::optional<std::size_t>> kin_of(std::span<const ListedArm> arms);

/// Digits that a solve to this tolerance gains.
double digits_of(double rtol);

}  // namespace ayatori::tuning
