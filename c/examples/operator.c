/* An operator by its products alone, on one process and without a line of MPI. */
#include <ayatori.h>
#include <stdio.h>

enum { n = 1000 };

/* y = A x for A = tridiagonal (-1, 2 + shift, -1). */
static int apply(const double* x, double* y, void* data) {
  const double shift = *(const double*)data;
  for (int i = 0; i < n; ++i) y[i] = (2 + shift) * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
  return 0;
}

static void show(const char* choice, int64_t iteration, double relative_residual, void* data) {
  (void)data;
  if (iteration % 100 == 0) printf("%s: %lld, %.1e\n", choice, (long long)iteration, relative_residual);
}

int main(void) {
  static double b[n], x[n];
  for (int i = 0; i < n; ++i) b[i] = 1;
  double shift = 1e-3;
  ayatori_solver* solver;
  ayatori_result result = AYATORI_RESULT_INIT;
  int code = ayatori_create(NULL, &solver);
  if (!code) code = ayatori_set_option(solver, "method", "cg");
  if (!code) code = ayatori_set_progress(solver, show, NULL);
  if (!code) code = ayatori_set_operator(solver, n, apply, &shift);
  if (!code) code = ayatori_solve(solver, b, x, &result);
  if (code) fprintf(stderr, "%s\n", ayatori_error_text(solver));
  if (!code) printf("%s", ayatori_summary(solver));
  ayatori_destroy(solver);
  return code ? code : !result.converged;
}
