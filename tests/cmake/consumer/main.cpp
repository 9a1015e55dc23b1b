#include <ayatori/comm/environment.hpp>
#include <ayatori/io/matrix_source.hpp>
#include <ayatori/tuning/solve.hpp>
#include <memory>

int main(int argc, char** argv) {
  const ayatori::comm::Environment environment(argc, argv);
  const auto world = ayatori::comm::Comm::world();
  const auto loaded = ayatori::io::load_matrix(world, "poisson3d-7:n=40");
  const auto parts =
      std::make_shared<const ayatori::sparse::SplitMatrix>(ayatori::sparse::split(world, loaded.block));
  const ayatori::Array<double> b(parts->plan.local_size, 1.0);
  ayatori::Array<double> x(b.size(), 0.0);
  return ayatori::tuning::solve(world, parts, b, x, {.rtol = 1e-10}).converged() ? 0 : 1;
}
