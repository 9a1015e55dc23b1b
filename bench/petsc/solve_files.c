static char help[] =
    "Solves A x = b from files of PETSc's as its users do, -repeats times from nothing.\n\
  -folder <path>: where A.petsc and b.petsc are\n";

#include <petscksp.h>

int main(int argc, char** argv) {
  char folder[PETSC_MAX_PATH_LEN] = ".", path[PETSC_MAX_PATH_LEN];
  PetscInt repeats = 2;
  Mat A;
  Vec x, b, r;
  PetscReal b_norm, norm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-folder", folder, sizeof(folder), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
  for (int file = 0; file < 2; file++) {
    PetscViewer viewer;
    PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s.petsc", folder, file ? "b" : "A"));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
    if (file) {
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecLoad(b, viewer));
    } else {
      PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
      PetscCall(MatSetFromOptions(A));
      PetscCall(MatLoad(A, viewer));
    }
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecNorm(b, NORM_2, &b_norm));
  for (PetscInt k = 0; k < repeats; k++) {
    KSP ksp;
    PetscLogDouble begin, end;
    PetscInt its;
    const char* reason;
    PetscCall(VecSet(x, 0));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&end));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    PetscCall(KSPGetConvergedReasonString(ksp, &reason));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved %s %d %.3e %.6f\n", reason, (int)its,
                          (double)(norm / b_norm), end - begin));
    PetscCall(KSPDestroy(&ksp));
  }
  /* What a product takes, at best. */
  {
    PetscLogDouble begin, end, best = 1e30;
    for (int k = 0; k < 20; k++) {
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      PetscCall(PetscTime(&begin));
      PetscCall(MatMult(A, x, r));
      PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
      PetscCall(PetscTime(&end));
      best = PetscMin(best, end - begin);
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "product %.9f\n", best));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
