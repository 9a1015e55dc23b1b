#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "ayatori/session/machine_profile.hpp"
#include "ayatori/session/solve/solve_request.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// What is asked of a solve until options say otherwise: a library writes no files unasked.
session::SolveRequest first_request();

/// Sets what the options database holds of the table of options, each under `prefix` and its name there with
/// underscores: "-ksp_ayatori_time_limit". `-help` lists them. Those of `omitted` are PETSc's own.
PetscErrorCode set_from_options(OptionItems PetscOptionsObject, const std::string& prefix,
                                std::initializer_list<std::string_view> omitted,
                                session::SolveRequest& request);

/// Whether two requests ask for the same.
bool same_request(const session::SolveRequest& a, const session::SolveRequest& b);

/// Whether rows may come to other ranks than those that hold them, where coordinates of nodes are no use.
bool moves_rows(const session::SolveRequest& request);

/// Collective. The profile that is asked for; for "auto" the one that is kept, if there is one: nothing is
/// measured. Throws InputError, agreed.
session::FoundProfile find_profile(const comm::Comm& comm, const std::string& word);

}  // namespace ayatori::petsc
