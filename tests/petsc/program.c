static char help[] =
    "Linear systems, a nonlinear one and a heat equation, for tests of whatever solver the options name.\n\
  -case <name>: linear, several, many, bratu or heat\n";

#include <petscdmda.h>
#include <petscksp.h>
#include <petscsnes.h>
#include <petscts.h>

/* What the options ask of the linear systems: 5-point differences on an n x n grid. */
typedef struct {
  PetscInt n;
  PetscReal wind; /* strength of convection; not 0: A is not symmetric */
  PetscBool neumann, inconsistent, nan, guess, transposed, shell, other_pmat, shell_pmat;
} Problem;

static PetscErrorCode Assemble(MPI_Comm comm, const Problem* p, PetscReal shift, PetscBool wide, Mat* A) {
  PetscInt begin, end, n = p->n;
  PetscBool half;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)*A, &half, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (half) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt i = row / n, j = row % n;
    PetscScalar diagonal = shift, side[4] = {-1 - p->wind, -1 + p->wind, -1, -1};
    PetscInt column[4] = {i > 0 ? row - n : -1, i < n - 1 ? row + n : -1, j > 0 ? row - 1 : -1,
                          j < n - 1 ? row + 1 : -1};
    for (int k = 0; k < 4; k++) diagonal += column[k] >= 0 || !p->neumann ? 1 : 0;
    PetscCall(MatSetValues(*A, 1, &row, 4, column, side, INSERT_VALUES)); /* negative columns are left out */
    if (wide && row + 2 < n * n) {
      PetscScalar zero = 0;
      PetscInt far = row + 2;
      PetscCall(MatSetValues(*A, 1, &row, 1, &far, &zero, INSERT_VALUES));
    }
    if (p->nan && row == n) diagonal = NAN;
    PetscCall(MatSetValues(*A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (p->wind == 0) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  if (p->neumann && shift == 0 && !p->inconsistent) {
    MatNullSpace constants;
    PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(*A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellMult(Mat shell, Vec x, Vec y) {
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(shell, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(0);
}

/* One line: the reason, iterations, ||b - A x|| / ||b|| and ||x - x*|| / ||x*||. */
static PetscErrorCode SolveAndTell(KSP ksp, const Problem* p, Mat A, const char* name) {
  Vec x, b, exact, r;
  PetscReal b_norm, r_norm, error, norm, mean;
  PetscScalar sum;
  PetscInt its, size;
  KSPConvergedReason reason;
  PetscRandom random;
  const char* word;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)ksp), &random));
  PetscCall(VecSetRandom(exact, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecGetSize(exact, &size));
  if (p->neumann) { /* what is left of an x that is known up to a constant */
    PetscCall(VecSum(exact, &sum));
    PetscCall(VecShift(exact, -sum / size));
  }
  PetscCall(p->transposed ? MatMultTranspose(A, exact, b) : MatMult(A, exact, b));
  if (p->nan) PetscCall(VecSet(b, 1));
  if (p->inconsistent) PetscCall(VecShift(b, 1));
  PetscCall(VecSet(x, 0));
  if (p->guess) PetscCall(VecCopy(exact, x));
  PetscCall(p->transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
  PetscCall(p->transposed ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &b_norm));
  PetscCall(VecNorm(r, NORM_2, &r_norm));
  PetscCall(VecSum(x, &sum));
  mean = PetscAbsScalar(sum) / size;
  PetscCall(VecNorm(exact, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetConvergedReasonString(ksp, &word));
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ksp),
                        "%s: %s iterations %" PetscInt_FMT " residual %.3e error %.3e mean %.1e\n", name,
                        word, its, (double)(r_norm / b_norm), (double)(error / norm), (double)mean));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* -solves of one system; -change says what becomes of the matrix meanwhile: none, values, pattern, size. */
static PetscErrorCode Linear(Problem p) {
  KSP ksp;
  Mat A, P, shell;
  PetscInt solves = 1, history_length = 0;
  PetscBool is_first = PETSC_TRUE, keeps_history = PETSC_FALSE;
  char change[16] = "none", name[32];

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-change", change, sizeof(change), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-history", &keeps_history, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  if (p.guess) PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  for (PetscInt k = 0; k < solves; k++) {
    PetscBool values = change[0] == 'v' ? PETSC_TRUE : PETSC_FALSE,
              pattern = change[0] == 'p' ? PETSC_TRUE : PETSC_FALSE;
    if (is_first || change[0] != 'n') {
      if (!is_first) PetscCall(MatDestroy(&A));
      if (change[0] == 's' && k > 0) {
        p.n += 3;
        PetscCall(KSPReset(ksp));
      }
      PetscCall(Assemble(PETSC_COMM_WORLD, &p, values ? 0.01 * k : 0,
                         pattern && k % 2 ? PETSC_TRUE : PETSC_FALSE, &A));
      P = A;
      if (p.other_pmat) PetscCall(Assemble(PETSC_COMM_WORLD, &p, 0.3, PETSC_FALSE, &P));
      shell = A;
      if (p.shell) {
        PetscInt rows;
        PetscCall(MatGetLocalSize(A, &rows, NULL));
        PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, PETSC_DECIDE, PETSC_DECIDE, A, &shell));
        PetscCall(MatShellSetOperation(shell, MATOP_MULT, (void (*)(void))ShellMult));
      }
      PetscCall(KSPSetOperators(ksp, shell, p.shell_pmat ? shell : P));
      if (p.shell) PetscCall(MatDestroy(&shell));
      if (p.other_pmat) PetscCall(MatDestroy(&P));
      if (is_first) PetscCall(KSPSetFromOptions(ksp));
      if (keeps_history) PetscCall(KSPSetResidualHistory(ksp, NULL, 1000, PETSC_TRUE));
      is_first = PETSC_FALSE;
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "solve %d", (int)k + 1));
    PetscCall(SolveAndTell(ksp, &p, A, name));
  }
  if (keeps_history) {
    const PetscReal* history;
    PetscCall(KSPGetResidualHistory(ksp, &history, &history_length));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "history %d from %.3e to %.3e\n", (int)history_length,
                          (double)history[0], (double)history[history_length - 1]));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Two systems by turns, and one on half of the ranks. */
