#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/saddle/blocks.hpp"
#include "ayatori/solvers/preconditioners/saddle/complement.hpp"
#include "ayatori/solvers/preconditioners/saddle/rectangular.hpp"
#include "linear_system.hpp"

namespace ayatori::solvers {
namespace {

using sparse::DistributedMatrix;
using sparse::RowPartition;
using tests::Dense;

/// [A B^T; B -C] of `primal` and `constraints` unknowns in a mixed order, with a definite A.
Dense random_saddle(std::int64_t primal, std::int64_t constraints, double c, double sign) {
  const std::int64_t n = primal + constraints;
  const Dense a = tests::random_definite(primal, 0.2, 4);
  Dense k(n);
  const auto place = [&](std::int64_t i) { return 7 * i % n; };  // n is no multiple of 7
  for (std::int64_t i = 0; i < primal; ++i)
    for (std::int64_t j = 0; j < primal; ++j) k.at(place(i), place(j)) = sign * a.at(i, j);
  for (std::int64_t i = 0; i < constraints; ++i) {
    for (const std::int64_t j : {i, (3 * i + 5) % primal})
      k.at(place(primal + i), place(j)) = k.at(place(j), place(primal + i)) =
          sign * (1 + random_uniform(9, i + 100 * j));
    k.at(place(primal + i), place(primal + i)) = -sign * c;
  }
  return k;
}

DistributedMatrix spread(const Dense& a) {
  const auto world = comm::Comm::world();
  return DistributedMatrix(world, tests::spread(world, a, RowPartition::even(a.n, world.size())));
}

DistributedMatrix generated(const std::string& spec) {
  const auto world = comm::Comm::world();
  return DistributedMatrix(world, io::generate(world, spec));
}

TEST(SaddleBlocks, AreTheRowsWithoutAPositiveDiagonal) {
  for (const double sign : {1.0, -1.0}) {
    const Dense k = random_saddle(17, 9, 0.25, sign);
    const DistributedMatrix matrix = spread(k);
    const auto fields = saddle::find_fields(matrix, {}, "test");
    EXPECT_EQ(fields.sign, sign);
    const Range mine = matrix.partition().range(matrix.comm().rank());
    for (std::int64_t i = mine.begin; i < mine.end; ++i)
      EXPECT_EQ(fields.is_constraint[i - mine.begin] != 0, sign * k.at(i, i) < 0);
    const saddle::Blocks blocks = saddle::split_into_blocks(matrix, fields);
    EXPECT_EQ(blocks.primal.rows(), 17);
    EXPECT_EQ(blocks.constraint.rows(), 9);
    // Entry by entry: the numbers of both fields, in the order of the rows.
    std::vector<std::int64_t> primal;
    std::vector<std::int64_t> constraint;
    for (std::int64_t i = 0; i < k.n; ++i) (sign * k.at(i, i) > 0 ? primal : constraint).push_back(i);
    const auto expect_block = [&](const sparse::RowBlock& block, const std::vector<std::int64_t>& rows,
                                  const std::vector<std::int64_t>& columns) {
      for (std::int64_t i = 0; i < block.rows(); ++i) {
        std::vector<double> row(columns.size(), 0.0);
        for (std::int64_t l = block.row_start[i]; l < block.row_start[i + 1]; ++l)
          row[block.column[l]] = block.value[l];
        for (std::size_t j = 0; j < columns.size(); ++j)
          EXPECT_EQ(row[j], sign * k.at(rows[block.first_row + i], columns[j]));
      }
    };
    expect_block(blocks.a, primal, primal);
    expect_block(blocks.b1, primal, constraint);
    expect_block(blocks.b2, constraint, primal);
    expect_block(blocks.e, constraint, constraint);

    // E - B2 D B1 for some D.
    std::vector<double> middle;
    const Range own = blocks.primal.range(matrix.comm().rank());
    for (std::int64_t i = own.begin; i < own.end; ++i) middle.push_back(-1.0 / static_cast<double>(1 + i));
    const saddle::Rectangular b2(matrix.comm(), blocks.b2, blocks.primal);
    const auto product = b2.multiply(middle, blocks.b1, blocks.e);
    for (std::int64_t i = 0; i < product.rows(); ++i) {
      std::vector<double> row(constraint.size(), 0.0);
      for (std::int64_t l = product.row_start[i]; l < product.row_start[i + 1]; ++l)
        row[product.column[l]] = product.value[l];
      const std::int64_t of_row = constraint[product.first_row + i];
      for (std::size_t j = 0; j < constraint.size(); ++j) {
        double expected = sign * k.at(of_row, constraint[j]);
        for (std::size_t m = 0; m < primal.size(); ++m)
          expected -= k.at(of_row, primal[m]) * k.at(primal[m], constraint[j]) / static_cast<double>(1 + m);
        EXPECT_NEAR(row[j], expected, 1e-13);
      }
    }
  }
}

std::string refusal(const Dense& a) {
  const DistributedMatrix matrix = spread(a);
  try {
    preconditioner("schur").make(matrix, GlobalSum(matrix.comm()), {});
  } catch (const InputError& error) {
    EXPECT_TRUE(error.agreed());
    return error.what();
  }
  return "none";
}

TEST(SaddleBlocks, RefuseWhatIsNoSaddlePoint) {
  EXPECT_NE(refusal(tests::laplacian_2d(5)).find("schur: no saddle point: every diagonal entry"),
            std::string::npos);
  Dense uncoupled = random_saddle(17, 9, 0, 1);
  for (std::int64_t i = 0; i < uncoupled.n; ++i)
    if (uncoupled.at(i, i) == 0) {
      for (std::int64_t j = 0; j < uncoupled.n; ++j) uncoupled.at(i, j) = uncoupled.at(j, i) = 0;
      break;
    }
  EXPECT_NE(refusal(uncoupled).find("1 constraints are coupled to nothing"), std::string::npos);
  Dense indefinite = random_saddle(17, 9, 0, 1);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < indefinite.n; ++i)
    if (indefinite.at(i, i) == 0) rows.push_back(i);
  indefinite.at(rows[0], rows[1]) = indefinite.at(rows[1], rows[0]) = 1;
  EXPECT_NE(refusal(indefinite).find("2 are coupled among themselves"), std::string::npos);
  Dense mostly = tests::identity(9);
  for (std::int64_t i = 0; i < 5; ++i) mostly.at(i, i) = 0;
  EXPECT_NE(refusal(mostly).find("most diagonal entries"), std::string::npos);
}

TEST(SaddleBlocks, RefuseWhatIsNotFinite) {
  Dense k = random_saddle(17, 9, 0, 1);
  k.at(5, 6) = std::nan("");
  EXPECT_EQ(refusal(k), "schur: row 6: an entry of the matrix is not finite");
}

TEST(Schur, DefiniteFormIsDefinite) {
  for (const double sign : {1.0, -1.0}) {
    const Dense k = random_saddle(17, 9, 0.1, sign);
    const DistributedMatrix matrix = spread(k);
    const GlobalSum sum(matrix.comm());
    for (const saddle::Complement& complement : saddle::complements()) {
      SCOPED_TRACE(complement.name);
      const auto built =
          preconditioner("schur-definite").make(matrix, sum, {.complement = std::string(complement.name)});
      Dense m = tests::dense_of(matrix.comm(), *built.op);
      EXPECT_LT(tests::asymmetry(m), 1e-5 * tests::max_abs(m));  // cycles are in float
      for (std::int64_t i = 0; i < m.n; ++i)
        for (std::int64_t j = 0; j < i; ++j) m.at(i, j) = m.at(j, i) = (m.at(i, j) + m.at(j, i)) / 2;
      EXPECT_GT(tests::eigenvalues(m).front(), 0);
    }
  }
}

TEST(SaddleBlocks, FieldsThatAreGivenAreTaken) {
  // Coupled among themselves, so that nothing tells these rows from others that have no diagonal.
  Dense k = random_saddle(17, 9, 0, 1);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < k.n; ++i)
    if (k.at(i, i) == 0) rows.push_back(i);
  k.at(rows[0], rows[1]) = k.at(rows[1], rows[0]) = 0.1;
  EXPECT_NE(refusal(k), "none");
  const DistributedMatrix matrix = spread(k);
  const Range mine = matrix.partition().range(matrix.comm().rank());
  std::vector<double> given(mine.size(), 0.0);
  for (const std::int64_t row : rows)
    if (mine.contains(row)) given[row - mine.begin] = 1;
  const auto fields = saddle::find_fields(matrix, given, "test");
  for (std::size_t i = 0; i < given.size(); ++i) EXPECT_EQ(fields.is_constraint[i], given[i]);
  const GlobalSum sum(matrix.comm());
  EXPECT_NE(preconditioner("schur").make(matrix, sum, {.fields = given}).op, nullptr);
  EXPECT_THROW(saddle::find_fields(matrix, std::vector<double>(mine.size() + 1, 1.0), "test"), InputError);
  EXPECT_THROW(saddle::find_fields(matrix, std::vector<double>(mine.size(), 1.0), "test"), InputError);
  EXPECT_THROW(saddle::find_fields(matrix, std::vector<double>(mine.size(), 0.0), "test"), InputError);
}

