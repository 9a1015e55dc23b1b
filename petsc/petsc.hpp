#pragma once

// PETSc's headers, those of its implementations included, and what of them differs from version to version.

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#if defined(PETSC_USE_COMPLEX)
#error "this PETSc has complex scalars: Ayatori solves real systems, take a real build (PETSC_ARCH)"
#endif
#if defined(PETSC_USE_64BIT_INDICES)
#error "this PETSc has 64-bit indices: take a build without --with-64-bit-indices"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE)
#error "this PETSc is not in double precision: take a build without --with-precision"
#endif
#if PETSC_VERSION_LT(3, 17, 0)
#error "PETSc 3.17 or newer is wanted"
#endif

namespace ayatori::petsc {

inline constexpr PetscErrorCode success = static_cast<PetscErrorCode>(0);

template <class Function>
struct SecondArgument;
template <class First, class Second>
struct SecondArgument<PetscErrorCode (*)(First, Second)> {
  using type = Second;
};
/// What a setfromoptions() is handed.
using OptionItems = SecondArgument<decltype(_KSPOps::setfromoptions)>::type;

PetscErrorCode create_ksp(KSP ksp);
PetscErrorCode create_pc(PC pc);

}  // namespace ayatori::petsc