static PetscErrorCode Several(Problem p) {
  KSP first, second, part;
  Mat A, B, C;
  Problem q = p;
  MPI_Comm half;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  q.n += 5;
  q.wind = 0.3;
  PetscCall(Assemble(PETSC_COMM_WORLD, &p, 0, PETSC_FALSE, &A));
  PetscCall(Assemble(PETSC_COMM_WORLD, &q, 0.1, PETSC_FALSE, &B));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &first));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &second));
  PetscCall(KSPSetOperators(first, A, A));
  PetscCall(KSPSetOperators(second, B, B));
  PetscCall(KSPSetFromOptions(first));
  PetscCall(KSPSetFromOptions(second));
  for (int k = 0; k < 2; k++) {
    PetscCall(SolveAndTell(first, &p, A, "first"));
    PetscCall(SolveAndTell(second, &q, B, "second"));
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank % 2, rank, &half));
  /* Each rank a matrix of its own, in a solver of all. */
  PetscCall(Assemble(PETSC_COMM_SELF, &p, 0.5, PETSC_FALSE, &C));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &part));
  PetscCall(KSPSetOperators(part, C, C));
  PetscCall(KSPSetFromOptions(part));
  PetscCall(SolveAndTell(part, &p, C, "alone"));
  PetscCall(KSPDestroy(&part));
  PetscCall(MatDestroy(&C));
  if (rank % 2 == 0) { /* the others go on without them */
    PetscCall(Assemble(half, &p, 0.2, PETSC_FALSE, &C));
    PetscCall(KSPCreate(half, &part));
    PetscCall(KSPSetOperators(part, C, C));
    PetscCall(KSPSetFromOptions(part));
    PetscCall(SolveAndTell(part, &p, C, "part"));
    PetscCall(KSPDestroy(&part));
    PetscCall(MatDestroy(&C));
  }
  PetscCallMPI(MPI_Comm_free(&half));
  PetscCall(KSPDestroy(&second));
  PetscCall(KSPDestroy(&first));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Many methods, one after the other: "growth" is of this process's memory, in KiB, after the first tenth. */
static PetscErrorCode Many(Problem p) {
  Mat A;
  Vec x, b;
  PetscInt times = 100;
  PetscLogDouble before = 0, after;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCall(Assemble(PETSC_COMM_WORLD, &p, 0, PETSC_FALSE, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  for (PetscInt k = 0; k < times; k++) {
    KSP ksp;
    KSPConvergedReason reason;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "solve %d", (int)k);
    PetscCall(KSPDestroy(&ksp));
    if (k == times / 10) PetscCall(PetscMemoryGetCurrentUsage(&before));
  }
  PetscCall(PetscMemoryGetCurrentUsage(&after));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "times %d growth %.0f\n", (int)times, (after - before) / 1024));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode BratuFunction(DMDALocalInfo* info, PetscScalar** u, PetscScalar** f, void* lambda) {
  PetscReal h = 1.0 / (info->mx - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      if (i == 0 || j == 0 || i == info->mx - 1 || j == info->my - 1)
        f[j][i] = u[j][i];
      else
        f[j][i] = 4 * u[j][i] - u[j][i - 1] - u[j][i + 1] - u[j - 1][i] - u[j + 1][i] -
                  h * h * *(PetscReal*)lambda * PetscExpScalar(u[j][i]);
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode Bratu(Problem p) {
  SNES snes;
  DM grid;
  Vec u;
  PetscReal lambda = 6, norm;
  PetscInt its, linear;
  SNESConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p.n, p.n,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &grid));
  PetscCall(DMSetFromOptions(grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMDASNESSetFunctionLocal(
      grid, INSERT_VALUES, (PetscErrorCode(*)(DMDALocalInfo*, void*, void*, void*))BratuFunction, &lambda));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, grid));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(DMCreateGlobalVector(grid, &u));
  PetscCall(VecSet(u, 0));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(SNESGetIterationNumber(snes, &its));
  PetscCall(SNESGetLinearSolveIterations(snes, &linear));
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(VecNorm(u, NORM_INFINITY, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "bratu: %s steps %d iterations %d largest %.8f\n",
                        SNESConvergedReasons[reason], (int)its, (int)linear, (double)norm));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}

