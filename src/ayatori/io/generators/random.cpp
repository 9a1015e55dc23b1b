#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/io/generators/generators.hpp"
#include "ayatori/io/generators/permutation.hpp"

// Random sparse matrices without structure: every row refers to columns all over the matrix. Off-diagonal
// values are uniform in [-1, 1); the diagonal is `dominance` times the sum of their sizes in its row (1 where
// there are none), so that from 1 on the matrix is diagonally dominant, and random-spd is positive definite.

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

  void add_diagonal(RowBuilder& row, std::int64_t i, double sum_of_sizes) const {
    row.add(i, sum_of_sizes > 0 ? dominance * sum_of_sizes : 1.0);
  }

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
            problem.add_diagonal(row, i, sum);
          }};
}

/// Row i is coupled with one partner in each of per_row - 1 random matchings. A matching is the reflection
/// p -> s - p (mod n) of shuffled row numbers: its own inverse, so that the partner finds i in turn without
/// asking.
GeneratedMatrix make_spd(const GeneratorParameters& parameters) {
  const Problem problem(parameters);
  const auto n = static_cast<std::uint64_t>(problem.n);
  const Permutation shuffle(n, random_bits(problem.seed, 0));
  std::vector<std::uint64_t> matchings(static_cast<std::size_t>(problem.couplings));
  for (std::size_t k = 0; k < matchings.size(); ++k) matchings[k] = random_bits(problem.seed, k + 1) % n;
  return {problem.n, [=](std::int64_t i, RowBuilder& row) {
            const auto self = static_cast<std::uint64_t>(i);
            const std::uint64_t position = shuffle(self);
            double sum = 0;
            for (const std::uint64_t matching : matchings) {
              const std::uint64_t reflected =
                  matching >= position ? matching - position : matching + n - position;
              const std::uint64_t partner = shuffle.inverse(reflected);
              if (partner == self) continue;
              const std::uint64_t row_seed = random_bits(problem.seed + matching, std::min(self, partner));
              const double value = uniform_pm1(row_seed, std::max(self, partner));
              row.add(static_cast<std::int64_t>(partner), value);
              sum += std::abs(value);
            }
            problem.add_diagonal(row, i, sum);
          }};
}

constexpr GeneratorParameter rows{"n", 10000, 1, 1e12, true, "rows"};
constexpr GeneratorParameter per_row{"per_row", 10, 1, 1000, true, "nonzeros per row, at most"};
constexpr GeneratorParameter seed{"seed", 1, 0, 4294967295, true, "of the random numbers"};
constexpr std::array parameters_unsymmetric{
    rows, per_row, seed,
    GeneratorParameter{"dominance", 1.1, 0.001, 1e6, false,
                       "diagonal over the sum of the other sizes in its row"}};
constexpr std::array parameters_spd{
    rows, per_row, seed,
    GeneratorParameter{"dominance", 1.1, 1.000001, 1e6, false,
                       "diagonal over the sum of the other sizes in its row"}};

}  // namespace

const Generator random_unsymmetric{"random", "Random sparse matrix, unsymmetric pattern and values", false,
                                   parameters_unsymmetric, make_unsymmetric};
const Generator random_spd{"random-spd", "Random sparse matrix, symmetric positive definite", true,
                           parameters_spd, make_spd};

}  // namespace ayatori::io
