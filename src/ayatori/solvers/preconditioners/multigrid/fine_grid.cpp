#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/base/error.hpp"

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"
#include "ayatori/solvers/preconditioners/multigrid/sort_rows.hpp"

namespace ayatori::solvers::amg {

namespace {

/// Which nodes the rows of ranks are.
class Numbering {
 public:
  Numbering(const sparse::RowPartition& rows, int unknowns) : rows_(rows), unknowns_(unknowns) {
    starts_.push_back(0);
    for (int r = 0; r < rows.ranks(); ++r) starts_.push_back(starts_.back() + nodes_of(rows.range(r)));
  }

  sparse::RowPartition partition() const { return sparse::RowPartition(starts_); }
  std::int64_t node(std::int64_t row, int owner) const {
    return starts_[owner] + row / unknowns_ - rows_.range(owner).begin / unknowns_;
  }

 private:
  std::int64_t nodes_of(Range rows) const {
    return rows.empty() ? 0 : (rows.end + unknowns_ - 1) / unknowns_ - rows.begin / unknowns_;
  }

  const sparse::RowPartition& rows_;
  int unknowns_;
  std::vector<std::int64_t> starts_;
};

/// The node of each ghost of a plan, global and ascending, with repetitions.
std::vector<std::int64_t> ghost_nodes(const sparse::HaloPlan& plan, const Numbering& numbering) {
  std::vector<std::int64_t> nodes;
  for (const auto& from : plan.receive_from) {
    for (std::int64_t g = from.begin; g < from.end; ++g)
      nodes.push_back(numbering.node(plan.ghosts[g], from.rank));
  }
  return nodes;
}

/// Row by row: the scaled entries of a rank's part, put into blocks.
template <int B>
class Filler {
 public:
  Filler(const sparse::SplitMatrix& parts, const Array<double>& scale, int skipped,
         std::span<const std::int32_t> node_of_ghost)
      : parts_(parts), scale_(scale), skipped_(skipped), node_of_ghost_(node_of_ghost) {
    halo_row_.assign(parts.interior.rows, -1);
    for (std::int32_t r = 0; r < parts.halo.rows; ++r) halo_row_[parts.halo_rows[r]] = r;
  }

  /// Local rows of a node.
  Range rows(std::int64_t node) const {
    return {std::max<std::int64_t>(node * B - skipped_, 0),
            std::min<std::int64_t>((node + 1) * B - skipped_, parts_.interior.rows)};
  }

  std::int64_t longest(std::int64_t node) const {
    std::int64_t sum = 1;
    const Range mine = rows(node);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      sum += length(parts_.interior, i);
      if (halo_row_[i] >= 0) sum += length(parts_.halo, halo_row_[i]);
    }
    return sum;
  }

  template <class Append>
  void fill(std::int64_t node, Append&& append) const {
    const auto first_ghost_row = static_cast<std::int64_t>(parts_.interior.rows);
    const Range mine = rows(node);
    bool has_diagonal = false;
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      const std::int64_t own = i + skipped_ - node * B;
      const sparse::Csr& interior = parts_.interior;
      for (std::int64_t k = interior.row_start[i]; k < interior.row_start[i + 1]; ++k) {
        const std::int64_t j = interior.column[k];
        const std::int64_t padded = j + skipped_;
        has_diagonal = has_diagonal || padded / B == node;
        append(static_cast<std::int32_t>(padded / B))[own * B + padded % B] =
            scale_[i] * interior.value[k] * scale_[j];
      }
      if (halo_row_[i] < 0) continue;
      const sparse::Csr& halo = parts_.halo;
      for (std::int64_t k = halo.row_start[halo_row_[i]]; k < halo.row_start[halo_row_[i] + 1]; ++k) {
        const std::int64_t g = halo.column[k];
        append(node_of_ghost_[g])[own * B + parts_.plan.ghosts[g] % B] =
            scale_[i] * halo.value[k] * scale_[first_ghost_row + g];
      }
    }
    const bool whole = mine.size() == B;
    if (has_diagonal && whole) return;
    double* diagonal = append(static_cast<std::int32_t>(node));
    for (int c = 0; c < B; ++c)
      if (!mine.contains(node * B - skipped_ + c)) diagonal[c * B + c] = 1;
  }

 private:
  static std::int64_t length(const sparse::Csr& csr, std::int64_t row) {
    return csr.row_start[row + 1] - csr.row_start[row];
  }

  const sparse::SplitMatrix& parts_;
  const Array<double>& scale_;  ///< scales of own rows, then of ghosts
  int skipped_;
  std::span<const std::int32_t> node_of_ghost_;
  Array<std::int32_t> halo_row_;
};

/// The displacement along axis c at a point by B translations and B rotations, each times `factor`: in space
/// about the axes, in the plane about its normal (and a motion that does not exist).
template <int B>
void add_rigid_motions(const double* point, int c, double factor, double* motion) {
  motion[c] = factor;
  if (B == 2) {
    motion[2] = factor * (c == 0 ? -point[1] : point[0]);
  } else if (B == 3) {
    const int before = (c + 1) % 3;  // rotation about axis a: e_a x point
    const int after = (c + 2) % 3;
    motion[3 + before] = factor * point[after];
    motion[3 + after] = -factor * point[before];
  }
}

}  // namespace

