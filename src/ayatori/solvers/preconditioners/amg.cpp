#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/amg/hierarchy.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/preconditioners.hpp"
#include "ayatori/sparse/pattern.hpp"

namespace ayatori::solvers {

namespace {

/// y = S V S x with S = |D|^(-1/2) and V a V-cycle for S A S.
template <int B>
class Amg final : public sparse::LinearOperator {
 public:
  Amg(Array<double> scale, int skipped, std::int32_t nodes, std::unique_ptr<amg::Cycle> cycle)
      : scale_(std::move(scale)),
        skipped_(skipped),
        cycle_(std::move(cycle)),
        b_(std::size_t(nodes) * B, 0.0),
        x_(b_.size()) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    parallel_for(local_size(), [&](std::int64_t i) { b_[skipped_ + i] = scale_[i] * x[i]; });
    cycle_->apply(b_, x_);
    parallel_for(local_size(), [&](std::int64_t i) { y[i] = scale_[i] * x_[skipped_ + i]; });
  }
  std::int32_t local_size() const override { return static_cast<std::int32_t>(scale_.size()); }

 private:
  Array<double> scale_;
  int skipped_;
  std::unique_ptr<amg::Cycle> cycle_;
  mutable Array<double> b_;
  mutable Array<double> x_;
};

/// Whether an entry and its mirror image are the same, as far as a rank's own square block and a sample of its
/// rows tell.
bool looks_symmetric(const sparse::Csr& a) {
  constexpr std::int64_t sample = 1000;
  const std::int64_t step = std::max<std::int64_t>(a.rows / sample, 1);
  for (std::int64_t i = 0; i < a.rows; i += step) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const std::int32_t j = a.column[k];
      const auto* begin = a.column.data() + a.row_start[j];
      const auto* end = a.column.data() + a.row_start[j + 1];
      const auto* place = std::lower_bound(begin, end, i);
      const double mirrored = place != end && *place == i ? a.value[place - a.column.data()] : 0;
      if (std::abs(a.value[k] - mirrored) > 1e-10 * std::abs(a.value[k])) return false;
    }
  }
  return true;
}

/// Collective. Unknowns per node, as far as blocks of that size are full: 1, 2 or 3.
int unknowns_per_node(const sparse::DistributedMatrix& matrix) {
  constexpr double full = 0.9;
  const sparse::PatternFacts facts = sparse::pattern_facts(matrix.interior());
  std::array<double, 3> counts{static_cast<double>(facts.nonzeros), 4 * static_cast<double>(facts.blocks[0]),
                               9 * static_cast<double>(facts.blocks[1])};
  matrix.comm().allreduce(std::span<double>(counts), comm::ReduceOp::sum);
  for (const int size : {3, 2})
    if (matrix.global_rows() % size == 0 && counts[0] >= full * counts[size - 1]) return size;
  return 1;
}

template <int B>
BuiltPreconditioner build(const sparse::DistributedMatrix& matrix, InverseDiagonal diagonal,
                          amg::HierarchyOptions options) {
  auto fine = amg::make_fine_grid<B>(matrix, diagonal.value);
  const std::int32_t nodes = fine.grid.layout.own();
  auto cycle = amg::make_hierarchy<B, float>(std::move(fine.grid), options);
  const amg::HierarchyFacts facts = cycle->facts();
  BuiltPreconditioner built{
      comm::agree(matrix.comm(),
                  [&] {
                    return std::make_unique<Amg<B>>(std::move(fine.scale), fine.skipped, nodes,
                                                    std::move(cycle));
                  }),
      diagonal.notes()};
  std::string note = fmt::format("{} grids, operator complexity {:.2f}, {} unknowns on the coarsest",
                                 facts.levels, facts.operator_complexity, facts.coarsest);
  if (B > 1) note += fmt::format(", {} unknowns per node", B);
  if (facts.gathered_level >= 0) note += fmt::format(", on every rank from grid {} on", facts.gathered_level);
  built.notes.push_back(std::move(note));
  if (facts.coarsest_is_singular) built.notes.emplace_back("the coarsest grid's matrix is singular");
  if (facts.coarsest_is_smoothed)
    built.notes.emplace_back("the coarsest grid is only smoothed: no coarser one was worth having");
  return built;
}

BuiltPreconditioner make(const sparse::DistributedMatrix& matrix, const GlobalSum&,
                         const PreconditionerOptions& options) {
  InverseDiagonal diagonal = invert_diagonal(matrix, "amg");
  amg::HierarchyOptions hierarchy;
  hierarchy.gives_up = options.gives_up;
  hierarchy.symmetric = !matrix.comm().any(!looks_symmetric(matrix.interior()));
  if (const char* v = std::getenv("AMG_T")) hierarchy.threshold = std::atof(v);
  if (const char* v = std::getenv("AMG_K")) hierarchy.decay = std::atof(v);
  if (const char* v = std::getenv("AMG_D")) hierarchy.degree = std::atoi(v);
  if (const char* v = std::getenv("AMG_I")) hierarchy.interval = std::atof(v);
  switch (unknowns_per_node(matrix)) {
    case 3: return build<3>(matrix, std::move(diagonal), hierarchy);
    case 2: return build<2>(matrix, std::move(diagonal), hierarchy);
    default: return build<1>(matrix, std::move(diagonal), hierarchy);
  }
}

}  // namespace

const Preconditioner amg_preconditioner{
    "amg", "algebraic multigrid by smoothed aggregation, stored in float", true, 100, 6, make};

}  // namespace ayatori::solvers
