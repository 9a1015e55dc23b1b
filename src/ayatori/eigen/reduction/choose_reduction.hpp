#pragma once

#include <string>

#include "ayatori/eigen/work.hpp"

namespace ayatori::eigen {

/// What one rank, with all its threads, does in a second while the other ranks do the same.
struct ComputingRates {
  double product_flops = 0;   ///< rate of products of matrices
  double streamed_bytes = 0;  ///< rate of reading a matrix once
  double cached_flops = 0;    ///< rate of the chase of a band
};

/// Seconds of a phase without its messages.
double seconds_of(const PhaseWork& work, const ComputingRates& rates);

/// Rate of the chase of a band of this width on this rank alone: some milliseconds.
template <class T = double>
double measure_chase_rate(std::int64_t width);

/// Collective. Of the slowest rank: two products with the matrix itself, some small products, a small chase.
template <class T>
ComputingRates measure_rates(const DenseOf<T>& a, std::int64_t block);

/// Collective. The name of the reduction that takes the least time for this matrix and these options, if
/// options.reduction is "auto"; else that. Found by work_of() and measure_rates(), without messages, which
/// carry the same bytes by either way; a problem of which the measuring would be more than a thirtieth is
/// reduced in one stage, and so is one for whose second stage memory is short. The chase is measured only if
/// two stages would be faster were it to cost nothing.
template <class T>
std::string choose_reduction(const DenseOf<T>& a, const EigenOptions& options, ProblemKind kind);

}  // namespace ayatori::eigen
