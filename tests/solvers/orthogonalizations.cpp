#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"

namespace ayatori::solvers {
namespace {

/// Columns made orthonormal one after the other, spread by rows over all ranks.
struct Columns {
  comm::Comm comm = comm::Comm::world();
  GlobalSum sum{comm};
  Range rows;
  int count;
  std::vector<double> data;
  std::vector<double> triangle;  ///< column k holds the k coefficients and the norm
  std::int64_t most_reductions = 0;

  /// entry(i, j) is the matrix with n rows.
  template <class Entry>
  Columns(std::int64_t n, int columns, Entry&& entry)
      : rows(sparse::RowPartition::even(n, comm.size()).range(comm.rank())),
        count(columns),
        data(rows.size() * columns) {
    for (int j = 0; j < count; ++j)
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        data[j * rows.size() + i - rows.begin] = entry(i, j);
  }

  Vector column(int j) { return Vector(data).subspan(j * rows.size(), rows.size()); }
  Basis first(int k) const { return {data.data(), rows.size(), k}; }

  void orthonormalize(const Orthogonalization& method) {
    triangle.assign((count + 1) * count, 0.0);
    std::vector<double> h(orthogonalization_work_size(count));
    for (int j = 0; j < count; ++j) {
      const std::int64_t before = sum.count();
      const double norm = method.apply(sum, first(j), column(j), h);
      most_reductions = std::max(most_reductions, sum.count() - before);
      std::copy_n(h.begin(), j, triangle.begin() + j * (count + 1));
      triangle[j * (count + 1) + j] = norm;
      scale(1 / norm, column(j));
    }
  }

  /// max |I - V^T V|
  double orthogonality_loss() {
    double loss = 0;
    for (int i = 0; i < count; ++i)
      for (int j = 0; j <= i; ++j)
        loss = std::max(loss, std::abs(dot(sum, column(i), column(j)) - (i == j ? 1 : 0)));
    return loss;
  }
};

double well_conditioned(std::int64_t i, int j) {
  return random_uniform(j, i) - 0.5;
}
double hilbert(std::int64_t i, int j) {
  return 1.0 / static_cast<double>(i + j + 1);
}

TEST(Orthogonalization, FactorsWellConditionedColumns) {
  for (const Orthogonalization& method : orthogonalizations()) {
    Columns columns(5000, 37, well_conditioned);
    const std::vector<double> original = columns.data;
    columns.orthonormalize(method);
    EXPECT_LT(columns.orthogonality_loss(), 1e-13) << method.name;
    double error = 0;  // error of Q R = A
    for (int j = 0; j < columns.count; ++j) {
      std::vector<double> product(columns.rows.size());
      combine(columns.first(j + 1),
              std::span<const double>(columns.triangle).subspan(j * (columns.count + 1)), product);
      for (std::int64_t i = 0; i < columns.rows.size(); ++i)
        error = std::max(error, std::abs(product[i] - original[j * columns.rows.size() + i]));
    }
    EXPECT_LT(error, 1e-13) << method.name;
  }
}

TEST(Orthogonalization, ClassicalLosesOnAHilbertMatrixWhatTheOthersKeep) {
  const auto loss = [](const char* name) {
    Columns columns(200, 12, hilbert);
    columns.orthonormalize(orthogonalization(name));
    return columns.orthogonality_loss();
  };
  const double classical = loss("cgs");
  const double modified = loss("mgs");
  const double iterated = loss("ircgs");
  RecordProperty("loss", testing::PrintToString(std::vector{classical, modified, iterated}));
  EXPECT_GT(classical, 0.1);
  EXPECT_LT(modified, 1e-2);
  EXPECT_LT(iterated, 1e-14);
}

TEST(Orthogonalization, BundlesReductions) {
  Columns cgs(4000, 20, well_conditioned);
  cgs.orthonormalize(orthogonalization("cgs"));
  EXPECT_EQ(cgs.most_reductions, 1);
  Columns ircgs(4000, 20, well_conditioned);
  ircgs.orthonormalize(orthogonalization("ircgs"));
  EXPECT_EQ(ircgs.most_reductions, 1);
  Columns mgs(4000, 20, well_conditioned);
  mgs.orthonormalize(orthogonalization("mgs"));
  EXPECT_EQ(mgs.most_reductions, 20) << "one for each of 19 vectors, and the norm";
}

TEST(Orthogonalization, NormOfWhatLiesInTheSpan) {
  for (const Orthogonalization& method : orthogonalizations()) {
    std::vector<double> h(orthogonalization_work_size(3));
    Columns three(3000, 3, well_conditioned);
    three.orthonormalize(method);
    std::vector<double> w(three.rows.size());
    combine(three.first(3), std::vector{3.0, -2.0, 1.0}, w);
    EXPECT_LT(method.apply(three.sum, three.first(3), w, h), 1e-14) << method.name;
    EXPECT_NEAR(h[0], 3, 1e-13);
    EXPECT_NEAR(h[1], -2, 1e-13);
    EXPECT_NEAR(h[2], 1, 1e-13);
  }
}

}  // namespace
}  // namespace ayatori::solvers
