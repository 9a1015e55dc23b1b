#include "ayatori/forecast/iteration.hpp"

#include <array>

namespace ayatori::forecast {

namespace {

constexpr double vote_and_clock = 2;
constexpr double basis = 30;
/// Inner iterations of bench::NpbCg between two products with the new z.
constexpr double inner = 25;

constexpr IterationWork cg{"cg", "a step", 1, 1, 4 + vote_and_clock, 14, 6, 1};
constexpr IterationWork minres{"minres", "a step", 1, 1, 6 + vote_and_clock, 18, 9, 1};
/// COCG for a real system, where its sums are of the two doubles beside the vote and the clock.
constexpr IterationWork cocg{"cocg", "a step", 1, 2, 2 + vote_and_clock, 14, 6, 1};
/// Sums of 2 and of 5.
constexpr IterationWork bicgstab{"bicgstab", "a step of two products", 2, 2, 3.5 + vote_and_clock, 23, 8, 2};
/// In a cycle of five steps four sum the products with four shadows, and the fifth two more; each sums a
/// norm.
constexpr IterationWork idr{"idr", "a step", 1, 2, (4 * (4 + 1) + 6 + 1) / 10.0 + vote_and_clock, 22, 18, 1};
/// Beside the steps a cycle computes a residual and its norm, and looks whether the correction is finite.
constexpr IterationWork gmres{"gmres",
                              "a step, averaged over cycles of 30",
                              1 + 1 / basis,
                              1 + 2 / basis,
                              (basis + 1) / 2 + 1 + vote_and_clock,
                              40,
                              33,
                              1 + 1 / basis};
/// One pass over nine vectors and x sums ten values.
constexpr IterationWork pipelined_cg{
    "pipelined-cg", "a step, its reduction during its product", 1, 1, 10 + vote_and_clock, 18, 10, 1, 1};
/// As gmres, but the images of the basis are kept too; a residual, its norm, the shift and whether the
/// correction is finite are not overlapped, and neither is the last step's reduction.
constexpr IterationWork pipelined_gmres{
    "pipelined-gmres",
    "a step, averaged over cycles of 30, its reduction during its product",
    1 + 1 / basis,
    1 + 3 / basis,
    (basis + 1) / 2 + 1 + vote_and_clock,
    60,
    64,
    1 + 1 / basis,
    1 - 1 / basis};
/// 25 iterations of 10 doubles and two reductions, and round them: z = 0, r = x, p = x, (r, r); x - A z;
/// three products; x = z / norm.
constexpr IterationWork npb_cg{"npb-cg",
                               "an inner iteration, with 1/25 of an outer one",
                               1 + 1 / inner,
                               2 + 2 / inner,
                               1 + vote_and_clock,
                               10 + (1 + 2 + 2 + 1 + 3 + 3 + 2) / inner,
                               4,
                               0};

}  // namespace

std::span<const IterationWork> iteration_works() {
  static constexpr std::array list{cg,    cocg,         minres,          bicgstab, idr,
                                   gmres, pipelined_cg, pipelined_gmres, npb_cg};
  return list;
}

std::span<const VectorPreconditioner> vector_preconditioners() {
  static constexpr std::array list{VectorPreconditioner{"none", 2}, VectorPreconditioner{"jacobi", 3}};
  return list;
}

}  // namespace ayatori::forecast
