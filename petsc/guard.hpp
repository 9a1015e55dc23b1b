#pragma once

#include <exception>
#include <new>
#include <string>

#include "ayatori/base/error.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// The text of an error with options called by their names in PETSc: "--time-limit" is
/// "-ksp_ayatori_time_limit", for the prefix "-ksp_ayatori_".
std::string in_their_words(const std::string& text, const std::string& prefix);

/// An exception of ours as an error of PETSc's, reported as its own are. Agreed errors are reported once.
PetscErrorCode report(MPI_Comm comm, PetscErrorCode code, bool agreed, const std::string& text);

/// Runs what may throw: no exception crosses into PETSc. `body` gives a PetscErrorCode.
template <class Body>
PetscErrorCode guarded(MPI_Comm comm, const std::string& prefix, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    const auto code = error.kind() == ErrorKind::bad_input     ? PETSC_ERR_USER_INPUT
                      : error.kind() == ErrorKind::environment ? PETSC_ERR_LIB
                                                               : PETSC_ERR_PLIB;
    return report(comm, static_cast<PetscErrorCode>(code), error.agreed(),
                  in_their_words(error.what(), prefix));
  } catch (const std::bad_alloc&) {
    return report(comm, static_cast<PetscErrorCode>(PETSC_ERR_MEM), false, "out of memory");
  } catch (const std::exception& error) {
    return report(comm, static_cast<PetscErrorCode>(PETSC_ERR_PLIB), false, error.what());
  }
}

}  // namespace ayatori::petsc
