#include "ayatori/solvers/null_space.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/solvers/method.hpp"

namespace ayatori::solvers {
namespace {

using sparse::RowPartition;
using Sets = std::vector<std::vector<std::int64_t>>;

struct Case {
  const char* name;
  std::int64_t n;
  std::vector<sparse::Entry> entries;
  bool symmetric;
  Sets right;
  Sets left;
};

std::vector<std::int64_t> sequence(std::int64_t first, std::int64_t end, std::int64_t step = 1) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = first; i < end; i += step) list.push_back(i);
  return list;
}

/// A path through these nodes: its Laplacian, with weights that are no powers of two.
void add_path(std::vector<sparse::Entry>& entries, const std::vector<std::int64_t>& nodes) {
  for (std::size_t k = 0; k + 1 < nodes.size(); ++k) {
    const double weight = 0.1 + 0.37 * static_cast<double>(k % 7);
    for (const auto& [i, j] : {std::pair{nodes[k], nodes[k + 1]}, std::pair{nodes[k + 1], nodes[k]}}) {
      entries.push_back({i, i, weight});
      entries.push_back({i, j, -weight});
    }
  }
}

/// Flow around a ring: what node i sends to i + 1. Rows sum up to 0, columns do not, unless all rates are 1.
void add_ring(std::vector<sparse::Entry>& entries, const std::vector<std::int64_t>& nodes, bool by_rows,
              double growth) {
  double rate = 1;
  for (std::size_t k = 0; k < nodes.size(); ++k, rate *= growth) {
    const std::int64_t i = nodes[k];
    const std::int64_t j = nodes[(k + 1) % nodes.size()];
    entries.push_back({i, i, rate});
    entries.push_back({by_rows ? i : j, by_rows ? j : i, -rate});
  }
}

std::vector<Case> cases() {
  const std::int64_t n = 41;
  const auto all = sequence(0, n);
  std::vector<Case> list;
  const auto add = [&](const char* name, bool symmetric, const Sets& right, const Sets& left) -> auto& {
    return list.emplace_back(Case{name, n, {}, symmetric, right, left}).entries;
  };
  add_path(add("one component", true, {all}, {all}), all);
  auto& anchored = add("the last row is anchored", true, {}, {});
  add_path(anchored, all);
  anchored.push_back({n - 1, n - 1, 1e-3});
  auto& two = add("two, interlaced", true, {sequence(0, n, 2), sequence(1, n, 2)},
                  {sequence(0, n, 2), sequence(1, n, 2)});
  add_path(two, sequence(0, n, 2));
  add_path(two, sequence(1, n, 2));
  auto& short_ones = add("a short one, rows of zeros, and an anchored one", true,
                         {sequence(0, 3), {3}, {n - 1}}, {sequence(0, 3), {3}, {n - 1}});
  add_path(short_ones, sequence(0, 3));
  add_path(short_ones, sequence(4, n - 1));
  short_ones.push_back({20, 20, 2});
  short_ones.push_back({n - 1, n - 1, 0});
  add_ring(add("ring by rows", false, {all}, {}), all, true, 1.01);
  add_ring(add("ring by columns", false, {}, {all}), all, false, 1.01);
  add_ring(add("ring by both", false, {all}, {all}), all, true, 1);
  auto& fed = add("an anchored part with entries in columns of another one", false, {},
                  {});  // whose rows alone would be a null space
  add_path(fed, sequence(0, 20));
  add_path(fed, sequence(20, n));
  fed.push_back({n - 1, n - 1, 1});
  fed.push_back({n - 1, 2, 1e-2});
  for (const bool interlaced : {false, true}) {  // row sums of both signs, and entries that sum up to much
    auto& apart = add(interlaced ? "ring by columns, interlaced with an anchored path"
                                 : "ring by columns before an anchored path",
                      false, {}, {interlaced ? sequence(0, n, 2) : sequence(0, 20)});
    const auto path = interlaced ? sequence(1, n, 2) : sequence(20, n);
    add_ring(apart, interlaced ? sequence(0, n, 2) : sequence(0, 20), false, 1.01);
    add_path(apart, path);
    apart.push_back({path.back(), path.back(), 100});
  }
  auto& whole = add("a ring by columns, connected with an anchored path", false, {}, {});
  whole = list[list.size() - 2].entries;
  whole.push_back({1, 2, 1e-3});
  auto& cancelling = add("parts whose sums cancel", false, {}, {});
  add_ring(cancelling, sequence(0, 20), false, 1);
  add_ring(cancelling, sequence(20, n), true, 1);
  for (const std::int64_t i : {3, 23}) cancelling.push_back({i, i, i == 3 ? 1.0 : -1.0});

  auto& huge = list.emplace_back(Case{"sums of magnitudes beyond doubles", n, {}, true, {}, {}}).entries;
  for (std::int64_t i = 0; i < n; ++i) {
    huge.push_back({i, i, 1.6e308});
    for (const std::int64_t j : {i - 1, i + 1})
      if (j >= 0 && j < n) huge.push_back({i, j, -4e307});
  }
  return list;
}

