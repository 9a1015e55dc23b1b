/* Error handlers stay as a program has set them, from the first use of the library on. */
#include <ayatori.h>
#include <mpi.h>
#include <stdio.h>

static void ignore(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static int has(MPI_Comm comm, MPI_Errhandler wanted) {
  MPI_Errhandler found;
  MPI_Comm_get_errhandler(comm, &found);
  const int is_it = found == wanted;
  MPI_Errhandler_free(&found);
  return is_it;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(ignore, &own);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  const int32_t row_start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
  const double value[] = {2, 1, 1, 2}, b[] = {3, 3};
  double x[] = {0, 0};
  ayatori_result result = AYATORI_RESULT_INIT;
  ayatori_solver *alone, *together;
  MPI_Comm comm = MPI_COMM_WORLD;
  int code = ayatori_create(NULL, &alone);
  if (!code) code = ayatori_set_matrix_i32(alone, 2, 2, row_start, column, value);
  if (!code) code = ayatori_solve(alone, b, x, &result);
  if (!code) code = ayatori_create(&comm, &together);
  if (code) {
    fprintf(stderr, "%s\n", ayatori_error_text(alone));
    return code;
  }
  ayatori_destroy(together);
  ayatori_destroy(alone);
  const int kept = has(MPI_COMM_SELF, own) && has(MPI_COMM_WORLD, own);
  MPI_Errhandler_free(&own);
  MPI_Finalize();
  return kept && result.converged ? 0 : 1;
}
