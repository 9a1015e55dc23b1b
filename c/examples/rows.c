/* Rows that the program has, solved on all ranks: mpirun -n 2 ./rows */
#include <ayatori.h>
#include <mpi.h>
#include <stdio.h>

enum { local_rows = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);

  /* -u'' on a line: this rank's rows have the numbers from `first` on. */
  static int64_t row_start[local_rows + 1], column[3 * local_rows];
  static double value[3 * local_rows], b[local_rows], x[local_rows];
  const int64_t first = (int64_t)rank * local_rows, rows = (int64_t)size * local_rows;
  int64_t n = 0;
  for (int i = 0; i < local_rows; ++i) {
    for (int64_t j = first + i - 1; j <= first + i + 1; ++j) {
      if (j < 0 || j >= rows) continue;
      column[n] = j;
      value[n++] = j == first + i ? 2 : -1;
    }
    row_start[i + 1] = n;
    b[i] = 1;
  }

  ayatori_solver* solver;
  ayatori_result result = AYATORI_RESULT_INIT;
  int code = ayatori_create(&comm, &solver);
  if (!code) code = ayatori_set_option(solver, "rtol", "1e-10");
  if (!code) code = ayatori_set_matrix_i64(solver, local_rows, rows, row_start, column, value);
  if (!code) code = ayatori_solve(solver, b, x, &result);
  if (code) fprintf(stderr, "%s\n", ayatori_error_text(solver));
  if (!code && rank == 0)
    printf("%s: relative residual %.1e\n", ayatori_status_text(result.status), result.relative_residual);
  ayatori_destroy(solver);
  MPI_Finalize();
  return code ? code : !result.converged;
}