/* u_t = div (1 + w u^2) grad u, w = -nonlinear, by differences in the interior of the unit square. */
static PetscErrorCode HeatFunction(DMDALocalInfo* info, PetscReal t, PetscScalar** u, PetscScalar** v,
                                   PetscScalar** f, void* w) {
  PetscReal h = 1.0 / (info->mx - 1);

  PetscFunctionBeginUser;
  (void)t;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      if (i == 0 || j == 0 || i == info->mx - 1 || j == info->my - 1) {
        f[j][i] = u[j][i];
        continue;
      }
      const PetscScalar around[4] = {u[j][i - 1], u[j][i + 1], u[j - 1][i], u[j + 1][i]};
      f[j][i] = v[j][i];
      for (int k = 0; k < 4; k++) {
        PetscScalar middle = 0.5 * (u[j][i] + around[k]);
        f[j][i] += (1 + *(PetscReal*)w * middle * middle) * (u[j][i] - around[k]) / (h * h);
      }
    }
  PetscFunctionReturn(0);
}

static PetscErrorCode Heat(Problem p) {
  TS ts;
  DM grid;
  Vec u;
  PetscReal w = 0, sum, seconds;
  PetscInt steps, linear;
  PetscScalar** value;
  TSConvergedReason reason;
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-nonlinear", &w, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p.n, p.n,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &grid));
  PetscCall(DMSetFromOptions(grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMDATSSetIFunctionLocal(grid, INSERT_VALUES, (DMDATSIFunctionLocal)HeatFunction, &w));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, grid));
  PetscCall(TSSetType(ts, TSBEULER));
  PetscCall(TSSetTimeStep(ts, 1e-3));
  PetscCall(TSSetMaxSteps(ts, 5));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(DMCreateGlobalVector(grid, &u));
  PetscCall(DMDAVecGetArray(grid, u, &value));
  DMDALocalInfo info;
  PetscCall(DMDAGetLocalInfo(grid, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++)
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      PetscReal x = i / (PetscReal)(info.mx - 1), y = j / (PetscReal)(info.my - 1);
      value[j][i] = 16 * x * (1 - x) * y * (1 - y);
    }
  PetscCall(DMDAVecRestoreArray(grid, u, &value));
  PetscCall(PetscBarrier((PetscObject)u));
  PetscCall(PetscTime(&begin));
  PetscCall(TSSolve(ts, u));
  PetscCall(PetscBarrier((PetscObject)u));
  PetscCall(PetscTime(&end));
  seconds = end - begin;
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetKSPIterations(ts, &linear));
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCall(VecNorm(u, NORM_2, &sum));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "heat: %s steps %d iterations %d norm %.8f seconds %.3f\n",
                        TSConvergedReasons[reason], (int)steps, (int)linear, (double)(sum / p.n),
                        (double)seconds));
  PetscCall(VecDestroy(&u));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  char name[16] = "linear";
  Problem p = {20,          0,           PETSC_FALSE, PETSC_FALSE, PETSC_FALSE,
               PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", name, sizeof(name), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &p.n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-wind", &p.wind, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-neumann", &p.neumann, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-inconsistent", &p.inconsistent, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spoiled", &p.nan, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-guess", &p.guess, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-transposed", &p.transposed, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shell", &p.shell, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-other_pmat", &p.other_pmat, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shell_pmat", &p.shell_pmat, NULL));
  if (p.shell_pmat) p.shell = PETSC_TRUE;
  switch (name[0]) {
    case 's':
      PetscCall(Several(p));
      break;
    case 'm':
      PetscCall(Many(p));
      break;
    case 'b':
      PetscCall(Bratu(p));
      break;
    case 'h':
      PetscCall(Heat(p));
      break;
    default:
      PetscCall(Linear(p));
  }
  PetscCall(PetscFinalize());
  return 0;
}
