#include <ayatori/comm/environment.hpp>
#include <ayatori/io/generator.hpp>
#include <ayatori/sparse/distributed_matrix.hpp>

#include <cstdio>
#include <vector>

// Sums the rows of a Poisson matrix: zero but at the boundary, hence positive in all.
int main(int argc, char** argv) {
  const ayatori::comm::Environment environment(argc, argv);
  const auto world = ayatori::comm::Comm::world();
  const ayatori::sparse::DistributedMatrix a(world, ayatori::io::generate(world, "poisson3d-7:n=10"));
  const std::vector<double> ones(a.local_size(), 1.0);
  std::vector<double> y(a.local_size());
  a.apply(ones, y);
  double sum = 0;
  for (const double value : y) sum += value;
  sum = world.allreduce(sum, ayatori::comm::ReduceOp::sum);
  if (world.rank() == 0) std::printf("%lld rows, sum %g\n", static_cast<long long>(a.global_rows()), sum);
  return a.global_rows() == 1000 && sum > 0 ? 0 : 1;
}
