// Compressed sparse rows that the program has, solved on all ranks: mpirun -n 2 ./rows
#include <ayatori/ayatori.hpp>
#include <vector>

int main(int argc, char** argv) {
  const ayatori::comm::Environment environment(argc, argv);
  const auto comm = ayatori::comm::Comm::world();
  const std::vector<int> row_start{0, 2, 4};  // two rows of each rank: 4 x_i + x_j = 1
  const int i = 2 * comm.rank();
  const std::vector<int> column{i, i + 1, i, i + 1};
  const std::vector<double> value{4, 1, 1, 4}, b(2, 1.0);
  std::vector<double> x(2);

  using namespace ayatori::session;
  auto rows = rows_in_memory<int>(comm, row_start, column, value, 2L * comm.size());
  MatrixSolver solver(comm, std::move(rows), {.rtol = 1e-12, .knowledge = "none"});
  return solver.solve(b, x).report.converged() ? 0 : 1;
}
