/* A solver that outlives MPI, which the program ends. */
#include <ayatori.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                                   \
  if (!(condition)) {                                                                       \
    fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, ayatori_error_text(solver)); \
    return 1;                                                                               \
  }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm comm = MPI_COMM_WORLD;
  const int32_t row_start[] = {0, 1};
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int32_t column[] = {rank};
  const double value[] = {2}, b[] = {6};
  double x[] = {0};
  ayatori_solver *solver = NULL, *unused = NULL, *late = NULL;
  ayatori_result result = AYATORI_RESULT_INIT;
  EXPECT(ayatori_create(&comm, &solver) == AYATORI_OK)
  EXPECT(ayatori_create(&comm, &unused) == AYATORI_OK)
  EXPECT(ayatori_set_matrix_i32(solver, 1, size, row_start, column, value) == AYATORI_OK)
  EXPECT(ayatori_solve(solver, b, x, &result) == AYATORI_OK)
  EXPECT(result.converged == 1 && x[0] == 3)
  MPI_Finalize();
  EXPECT(ayatori_solve(solver, b, x, &result) == AYATORI_ENVIRONMENT)
  EXPECT(strstr(ayatori_error_text(solver), "MPI has ended") != NULL)
  EXPECT(ayatori_set_option(solver, "rtol", "1e-3") == AYATORI_OK)
  EXPECT(strcmp(ayatori_summary(solver), "") == 0)
  EXPECT(ayatori_create(NULL, &late) == AYATORI_ENVIRONMENT && late == NULL)
  ayatori_destroy(solver);
  ayatori_destroy(unused);
  return 0;
}