std::int64_t near_null_vectors(const comm::Comm& comm, std::int64_t rows,
                               std::span<const double> near_null_space) {
  const auto values = static_cast<std::int64_t>(near_null_space.size());
  const auto vectors = comm.allreduce(rows > 0 ? values / rows : 0, comm::ReduceOp::max);
  comm::agree(comm, [&] {
    if (values != vectors * rows)
      throw InputError(fmt::format("amg: a near null space of {} values for {} rows", values, rows));
  });
  return vectors;
}

template <int B>
FineGrid<B> make_fine_grid(const sparse::DistributedMatrix& matrix, const Array<double>& inverse_diagonal,
                           std::span<const double> coordinates, std::span<const double> near_null_space) {
  const comm::Comm& comm = matrix.comm();
  const sparse::SplitMatrix& parts = matrix.parts();
  const bool has_coordinates = B > 1 && comm.any(!coordinates.empty());
  const Numbering numbering(parts.partition, B);
  const std::int64_t rows = parts.interior.rows;
  const auto vectors = static_cast<int>(near_null_vectors(comm, rows, near_null_space));
  const auto ghosts = static_cast<std::int64_t>(parts.plan.ghosts.size());

  // Scales of own rows and of ghosts.
  Layout unknowns{comm, parts.partition, parts.plan};
  Array<double> scale = comm::agree(comm, [&] {
    Array<double> values(rows + ghosts);
    parallel_for(rows, [&](std::int64_t i) { values[i] = std::sqrt(std::abs(inverse_diagonal[i])); });
    return values;
  });
  GhostExchange<double>(unknowns, 1, rows + ghosts, rows).fetch(scale.data());

  std::vector<std::int32_t> node_of_ghost;
  auto nodes = comm::agree(comm, [&] {
    auto all = ghost_nodes(parts.plan, numbering);
    node_of_ghost.resize(all.size());
    auto unique = all;
    unique.erase(std::ranges::unique(unique).begin(), unique.end());
    const std::int64_t own = numbering.partition().range(comm.rank()).size();
    for (std::size_t g = 0; g < all.size(); ++g)
      node_of_ghost[g] =
          static_cast<std::int32_t>(own + (std::ranges::lower_bound(unique, all[g]) - unique.begin()));
    return unique;
  });
  Layout layout = make_layout(comm, numbering.partition(), std::move(nodes));

  return comm::agree(comm, [&] {
    const auto skipped = static_cast<int>(parts.partition.range(comm.rank()).begin % B);
    const Filler<B> filler(parts, scale, skipped, node_of_ghost);
    FineGrid<B> fine{{std::move(layout), {}, {}, {}}, {}, skipped};
    const std::int32_t own = fine.grid.layout.own();
    fine.grid.matrix = build_rows<B, double, (B > 1)>(
        own, fine.grid.layout.all(), [&](std::int64_t i) { return filler.longest(i); },
        [&](std::int64_t i, auto&& append) { filler.fill(i, append); });
    sort_rows(fine.grid.matrix);
    if (vectors > 1) {
      fine.grid.pieces = vectors / B;
      fine.grid.modes.assign(std::size_t(own) * B * vectors, 0.0);
      parallel_for(rows, [&](std::int64_t row) {
        const std::int64_t padded = row + skipped;
        double* modes = &fine.grid.mode(padded / B, static_cast<int>(padded % B), 0);
        for (int k = 0; k < vectors; ++k) modes[k] = near_null_space[row * vectors + k] / scale[row];
      });
    } else if (has_coordinates) {
      fine.grid.pieces = 2;
      fine.grid.modes.assign(std::size_t(own) * B * 2 * B, 0.0);
      parallel_for(rows, [&](std::int64_t row) {
        const std::int64_t padded = row + skipped;
        add_rigid_motions<B>(&coordinates[3 * row], static_cast<int>(padded % B), 1 / scale[row],
                             &fine.grid.mode(padded / B, static_cast<int>(padded % B), 0));
      });
    } else {
      fine.grid.near_null.resize(std::size_t(own) * B);
      parallel_for(own, [&](std::int64_t i) {
        for (int c = 0; c < B; ++c) {
          const std::int64_t row = i * B + c - skipped;
          const bool exists = 0 <= row && row < rows;
          fine.grid.near_null[i * B + c] =
              exists ? (vectors == 1 ? near_null_space[row] : 1.0) / scale[row] : 0;
        }
      });
    }
    scale.resize(rows);
    fine.scale = std::move(scale);
    return fine;
  });
}

template FineGrid<1> make_fine_grid<1>(const sparse::DistributedMatrix&, const Array<double>&,
                                       std::span<const double>, std::span<const double>);
template FineGrid<2> make_fine_grid<2>(const sparse::DistributedMatrix&, const Array<double>&,
                                       std::span<const double>, std::span<const double>);
template FineGrid<3> make_fine_grid<3>(const sparse::DistributedMatrix&, const Array<double>&,
                                       std::span<const double>, std::span<const double>);

}  // namespace ayatori::solvers::amg
