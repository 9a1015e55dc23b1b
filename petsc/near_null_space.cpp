#include "petsc/near_null_space.hpp"

#include <utility>

#include "petsc/rigid_body.hpp"
#include "petsc/vectors.hpp"

namespace ayatori::petsc {

PetscErrorCode find_coordinates(const comm::Comm& comm, Mat matrix, std::vector<double>& coordinates,
                                std::string& note) {
  coordinates.clear();
  MatNullSpace space = nullptr;
  PetscInt dimension = 0;
  PetscCall(MatGetNearNullSpace(matrix, &space));
  if (space == nullptr) return success;
  PetscCall(MatGetBlockSize(matrix, &dimension));
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  PetscBool has_constant = PETSC_FALSE;
  PetscCall(MatNullSpaceGetVecs(space, &has_constant, &count, &vectors));
  note =
      "the near-null space that was set is not used: it does not hold the rigid body modes of nodes of two "
      "or "
      "three rows";
  if (has_constant || dimension < 2 || dimension > 3) return success;
  std::vector<std::vector<double>> modes;
  for (PetscInt k = 0; k < count; ++k) {
    ReadArray mode;
    PetscCall(mode.open(vectors[k]));
    modes.emplace_back(mode.span().begin(), mode.span().end());
  }
  std::vector<double> x;
  if (!recover_coordinates(comm, static_cast<int>(dimension), std::move(modes), x)) return success;
  for (std::size_t row = 0; row < x.size(); ++row)
    for (int axis = 0; axis < 3; ++axis)
      coordinates.push_back(axis < dimension ? x[row / dimension * dimension + axis] : 0);
  note = "the near-null space that was set tells where the nodes are: amg knows the rotations";
  return success;
}

}  // namespace ayatori::petsc
