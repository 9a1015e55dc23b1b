#include "petsc/row_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "petsc/rigid_body.hpp"
#include "petsc/vectors.hpp"

namespace ayatori::petsc {

namespace {

constexpr const char* kept_as = "ayatori_coordinates";

/// [3 * row + axis] of what is given for each node of `dimension` rows.
std::vector<double> of_rows(const double* values, std::size_t rows, int dimension) {
  std::vector<double> coordinates;
  coordinates.reserve(3 * rows);
  for (std::size_t row = 0; row < rows; ++row)
    for (int axis = 0; axis < 3; ++axis)
      coordinates.push_back(axis < dimension ? values[row / dimension * dimension + axis] : 0);
  return coordinates;
}

bool has_axes(PetscInt dimension) {
  return dimension == 2 || dimension == 3;
}

/// Collective. Empty where none are kept, or they are of other nodes than these rows.
PetscErrorCode find_kept(const comm::Comm& comm, PC pc, Mat matrix, std::vector<double>& coordinates) {
  coordinates.clear();
  Vec kept = nullptr;
  PetscCall(
      PetscObjectQuery(reinterpret_cast<PetscObject>(pc), kept_as, reinterpret_cast<PetscObject*>(&kept)));
  PetscInt rows = 0;
  PetscInt dimension = 0;
  PetscInt count = 0;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  if (kept != nullptr) {
    PetscCall(VecGetBlockSize(kept, &dimension));
    PetscCall(VecGetLocalSize(kept, &count));
  }
  const bool fits = kept != nullptr && has_axes(dimension) && count == rows;
  if (comm.any(!fits)) return success;
  ReadArray values;
  PetscCall(values.open(kept));
  coordinates = of_rows(values.span().data(), values.span().size(), static_cast<int>(dimension));
  return success;
}

}  // namespace

PetscErrorCode keep_coordinates(PC pc, PetscInt dimension, PetscInt count, const PetscReal* values) {
  Vec kept = nullptr;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, dimension * count, &kept));
  PetscCall(VecSetBlockSize(kept, std::max<PetscInt>(dimension, 1)));
  {
    WriteArray to;
    PetscCall(to.open(kept));
    std::copy_n(values, to.span().size(), to.span().begin());
  }
  PetscCall(
      PetscObjectCompose(reinterpret_cast<PetscObject>(pc), kept_as, reinterpret_cast<PetscObject>(kept)));
  return VecDestroy(&kept);
}

PetscErrorCode version_of_coordinates(PC pc, PetscObjectId& version) {
  version = 0;
  PetscObject kept = nullptr;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(pc), kept_as, &kept));
  if (kept != nullptr) PetscCall(PetscObjectGetId(kept, &version));
  return success;
}

PetscErrorCode find_row_facts(const comm::Comm& comm, PC pc, Mat matrix, session::RowFacts& known,
                              std::string& note) {
  note.clear();
  PetscCall(find_kept(comm, pc, matrix, known.coordinates));
  if (comm.any(!known.coordinates.empty())) {
    note = "the coordinates that were set tell where the nodes are: amg knows the rotations";
    return success;
  }
  MatNullSpace space = nullptr;
  PetscInt dimension = 0;
  PetscInt count = 0;
  const Vec* vectors = nullptr;
  PetscBool has_constant = PETSC_FALSE;
  PetscCall(MatGetNearNullSpace(matrix, &space));
  if (space == nullptr) return success;
  PetscCall(MatGetBlockSize(matrix, &dimension));
  PetscCall(MatNullSpaceGetVecs(space, &has_constant, &count, &vectors));
  if (count == 0) return success;  // constants are what amg takes unless told otherwise
  std::vector<std::vector<double>> modes;
  for (PetscInt k = 0; k < count; ++k) {
    ReadArray mode;
    PetscCall(mode.open(vectors[k]));
    modes.emplace_back(mode.span().begin(), mode.span().end());
  }
  std::vector<double> x;
  if (!has_constant && has_axes(dimension) &&
      recover_coordinates(comm, static_cast<int>(dimension), modes, x)) {
    known.coordinates = of_rows(x.data(), x.size(), static_cast<int>(dimension));
    note = "the near-null space that was set tells where the nodes are: amg knows the rotations";
    return success;
  }
  if (has_constant) modes.emplace_back(modes.front().size(), 1.0);
  for (std::size_t row = 0; row < modes.front().size(); ++row)
    for (const auto& mode : modes) known.near_null_space.push_back(mode[row]);
  note = "amg knows the near-null space that was set: " +
         (modes.size() == 1 ? "one vector" : fmt::format("{} vectors", modes.size()));
  return success;
}

}  // namespace ayatori::petsc
