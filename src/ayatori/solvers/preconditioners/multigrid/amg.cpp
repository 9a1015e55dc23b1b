#include "ayatori/solvers/preconditioners/multigrid/amg.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/null_space.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"
#include "ayatori/solvers/preconditioners/multigrid/near_null.hpp"
#include "ayatori/solvers/preconditioners/multigrid/nodes.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"

namespace ayatori::solvers {

namespace {

class Amg final : public sparse::LinearOperator {
 public:
  Amg(std::int32_t rows, std::unique_ptr<amg::Cycle> cycle) : rows_(rows), cycle_(std::move(cycle)) {}

  void apply(std::span<const double> x, std::span<double> y) const override { cycle_->apply(x, y); }
  std::int32_t local_size() const override { return rows_; }

 private:
  std::int32_t rows_;
  std::unique_ptr<amg::Cycle> cycle_;
};

/// Collective. How many rows share the coordinates of a node: 3 or 2. Throws InputError (agreed) if it is
/// neither.
int rows_per_node(const sparse::DistributedMatrix& matrix, std::span<const double> coordinates) {
  const std::int64_t first_row = matrix.partition().range(matrix.comm().rank()).begin;
  const auto rows = static_cast<std::int64_t>(coordinates.size() / 3);
  const auto differ = [&](int size) {
    for (std::int64_t i = 1; i < rows; ++i)
      if ((first_row + i) % size != 0 &&
          !std::equal(&coordinates[3 * i], &coordinates[3 * i] + 3, &coordinates[3 * (i - 1)]))
        return true;
    return false;
  };
  for (const int size : {3, 2})
    if (matrix.global_rows() % size == 0 && !matrix.comm().any(differ(size))) return size;
  throw_error(ErrorKind::bad_input, "amg: the coordinates are not those of nodes of two or three rows each",
              true);
}

template <int B>
BuiltPreconditioner build(const sparse::DistributedMatrix& matrix, InverseDiagonal diagonal,
                          amg::HierarchyOptions options, std::span<const double> coordinates,
                          std::span<const double> near_null_space) {
  auto fine = amg::make_fine_grid<B>(matrix, diagonal.value, coordinates, near_null_space);
  const bool is_given = matrix.comm().any(!near_null_space.empty());
  const bool knows_rotations = !is_given && fine.grid.pieces > 1;
  bool relaxed = false;
  if constexpr (B == 1) relaxed = !is_given && options.symmetric && amg::relax_near_null(fine);
  auto cycle = amg::make_hierarchy<B, float>(std::move(fine), options);
  const amg::HierarchyFacts facts = cycle->facts();
  BuiltPreconditioner built{
      comm::agree(matrix.comm(),
                  [&] { return std::make_unique<Amg>(matrix.local_size(), std::move(cycle)); }),
      diagonal.notes()};
  std::string note = fmt::format("{} grids, operator complexity {:.2f}, {} unknowns on the coarsest",
                                 facts.levels, facts.operator_complexity, facts.coarsest);
  if (B > 1) note += fmt::format(", {} unknowns per node", B);
  if (relaxed) note += ", near null space by relaxation";
  if (is_given) note += ", near null space as given";
  if (knows_rotations) note += ", rotations by coordinates";
  if (facts.in_halves) note += ", finest matrix in 16 bits";
  if (facts.gathered_level >= 0) note += fmt::format(", on every rank from grid {} on", facts.gathered_level);
  built.notes.push_back(std::move(note));
  if (facts.coarsest_is_singular) built.notes.emplace_back("the coarsest grid's matrix is singular");
  if (facts.coarsest_is_smoothed)
    built.notes.emplace_back("the coarsest grid is only smoothed: no coarser one was worth having");
  return built;
}

/// Collective. As what the options tell of the nodes suits. Throws InputError (agreed).
int unknowns_per_node(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options) {
  const auto vectors = amg::near_null_vectors(matrix.comm(), matrix.local_size(), options.near_null_space);
  if (vectors > 0) {
    const int unknowns = amg::unknowns_per_node(matrix);
    return vectors % unknowns == 0 && vectors / unknowns > 1 ? unknowns : 1;
  }
  const bool has_coordinates = matrix.comm().any(!options.coordinates.empty());
  return has_coordinates ? rows_per_node(matrix, options.coordinates) : amg::unknowns_per_node(matrix);
}

}  // namespace

BuiltPreconditioner make_amg(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options,
                             amg::HierarchyParts* parts) {
  InverseDiagonal diagonal = invert_diagonal(matrix, "amg");
  amg::HierarchyOptions hierarchy;
  hierarchy.parts = parts;
  hierarchy.gives_up = options.gives_up;
  hierarchy.singular = options.null_vectors != nullptr && !options.null_vectors->empty();
  comm::agree(matrix.comm(), [&] {
    const std::size_t values = options.coordinates.size();
    if (values != 0 && values != std::size_t(3) * matrix.local_size())
      throw InputError(
          fmt::format("amg: {} coordinates for {} rows: each needs three", values, matrix.local_size()));
  });
  hierarchy.symmetric = !matrix.comm().any(!looks_symmetric(matrix.interior()));
  switch (unknowns_per_node(matrix, options)) {
    case 3:
      return build<3>(matrix, std::move(diagonal), hierarchy, options.coordinates, options.near_null_space);
    case 2:
      return build<2>(matrix, std::move(diagonal), hierarchy, options.coordinates, options.near_null_space);
    default:
      return build<1>(matrix, std::move(diagonal), hierarchy, options.coordinates, options.near_null_space);
  }
}

const Preconditioner amg_preconditioner{
    .name = "amg",
    .description = "algebraic multigrid by smoothed aggregation, stored in float",
    .symmetric = true,
    .make = [](const sparse::DistributedMatrix& matrix, const GlobalSum&,
               const PreconditionerOptions& options) { return make_amg(matrix, options, nullptr); }};

}  // namespace ayatori::solvers