sparse::DistributedMatrix spread(const comm::Comm& comm, const Case& c) {
  const auto partition = RowPartition::even(c.n, comm.size());
  Array<sparse::Entry> mine;
  for (const auto& e : c.entries)
    if (partition.range(comm.rank()).contains(e.row)) mine.push_back(e);
  return {comm, sparse::assemble(comm, partition, c.n, {mine})};
}

RowSums row_sums(const Case& c) {
  std::vector<double> sum(c.n, 0.0);
  std::vector<double> sum_abs(c.n, 0.0);
  for (const auto& e : c.entries) {
    sum[e.row] += e.value;
    sum_abs[e.row] += std::abs(e.value);
  }
  RowSums sums;
  for (std::int64_t i = 0; i < c.n; ++i) sums.add_row(sum[i], sum_abs[i]);
  return sums;
}

/// The projection of a vector, by the sets that are expected.
std::vector<double> projected(std::vector<double> x, const Sets& sets) {
  for (const auto& set : sets) {
    double sum = 0;
    for (const std::int64_t i : set) sum += x[i];
    for (const std::int64_t i : set) x[i] -= sum / static_cast<double>(set.size());
  }
  return x;
}

void expect_projects_out(const PiecewiseConstants& found, const Sets& expected, const comm::Comm& comm,
                         std::int64_t n) {
  const Range mine = RowPartition::even(n, comm.size()).range(comm.rank());
  std::vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = random_uniform(1, i);
  std::vector<double> own(x.begin() + mine.begin, x.begin() + mine.end);
  std::int64_t unknowns = 0;
  for (const auto& set : expected) unknowns += static_cast<std::int64_t>(set.size());
  EXPECT_EQ(found.dimension(), static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(found.unknowns(), unknowns);
  found.project_out(own);
  const auto wanted = projected(x, expected);
  for (std::int64_t i = mine.begin; i < mine.end; ++i) EXPECT_NEAR(own[i - mine.begin], wanted[i], 1e-14);
}

TEST(NullSpace, IsFoundFromSumsByComponent) {
  const auto comm = comm::Comm::world();
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto matrix = spread(comm, c);
    const auto found = find_null_spaces(comm, matrix.parts(), c.symmetric, row_sums(c));
    expect_projects_out(*found.right, c.right, comm, c.n);
    expect_projects_out(*found.left, c.left, comm, c.n);
    // What is known to be symmetric needs no look at the columns, and finds the same.
    const auto by_columns = find_null_spaces(comm, matrix.parts(), false, row_sums(c));
    expect_projects_out(*by_columns.left, c.left, comm, c.n);
  }
}

TEST(NullSpace, TakesMatricesWithoutRowsOnSomeRanks) {
  const auto comm = comm::Comm::world();
  const Case two{"two rows", 2, {{0, 0, 1}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1}}, true, {}, {}};
  const auto matrix = spread(comm, two);
  const auto found = find_null_spaces(comm, matrix.parts(), true, row_sums(two));
  EXPECT_EQ(found.right->dimension(), 1);
  EXPECT_EQ(found.right, found.left);
}

class Amplifier final : public sparse::LinearOperator {
 public:
  explicit Amplifier(std::int32_t n) : n_(n) {}
  void apply(std::span<const double> x, std::span<double> y) const override {
    for (std::int32_t i = 0; i < n_; ++i) y[i] = x[i] + 1e6;
  }
  std::int32_t local_size() const override { return n_; }

 private:
  std::int32_t n_;
};

TEST(NullSpace, StaysOutOfWhatAPreconditionerGives) {
  const auto comm = comm::Comm::world();
  const Case one = cases().front();
  const auto matrix = spread(comm, one);
  const auto found = find_null_spaces(comm, matrix.parts(), true, row_sums(one));
  const std::int32_t n = matrix.local_size();
  const auto built = without_null_vectors({std::make_unique<Amplifier>(n), {"a note"}}, found.right);
  EXPECT_EQ(built.notes.size(), 1);
  std::vector<double> x(n, 0.0);
  std::vector<double> y(n);
  if (comm.rank() == 0) x[0] = 1;
  built.op->apply(x, y);
  for (std::int32_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], x[i] - 1.0 / static_cast<double>(one.n), 1e-9);
}

}  // namespace
}  // namespace ayatori::solvers
