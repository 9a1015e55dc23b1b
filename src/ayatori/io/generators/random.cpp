#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/complex_rows.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/permutation.hpp"

// Random sparse matrices without structure: every row refers to columns all over the matrix. Off-diagonal
// values are uniform in [-1, 1); the diagonal is `dominance` times the sum of their sizes in its row (1 where
// there are none), so that from 1 on the matrix is diagonally dominant, and random-spd is positive definite.
// So is random-hermitian, whose values have two uniform parts, until `shift` is taken off its diagonal.

namespace ayatori::io {

namespace {

double uniform_pm1(std::uint64_t seed, std::uint64_t index) {
  return 2 * random_uniform(seed, index) - 1;
}

struct Problem {
  explicit Problem(const GeneratorParameters& parameters)
      : n(parameters.integer("n")),
        couplings(parameters.integer("per_row") - 1),
        seed(static_cast<std::uint64_t>(parameters.integer("seed"))),
        dominance(parameters.real("dominance")) {}

  double diagonal(double sum_of_sizes) const { return sum_of_sizes > 0 ? dominance * sum_of_sizes : 1.0; }

  std::int64_t n;
  std::int64_t couplings;
  std::uint64_t seed;
  double dominance;
};

GeneratedMatrix make_unsymmetric(const GeneratorParameters& parameters) {
  const Problem problem(parameters);
  return {problem.n, [=](std::int64_t i, RowBuilder& row) {
            const auto others = static_cast<std::uint64_t>(problem.n - 1);
            double sum = 0;
            for (std::int64_t k = 0; k < (others > 0 ? problem.couplings : 0); ++k) {
              const auto index = static_cast<std::uint64_t>(i * problem.couplings + k);
              const auto other = static_cast<std::int64_t>(random_bits(problem.seed, 2 * index) % others);
              const double value = uniform_pm1(problem.seed, 2 * index + 1);
              row.add(other < i ? other : other + 1, value);
              sum += std::abs(value);
            }
            row.add(i, problem.diagonal(sum));
          }};
}

/// Row i is coupled with one partner in each of per_row - 1 random matchings. A matching is the reflection
/// p -> s - p (mod n) of shuffled row numbers: its own inverse, so that the partner finds i in turn without
/// asking.
class Matchings {
 public:
  explicit Matchings(const Problem& problem)
      : n_(static_cast<std::uint64_t>(problem.n)),
        seed_(problem.seed),
        shuffle_(n_, random_bits(seed_, 0)),
        sums_(static_cast<std::size_t>(problem.couplings)) {
    for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] = random_bits(seed_, k + 1) % n_;
  }

  /// Calls couple(partner, seed of the values of these two).
  template <class Couple>
  void for_each(std::int64_t i, Couple&& couple) const {
    const auto self = static_cast<std::uint64_t>(i);
    const std::uint64_t position = shuffle_(self);
    for (const std::uint64_t sum : sums_) {
      const std::uint64_t reflected = sum >= position ? sum - position : sum + n_ - position;
      const std::uint64_t partner = shuffle_.inverse(reflected);
      if (partner != self)
        couple(static_cast<std::int64_t>(partner), random_bits(seed_ + sum, std::min(self, partner)));
    }
  }

 private:
  std::uint64_t n_;
  std::uint64_t seed_;
  Permutation shuffle_;
  std::vector<std::uint64_t> sums_;
};

GeneratedMatrix make_spd(const GeneratorParameters& parameters) {
  const Problem problem(parameters);
  return {problem.n, [problem, matchings = Matchings(problem)](std::int64_t i, RowBuilder& row) {
            double sum = 0;
            matchings.for_each(i, [&](std::int64_t partner, std::uint64_t seed) {
              const double value = uniform_pm1(seed, static_cast<std::uint64_t>(std::max(i, partner)));
              row.add(partner, value);
              sum += std::abs(value);
            });
            row.add(i, problem.diagonal(sum));
          }};
}

GeneratedMatrix make_hermitian(const GeneratorParameters& parameters) {
  const Problem problem(parameters);
  const double shift = parameters.real("shift");
  return real_form(problem.n,
                   [problem, shift, matchings = Matchings(problem)](std::int64_t i, ComplexRowBuilder& row) {
                     double sum = 0;
                     matchings.for_each(i, [&](std::int64_t partner, std::uint64_t seed) {
                       const auto index = 2 * static_cast<std::uint64_t>(std::max(i, partner));
                       const sparse::Complex value(uniform_pm1(seed, index), uniform_pm1(seed, index + 1));
                       row.add(partner, i < partner ? value : std::conj(value));
                       sum += std::abs(value);
                     });
                     row.add(i, problem.diagonal(sum) - shift);
                   });
}

constexpr GeneratorParameter rows{"n", 10000, 1, 1e12, true, "rows"};
constexpr GeneratorParameter per_row{"per_row", 10, 1, 1000, true, "nonzeros per row, at most"};
constexpr GeneratorParameter seed{"seed", 1, 0, 4294967295, true, "of the random numbers"};
constexpr std::array parameters_unsymmetric{
    rows, per_row, seed,
    GeneratorParameter{"dominance", 1.1, 0.001, 1e6, false,
                       "diagonal over the sum of the other sizes in its row"}};
constexpr GeneratorParameter definite_dominance{
    "dominance", 1.1, 1.000001, 1e6, false, "diagonal over the sum of the other sizes in its row"};
constexpr std::array parameters_spd{rows, per_row, seed, definite_dominance};
constexpr std::array parameters_hermitian{
    GeneratorParameter{"n", 10000, 1, 1e12, true, "complex rows"}, per_row, seed, definite_dominance,
    GeneratorParameter{"shift", 0, -1e6, 1e6, false, "taken off the diagonal; large: indefinite"}};

}  // namespace

const Generator random_unsymmetric{"random", "Random sparse matrix, unsymmetric pattern and values", false,
                                   parameters_unsymmetric, make_unsymmetric};
const Generator random_spd{"random-spd", "Random sparse matrix, symmetric positive definite", true,
                           parameters_spd, make_spd};
const Generator random_hermitian{"random-hermitian",
                                 "Random sparse matrix, Hermitian, positive definite unless shifted",
                                 true,
                                 parameters_hermitian,
                                 make_hermitian,
                                 true};

}  // namespace ayatori::io