/// Iterations that a method takes to a true residual of 1e-7 |b|; -1 if it does not come there.
int iterations(const DistributedMatrix& matrix, const std::string& name, const std::string& of,
               double scale = 1, const std::string& complement = "auto") {
  const auto& comm = matrix.comm();
  const GlobalSum sum(comm);
  const auto built = preconditioner(of).make(matrix, sum, {.complement = complement});
  const std::int64_t first = matrix.partition().range(comm.rank()).begin;
  Array<double> solution(matrix.local_size());
  for (std::int32_t i = 0; i < matrix.local_size(); ++i) solution[i] = random_uniform(3, first + i) - 0.5;
  Array<double> b(matrix.local_size());
  matrix.apply(solution, b);
  ayatori::solvers::scale(scale, b);
  Array<double> x(matrix.local_size(), 0.0);
  MethodOptions options;
  options.target = 1e-8 * norm(sum, b);
  options.max_iterations = 200;
  options.restart = 200;
  const auto result = method(name).solve({matrix, *built.op, b, sum}, x, options,
                                         orthogonalization("cgs").apply, [](int, double) { return true; });
  Array<double> r(matrix.local_size());
  matrix.apply(x, r);
  subtract(b, r, r);
  return norm(sum, r) <= 10 * options.target ? result.iterations : -1;
}

