#include "ayatori/forecast/iteration.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "ayatori/base/find_named.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "forwarding_collectives.hpp"

namespace ayatori::forecast {
namespace {

/// Adds up the doubles that allreduce calls sum.
class CountedSums final : public comm::ForwardingCollectives {
 public:
  void allreduce(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                 comm::ReduceOp op) const override {
    if (type == comm::DataType::float64) doubles += count;
    ForwardingCollectives::allreduce(comm, data, count, type, op);
  }
  mutable std::int64_t doubles = 0;
};

class Counted final : public sparse::LinearOperator {
 public:
  explicit Counted(const sparse::DistributedMatrix& matrix, bool is_identity = false)
      : matrix_(matrix), is_identity_(is_identity) {}
  void apply(std::span<const double> x, std::span<double> y) const override {
    ++calls;
    if (is_identity_)
      std::ranges::copy(x, y.begin());
    else
      matrix_.apply(x, y);
  }
  std::int32_t local_size() const override { return matrix_.local_size(); }
  mutable int calls = 0;

 private:
  const sparse::DistributedMatrix& matrix_;
  bool is_identity_;
};

struct Counts {
  double iterations = 0, products = 0, preconditionings = 0, reductions = 0, doubles = 0, overlapped = 0;
};

Counts count(std::string_view method, int iterations) {
  const auto counted = std::make_shared<CountedSums>();
  const auto world = comm::Comm::world().with_collectives(counted);
  const sparse::DistributedMatrix matrix(world, io::generate(world, "poisson2d-5:n=40"));
  const Counted a(matrix);
  const Counted m(matrix, true);
  const solvers::GlobalSum sum(world);
  const std::vector<double> b(matrix.local_size(), 1.0);
  std::vector<double> x(matrix.local_size(), 0.0);
  const std::int64_t before = counted->doubles;
  solvers::MethodOptions options;
  options.max_iterations = iterations;
  const auto result =
      solvers::method(method).solve({a, m, b, sum}, x, options, solvers::orthogonalization("cgs").apply, {});
  EXPECT_EQ(result.stop, solvers::Stop::max_iterations) << method;
  return {static_cast<double>(result.iterations),
          static_cast<double>(a.calls),
          static_cast<double>(m.calls),
          static_cast<double>(sum.count()),
          static_cast<double>(counted->doubles - before),
          static_cast<double>(sum.overlapped())};
}

TEST(IterationWork, IsWhatTheMethodsDo) {
  for (const IterationWork& work : iteration_works()) {
    if (work.name == "npb-cg") continue;  // no method of the solvers: see tests/cli/predict.py
    SCOPED_TRACE(work.name);
    const auto& method = solvers::method(work.name);
    const Counts few = count(work.name, 30);
    const Counts more = count(work.name, 60);
    // Methods count products as iterations; of a restarted one this is a whole cycle.
    const double steps = (more.iterations - few.iterations) / (work.name == "bicgstab" ? 2 : 1);
    EXPECT_NEAR((more.products - few.products) / steps, work.products, 1e-12);
    EXPECT_NEAR((more.preconditionings - few.preconditionings) / steps, work.preconditionings, 1e-12);
    // The second sum of bicgstab and of cgs is repeated where much cancels: a few times here.
    const double repeated =
        work.name == "cg" || work.name == "minres" || work.name == "pipelined-cg" ? 1e-12 : 0.35;
    const double reductions = (more.reductions - few.reductions) / steps;
    EXPECT_GE(reductions, work.reductions - 1e-12);
    EXPECT_LE(reductions, work.reductions + repeated);
    // What goes on during a product is no allreduce of the communicator's.
    if (comm::Comm::world().size() > 1 && repeated < 0.1 && work.overlapped == 0) {
      EXPECT_NEAR((more.doubles - few.doubles) / (more.reductions - few.reductions), work.summed, 1e-12);
    }
    EXPECT_NEAR((more.overlapped - few.overlapped) / steps, work.overlapped, 1e-12);
    EXPECT_NEAR(work.traffic, method.traffic * (work.name == "bicgstab" ? 2 : 1), 1);
  }
}

TEST(IterationWork, EveryMethodWithoutRestartIsThere) {
  for (const auto& method : solvers::methods()) {
    const bool is_in_single_precision = method.name == "refined-cg";
    if (!method.restarts && !is_in_single_precision) {
      EXPECT_NO_THROW(find_named(iteration_works(), method.name, "method"));
    }
  }
}

}  // namespace
}  // namespace ayatori::forecast
