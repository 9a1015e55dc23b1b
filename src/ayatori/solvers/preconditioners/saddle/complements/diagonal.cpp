#include <array>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/saddle/complements/complements.hpp"

// A multiple of diag(B2 D^-1 B1 - E)^-1, a stand-in for the pressure mass matrix of Stokes' equations.

namespace ayatori::solvers::saddle {

namespace {

/// The diagonal of T, scaled such that S has the mean eigenvalue 1 with it, by random numbers that are the
/// same on any number of ranks.
std::shared_ptr<const sparse::LinearOperator> make(Ingredients& from, const sparse::LinearOperator& v) {
  const Operators& of = from.of;
  const std::int64_t n = of.t->local_size();
  const Array<double> q = random_numbers(*of.t);
  Array<double> of_q = zeros(of.comm, n);
  SchurComplement(of, v).apply(q, of_q);
  Array<double> weight = invert_diagonal(*of.t, "schur").value;
  std::array<double, 2> energies = parallel_sums<2>(n, [&](Range range) {
    std::array<double, 2> sums{};
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      sums[0] += q[i] * q[i] / weight[i];
      sums[1] += q[i] * of_q[i];
    }
    return sums;
  });
  of.comm.allreduce(std::span<double>(energies), comm::ReduceOp::sum);
  const double factor = energies[1] > 0 ? energies[0] / energies[1] : 1;
  parallel_for(n, [&](std::int64_t i) { weight[i] *= factor; });
  return comm::agree(of.comm, [&] { return std::make_shared<const Diagonal>(std::move(weight)); });
}

}  // namespace

const Complement diagonal_complement{
    .name = "diagonal", .by_diagonal = false, .cycles_for_t = 0, .multiplies_by_a = false, .make = make};

const Complement diagonals_complement{
    .name = "diagonals", .by_diagonal = true, .cycles_for_t = 0, .multiplies_by_a = false, .make = make};

}  // namespace ayatori::solvers::saddle