TEST(Schur, IterationsDoNotGrowWithTheMesh) {
  const auto grows_little = [](const std::string& small, const std::string& large, const std::string& method,
                               const std::string& of, double most, const std::string& complement = "auto") {
    SCOPED_TRACE(large + " " + method);
    const int before = iterations(generated(small), method, of, 1, complement);
    const int after = iterations(generated(large), method, of, 1, complement);
    EXPECT_GT(before, 0);
    EXPECT_GT(after, 0);
    EXPECT_LE(after, most * before);
    EXPECT_LE(after, 80);
  };
  for (const char* level : {"0", "1"}) {
    const std::string end = std::string(",level=") + level;
    grows_little("stokes2d:n=16" + end, "stokes2d:n=48" + end, "fgmres", "schur", 1.5);
    grows_little("stokes2d:n=16" + end, "stokes2d:n=48" + end, "minres", "schur-definite", 1.5);
    grows_little("stokes3d:n=6" + end, "stokes3d:n=14" + end, "fgmres", "schur", 1.5, "diagonal");
  }
  grows_little("stokes2d:n=24,ratio=1e4", "stokes2d:n=64,ratio=1e4", "fgmres", "schur", 1.5);
  grows_little("oseen2d:n=24,reynolds=20", "oseen2d:n=64,reynolds=20", "fgmres", "schur", 1.5);
  grows_little("oseen3d:n=10,reynolds=10,upwind=0", "oseen3d:n=16,reynolds=10,upwind=0", "fgmres", "schur",
               1.5);
  EXPECT_GT(iterations(generated("oseen3d:n=10,reynolds=10"), "bicgstab", "schur"), 0);
}

TEST(Schur, EveryStandInConvergesAtAnyScale) {
  const DistributedMatrix stokes = generated("stokes2d:n=10");
  const DistributedMatrix oseen = generated("oseen2d:n=10,reynolds=50");
  for (const char* complement : {"diagonal", "simple", "commutator"}) {
    for (const double scale : {1e-100, 1.0, 1e100}) {
      EXPECT_GT(iterations(stokes, "gmres", "schur", scale, complement), 0) << complement << ' ' << scale;
      EXPECT_GT(iterations(oseen, "gmres", "schur", scale, complement), 0) << complement << ' ' << scale;
    }
  }
  EXPECT_THROW(iterations(stokes, "gmres", "schur", 1, "mass"), InputError);
}

