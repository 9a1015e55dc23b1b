// Times calls of MPI in which nothing goes from rank to rank, where MPI itself does least: with and without
// libayatori_pmpi.so before it the difference is what that costs. Not a test; docs/measured/shim.md
// says how to run it.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

/// Nanoseconds of a call: the least of some runs.
template <class F>
double time_of(F&& call) {
  constexpr int runs = 20;
  constexpr int calls = 100000;
  double least = 1e9;
  for (int run = 0; run < runs; ++run) {
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    least = std::min(least, (MPI_Wtime() - start) / calls);
  }
  return 1e9 * least;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  double value = 1;
  double result = 0;
  std::printf("Send to MPI_PROC_NULL, MPI_COMM_WORLD: %.0f ns\n",
              time_of([&] { MPI_Send(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }));
  std::printf("Send to MPI_PROC_NULL, a duplicate:    %.0f ns\n",
              time_of([&] { MPI_Send(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, duplicate); }));
  std::printf("Sendrecv with oneself:                 %.0f ns\n", time_of([&] {
                MPI_Sendrecv(&value, 1, MPI_DOUBLE, rank, 0, &result, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
              }));
  std::printf("Allreduce of one rank:                 %.0f ns\n",
              time_of([&] { MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF); }));
  std::vector<int> counts(size);  // a rank's own block alone
  const std::vector<int> places(size);
  counts[rank] = 1;
  std::printf("Alltoallv of own blocks:               %.0f ns\n", time_of([&] {
                MPI_Alltoallv(&value, counts.data(), places.data(), MPI_DOUBLE, &result, counts.data(),
                              places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
              }));
  MPI_Comm_free(&duplicate);
  MPI_Finalize();
  return 0;
}
