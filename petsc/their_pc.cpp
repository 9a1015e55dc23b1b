#include "petsc/their_pc.hpp"

#include "petsc/row_facts.hpp"

namespace ayatori::petsc {

namespace {

using SetCoordinates = PetscErrorCode (*)(PC, PetscInt, PetscInt, PetscReal*);
constexpr const char* their_name = "PCSetCoordinates_C";
constexpr const char* kept_name = "PCSetCoordinates_of_type_C";

PetscErrorCode keep_and_pass_on(PC pc, PetscInt dimension, PetscInt count, PetscReal* values) {
  PetscCall(keep_coordinates(pc, dimension, count, values));
  SetCoordinates of_type = nullptr;
  PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(pc), kept_name, &of_type));
  return of_type != nullptr ? of_type(pc, dimension, count, values) : success;
}

PetscErrorCode has_parts(PC pc, PetscBool& has) {
  return PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &has, PCBJACOBI, PCASM, PCGASM,
                                   PCFIELDSPLIT, "");
}

}  // namespace

PetscErrorCode listen_for_coordinates(PC pc) {
  const auto object = reinterpret_cast<PetscObject>(pc);
  SetCoordinates of_type = nullptr;
  PetscCall(PetscObjectQueryFunction(object, their_name, &of_type));
  if (of_type == keep_and_pass_on) return success;
  PetscCall(PetscObjectComposeFunction(object, kept_name, of_type));
  return PetscObjectComposeFunction(object, their_name, keep_and_pass_on);
}

PetscErrorCode set_aside(PC pc) {
  PetscBool has = PETSC_FALSE;
  PetscCall(has_parts(pc, has));
  if (has) {
    // Its own set-up names what sets up the blocks, which would factor them: it comes first.
    PetscCall(PCSetUp(pc));
    pc->ops->setuponblocks = nullptr;
    return PCSetReusePreconditioner(pc, PETSC_TRUE);
  }
  PetscCall(PCSetType(pc, PCNONE));
  return listen_for_coordinates(pc);
}

PetscErrorCode take_back(PC pc) {
  PetscBool has = PETSC_FALSE;
  PetscCall(has_parts(pc, has));
  return has ? PCSetReusePreconditioner(pc, PETSC_FALSE) : success;
}

}  // namespace ayatori::petsc