/// Where A is diagonal, and where every unknown has `beside` times that with its neighbours.
DistributedMatrix mass_like(double beside) {
  Dense k = random_saddle(40, 15, 0, 1);
  std::vector<std::int64_t> primal;
  for (std::int64_t i = 0; i < k.n; ++i)
    if (k.at(i, i) != 0) primal.push_back(i);
  for (std::size_t i = 0; i < primal.size(); ++i)
    for (std::size_t j = 0; j < primal.size(); ++j)
      k.at(primal[i], primal[j]) = i == j ? 1.0 : std::max(i, j) - std::min(i, j) == 1 ? beside : 0.0;
  return spread(k);
}

std::string choice(const DistributedMatrix& matrix) {
  const std::string note = preconditioner("schur").make(matrix, GlobalSum(matrix.comm()), {}).notes.front();
  return note.substr(note.rfind(' ') + 1);
}

TEST(Schur, ChoiceIsTheQuickestStandIn) {
  EXPECT_EQ(choice(generated("stokes2d:n=48")), "diagonal");
  EXPECT_NE(choice(generated("stokes2d:n=48,ratio=1e4")), "constraint");
  EXPECT_EQ(choice(generated("darcy2d:n=24")), "constraint");
}

TEST(Schur, ConstraintsAreExactWhereTheOtherBlockIsNearItsDiagonal) {
  const DistributedMatrix diagonal = mass_like(0);
  const DistributedMatrix mass = mass_like(0.2);
  const int exact = iterations(diagonal, "fgmres", "schur", 1, "constraint");
  EXPECT_GT(exact, 0);
  EXPECT_LE(exact, 3);
  const int near = iterations(mass, "fgmres", "schur", 1, "constraint");
  EXPECT_GT(near, 0);
  EXPECT_LT(near, iterations(mass, "fgmres", "schur", 1, "diagonal"));
  EXPECT_GT(iterations(mass, "minres", "schur-definite", 1, "constraint"), 0);
}

TEST(Schur, DiagonalsOfBothBlocksDoWhereBothAreNearThem) {
  for (const double beside : {0.0, 0.1}) {
    const DistributedMatrix matrix = mass_like(beside);
    EXPECT_EQ(choice(matrix), "diagonals");
    EXPECT_GT(iterations(matrix, "fgmres", "schur"), 0);
    EXPECT_GT(iterations(matrix, "minres", "schur-definite"), 0);
  }
}

TEST(Schur, TakesSignsAndStabilization) {
  const Dense k = random_saddle(40, 15, 0.3, -1);
  EXPECT_GT(iterations(spread(k), "gmres", "schur"), 0);
  EXPECT_GT(iterations(spread(k), "minres", "schur-definite"), 0);
  // -B below, as where divergence is not multiplied by -1.
  Dense skew = random_saddle(40, 15, 0, 1);
  for (std::int64_t i = 0; i < skew.n; ++i)
    for (std::int64_t j = 0; j < skew.n; ++j)
      if (skew.at(i, i) == 0) skew.at(i, j) = -skew.at(i, j);
  const int plain = iterations(spread(random_saddle(40, 15, 0, 1)), "gmres", "schur");
  const int turned = iterations(spread(skew), "gmres", "schur");
  EXPECT_GT(plain, 0);
  EXPECT_GT(turned, 0);
  EXPECT_LE(std::abs(plain - turned), 3);
}

TEST(Schur, RanksWithoutConstraintsOrRowsTakePart) {
  const auto world = comm::Comm::world();
  const Dense k = random_saddle(17, 9, 0, 1);
  std::vector<std::int64_t> starts(world.size() + 1, 0);
  starts.back() = k.n;
  for (int r = 1; r < world.size(); ++r) starts[r] = std::min<std::int64_t>(r - 1, 1);
  const DistributedMatrix matrix(world, tests::spread(world, k, RowPartition(starts)));
  EXPECT_GT(iterations(matrix, "gmres", "schur"), 0);
}

}  // namespace
}  // namespace ayatori::solvers
