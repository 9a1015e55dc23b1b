/* What a program of another PETSc would say. */
int PetscGetVersionNumber(int* major, int* minor, int* subminor, int* release) {
  *major = 3;
  *minor = 99;
  if (subminor) *subminor = 0;
  if (release) *release = 1;
  return 0;
}
