#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/multigrid/couplings.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"
#include "ayatori/solvers/preconditioners/multigrid/sort_rows.hpp"
#include "ayatori/solvers/preconditioners/multigrid/tentative.hpp"

namespace ayatori::solvers::amg {

namespace {

/// A filtered diagonal below this share of the unfiltered one would make the smoothing leap: weak couplings
/// are then dropped, not lumped.
constexpr double least_diagonal = 0.5;

/// The columns that a rank's rows refer to: its own aggregates, then others' (global, ascending).
struct CoarseColumns {
  std::int64_t first = 0;
  std::int32_t own = 0;
  std::vector<std::int64_t> others;

  std::int32_t size() const { return own + static_cast<std::int32_t>(others.size()); }
  std::int64_t global(std::int32_t c) const { return c < own ? first + c : others[c - own]; }
  std::int32_t local(std::int64_t global) const {
    if (first <= global && global < first + own) return static_cast<std::int32_t>(global - first);
    const auto place = std::ranges::lower_bound(others, global);
    return own + static_cast<std::int32_t>(place - others.begin());
  }
};

void sort_unique(std::vector<std::int64_t>& list) {
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
}

/// Row i of a step of Jacobi, I - omega D^-1 A_F, with A_F the matrix without weak couplings, which are
/// lumped to the diagonal D: the identity times keep[c], less step[c] times the strong blocks and that of the
/// node itself, whose diagonal is the unlumped one.
template <int B>
struct JacobiRow {
  double keep[B];
  double step[B];

  JacobiRow(const BlockCsr<B>& a, std::span<const std::uint8_t> strength, std::int64_t i, double omega) {
    double lumped[B] = {};
    double diagonal[B];
    std::fill_n(diagonal, B, 1.0);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const double* block = a.block(k);
      if (a.column[k] == i) {
        for (int c = 0; c < B; ++c) diagonal[c] = block[c * B + c];
      } else if (strength[k] == 0) {
        for (int c = 0; c < B; ++c) lumped[c] += block[c * B + c];
      }
    }
    for (int c = 0; c < B; ++c) {
      if (!(diagonal[c] + lumped[c] >= least_diagonal * diagonal[c])) lumped[c] = 0;
      const double d = diagonal[c] + lumped[c];
      step[c] = d > 0 ? omega / d : 0;
      keep[c] = 1 - step[c] * lumped[c];
    }
  }
};

/// P = (I - omega D^-1 A_F) P_0; see JacobiRow.
template <int B, class T>
BlockCsr<B, T> smooth(const Grid<B>& grid, std::span<const std::uint8_t> strength, const Tentative<B>& t,
                      const CoarseColumns& columns, double omega) {
  const BlockCsr<B>& a = grid.matrix;
  const std::int64_t all = grid.layout.all();
  Array<std::int32_t> local(all);
  parallel_for(all, [&](std::int64_t j) {
    local[j] = t.aggregate[j] < 0 ? Aggregates::none : columns.local(t.aggregate[j]);
  });
  const auto longest = [&](std::int64_t i) { return (a.row_start[i + 1] - a.row_start[i] + 1) * t.pieces; };
  const int vectors = B * t.pieces;
  return build_rows<B, T>(a.rows, columns.size(), longest, [&](std::int64_t i, auto&& append) {
    if (local[i] < 0) return;
    const JacobiRow<B> jacobi(a, strength, i, omega);
    if (t.pieces > 1) {
      for (int p = 0; p < t.pieces; ++p) {
        T* own = append(local[i] + p);
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c)
            own[r * B + c] += static_cast<T>(t.value[(r * vectors + p * B + c) * all + i] * jacobi.keep[r]);
      }
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
        const std::int32_t j = a.column[k];
        if ((j != i && strength[k] == 0) || local[j] < 0) continue;
        const double* block = a.block(k);
        for (int p = 0; p < t.pieces; ++p) {
          T* target = append(local[j] + p);
          for (int r = 0; r < B; ++r)
            for (int c = 0; c < B; ++c) {
              double sum = 0;
              for (int q = 0; q < B; ++q)
                sum += block[r * B + q] * t.value[(q * vectors + p * B + c) * all + j];
              target[r * B + c] -= static_cast<T>(jacobi.step[r] * sum);
            }
        }
      }
      return;
    }
    T* own = append(local[i]);
    for (int c = 0; c < B; ++c) own[c * B + c] += static_cast<T>(t.value[c * all + i] * jacobi.keep[c]);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const std::int32_t j = a.column[k];
      if ((j != i && strength[k] == 0) || local[j] < 0) continue;
      const double* block = a.block(k);
      T* target = append(local[j]);
      for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c)
          target[r * B + c] -= static_cast<T>(jacobi.step[r] * block[r * B + c] * t.value[c * all + j]);
    }
  });
}

/// Rows of a matrix with their columns in global numbers.
template <int B, class V>
TravellingRows pack_rows(const BlockCsr<B, V>& a, std::span<const std::int32_t> rows,
                         const CoarseColumns& columns) {
  constexpr int bb = B * B;
  TravellingRows out;
  out.start.push_back(0);
  for (const std::int32_t i : rows) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      out.column.push_back(columns.global(a.column[k]));
      out.value.insert(out.value.end(), a.block(k), a.block(k) + bb);
    }
    out.start.push_back(static_cast<std::int64_t>(out.column.size()));
  }
  return out;
}

/// Collective. Puts the rows of the ghosts behind a prolongator's own and gives its columns, which are then
/// more. Of what it got room for, nothing moves.
template <int B, class T>
CoarseColumns append_ghost_rows(const Grid<B>& grid, BlockCsr<B, T>& p, const CoarseColumns& before) {
  const comm::Comm& comm = grid.layout.comm;
  const auto& plan = grid.layout.plan;
  const auto outgoing = comm::agree(comm, [&] { return pack_rows(p, plan.send_index, before); });
  const TravellingRows ghosts =
      exchange_rows(comm, plan.send_to, outgoing, plan.receive_from, grid.layout.ghosts(), B * B);
  return comm::agree(comm, [&] {
    CoarseColumns after = before;
    for (const std::int64_t c : ghosts.column)
      if (c < before.first || c >= before.first + before.own) after.others.push_back(c);
    sort_unique(after.others);
    if (after.others.size() > before.others.size()) {
      parallel_for(p.blocks(), [&](std::int64_t k) {
        if (p.column[k] >= before.own) p.column[k] = after.local(before.global(p.column[k]));
      });
    }
    const std::int64_t own_blocks = p.blocks();
    p.columns = after.size();
    p.rows += static_cast<std::int32_t>(ghosts.start.size() - 1);
    for (std::size_t g = 1; g < ghosts.start.size(); ++g) p.row_start.push_back(own_blocks + ghosts.start[g]);
    p.column.resize(p.row_start.back());
    p.value.resize(p.row_start.back() * B * B);
    std::ranges::transform(ghosts.column, p.column.begin() + own_blocks,
                           [&](std::int64_t c) { return after.local(c); });
    std::ranges::transform(ghosts.value, p.value.begin() + own_blocks * B * B,
                           [](double v) { return static_cast<T>(v); });
    return after;
  });
}

template <int B, class T>
void remove_ghost_rows(BlockCsr<B, T>& p, std::int32_t own) {
  p.rows = own;
  p.row_start.resize(own + 1);
  p.column.resize(p.row_start.back());
  p.value.resize(p.row_start.back() * B * B);
}

/// Forgets the columns that no row has.
template <int B, class T>
void drop_unused_columns(BlockCsr<B, T>& p, CoarseColumns& columns) {
  std::vector<std::int32_t> renumbered(columns.others.size(), Aggregates::none);
  for (const std::int32_t c : p.column)
    if (c >= columns.own) renumbered[c - columns.own] = 0;
  std::vector<std::int64_t> used;
  for (std::size_t g = 0; g < renumbered.size(); ++g) {
    if (renumbered[g] < 0) continue;
    renumbered[g] = columns.own + static_cast<std::int32_t>(used.size());
    used.push_back(columns.others[g]);
  }
  for (std::int32_t& c : p.column)
    if (c >= columns.own) c = renumbered[c - columns.own];
  columns.others = std::move(used);
  p.columns = columns.size();
}

/// Collective. P = (I - omega D^-1 A_F) P; see JacobiRow. Its columns become more.
template <int B, class T>
BlockCsr<B, T> smooth_again(const Grid<B>& grid, std::span<const std::uint8_t> strength, BlockCsr<B, T> p,
                            CoarseColumns& columns, double omega) {
  columns = append_ghost_rows(grid, p, columns);
  return comm::agree(grid.layout.comm, [&] {
    const BlockCsr<B>& a = grid.matrix;
    const auto is_used = [&](std::int64_t i, std::int64_t k) { return a.column[k] == i || strength[k] > 0; };
    const auto length = [&](std::int64_t j) { return p.row_start[j + 1] - p.row_start[j]; };
    const auto longest = [&](std::int64_t i) {
      std::int64_t sum = length(i);
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        if (is_used(i, k)) sum += length(a.column[k]);
      return sum;
    };
    auto smoothed = build_rows<B, T>(a.rows, p.columns, longest, [&](std::int64_t i, auto&& append) {
      const JacobiRow<B> jacobi(a, strength, i, omega);
      for (std::int64_t l = p.row_start[i]; l < p.row_start[i + 1]; ++l) {
        T* own = append(p.column[l]);
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c)
            own[r * B + c] += static_cast<T>(jacobi.keep[r] * static_cast<double>(p.block(l)[r * B + c]));
      }
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
        if (!is_used(i, k)) continue;
        double factor[B * B];
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c) factor[r * B + c] = -jacobi.step[r] * a.block(k)[r * B + c];
        for (std::int64_t l = p.row_start[a.column[k]]; l < p.row_start[a.column[k] + 1]; ++l)
          add_product<B>(factor, p.block(l), append(p.column[l]));
      }
    });
    drop_unused_columns(smoothed, columns);
    return smoothed;
  });
}

/// Collective. Whether a prolongator is smoothed twice: where many couplings are positive, as those of
/// anisotropic diffusion along no axis, one step that leaves them out falls short; and where strong ones are
/// few, two cost little. From a sample of the rows.
template <int B>
bool deserves_second_step(const Grid<B>& grid, std::span<const std::uint8_t> strength) {
  constexpr std::int64_t sample = 1000;
  constexpr double many_positive = 0.07;  // as a share of the sum of all couplings' absolute values
  constexpr double few_strong = 7;        // a row
  if (B > 1) return false;
  const BlockCsr<B>& a = grid.matrix;
  double rows = 0;
  double strong = 0;
  double positive = 0;
  double total = 0;
  for (std::int64_t i = 0; i < a.rows; i += std::max<std::int64_t>(a.rows / sample, 1)) {
    ++rows;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      if (a.column[k] == i) continue;
      const double value = *a.block(k);
      total += std::abs(value);
      positive += std::max(value, 0.0);
      if (strength[k] > 0) ++strong;
    }
  }
  std::array<double, 4> sums{rows, strong, positive, total};
  grid.layout.comm.allreduce(std::span<double>(sums), comm::ReduceOp::sum);
  return sums[1] <= few_strong * sums[0] && sums[2] > many_positive * sums[3];
}

/// Collective. P^T A P, unscaled, and the layout of the coarse grid, without its near null space.
template <int B, class T>
Coarsening<B, T> galerkin(const Grid<B>& grid, BlockCsr<B, T> p, const CoarseColumns& columns,
                          const sparse::RowPartition& partition) {
  constexpr int bb = B * B;
  const comm::Comm& comm = grid.layout.comm;
  BlockCsr<B, T> r = comm::agree(comm, [&] { return transpose(p); });
  const CoarseColumns wider = append_ghost_rows(grid, p, columns);
  const BlockCsr<B> partial = comm::agree(comm, [&] {
    BlockCsr<B> product = triple_product(r, grid.matrix, p);
    remove_ghost_rows(p, grid.layout.own());
    return product;
  });

  // What this rank has found of others' rows goes to their owners.
  const auto back = sparse::make_halo_plan(comm, partition, columns.others);
  const auto others = comm::agree(comm, [&] {
    std::vector<std::int32_t> rows(columns.others.size());
    std::iota(rows.begin(), rows.end(), columns.own);
    return pack_rows(partial, rows, wider);
  });
  const TravellingRows parts = exchange_rows(comm, back.receive_from, others, back.send_to,
                                             static_cast<std::int64_t>(back.send_index.size()), bb);

  auto ghosts = comm::agree(comm, [&] {
    std::vector<std::int64_t> list = columns.others;
    for (std::int64_t k = 0; k < partial.row_start[columns.own]; ++k)
      if (partial.column[k] >= columns.own) list.push_back(wider.global(partial.column[k]));
    for (const std::int64_t c : parts.column)
      if (c < columns.first || c >= columns.first + columns.own) list.push_back(c);
    sort_unique(list);
    return list;
  });
  const CoarseColumns all{columns.first, columns.own, ghosts};
  Layout layout = make_layout(comm, partition, std::move(ghosts));
  return comm::agree(comm, [&] {
    std::vector<std::vector<std::int32_t>> parts_of(columns.own);
    for (std::size_t k = 0; k < back.send_index.size(); ++k)
      parts_of[back.send_index[k]].push_back(static_cast<std::int32_t>(k));
    Array<std::int32_t> renumbered(wider.size());
    for (std::int32_t c = 0; c < wider.size(); ++c) renumbered[c] = all.local(wider.global(c));
    const auto longest = [&](std::int64_t i) {
      std::int64_t sum = partial.row_start[i + 1] - partial.row_start[i] + 1;
      for (const std::int32_t k : parts_of[i]) sum += parts.start[k + 1] - parts.start[k];
      return sum;
    };
    auto a = build_rows<B>(columns.own, all.size(), longest, [&](std::int64_t i, auto&& append) {
      const auto add = [&](double* to, const double* from) {
        for (int v = 0; v < bb; ++v) to[v] += from[v];
      };
      append(static_cast<std::int32_t>(i));
      for (std::int64_t k = partial.row_start[i]; k < partial.row_start[i + 1]; ++k)
        add(append(renumbered[partial.column[k]]), partial.block(k));
      for (const std::int32_t part : parts_of[i])
        for (std::int64_t k = parts.start[part]; k < parts.start[part + 1]; ++k)
          add(append(all.local(parts.column[k])), &parts.value[k * bb]);
    });
    sort_rows(a);
    p.columns = all.size();
    parallel_for(p.blocks(), [&](std::int64_t k) { p.column[k] = renumbered[p.column[k]]; });
    Array<std::int32_t> nodes(r.rows);
    for (std::int32_t c = 0; c < r.rows; ++c) nodes[c] = all.local(columns.global(c));
    return Coarsening<B, T>{
        std::move(p), std::move(r), std::move(nodes), {std::move(layout), std::move(a), {}, {}}};
  });
}

/// Collective. Scales the coarse matrix to a unit diagonal, and with it the ways to it and its near null
/// space.
template <int B, class T>
void scale(Coarsening<B, T>& level) {
  Grid<B>& coarse = level.coarse;
  const std::int64_t own = coarse.layout.own();
  const std::int64_t all = coarse.layout.all();
  Array<double> factor = comm::agree(coarse.layout.comm, [&] {
    Array<double> values(all * B);
    parallel_for(own, [&](std::int64_t i) {
      BlockCsr<B>& a = coarse.matrix;
      const auto begin = a.column.begin() + a.row_start[i];
      const auto place = std::lower_bound(begin, a.column.begin() + a.row_start[i + 1], i);
      double* diagonal = a.block(place - a.column.begin());
      for (int c = 0; c < B; ++c) {
        double& d = diagonal[c * B + c];
        const bool exists = coarse.pieces > 1 ? coarse.has_modes(i, c) : coarse.near_null[i * B + c] != 0;
        if (d == 0 && !exists) d = 1;
        values[c * all + i] = d != 0 ? 1 / std::sqrt(std::abs(d)) : 1;
        if (coarse.pieces > 1) {
          for (int k = 0; k < B * coarse.pieces; ++k) coarse.mode(i, c, k) /= values[c * all + i];
        } else {
          coarse.near_null[i * B + c] /= values[c * all + i];
        }
      }
    });
    return values;
  });
  GhostExchange<double>(coarse.layout, B, all, own).fetch(factor.data());
  const auto scale_entries = [&](auto& a, auto&& factor_of) {
    parallel_for(a.rows, [&](std::int64_t i) {
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c) a.block(k)[r * B + c] *= factor_of(i, r, a.column[k], c);
    });
  };
  scale_entries(coarse.matrix, [&](std::int64_t i, int r, std::int64_t j, int c) {
    return factor[r * all + i] * factor[c * all + j];
  });
  scale_entries(level.prolongator, [&](std::int64_t, int, std::int64_t j, int c) {
    return static_cast<T>(factor[c * all + j]);
  });
  scale_entries(level.restrictor, [&](std::int64_t i, int r, std::int64_t, int) {
    return static_cast<T>(factor[r * all + level.restrictor_node[i]]);
  });
}

}  // namespace

template <int B, class T>
std::optional<Coarsening<B, T>> coarsen(const Grid<B>& grid, const CoarsenOptions& options) {
  const comm::Comm& comm = grid.layout.comm;
  const std::int32_t all = grid.layout.all();
  const Couplings couplings =
      find_couplings(grid, options.threshold, options.finest ? Coupling::negative : Coupling::any);
  const Aggregates aggregates = comm::agree(comm, [&] { return aggregate(grid, couplings); });
  const auto partition = partition_by_sizes(comm, std::int64_t{aggregates.count} * grid.pieces);
  const double share = static_cast<double>(partition.rows()) / grid.pieces * grid.group /
                       static_cast<double>(grid.layout.partition.rows());
  if (partition.rows() == 0 || share > options.most_nodes) return std::nullopt;

  auto t =
      comm::agree(comm, [&] { return make_tentative(grid, aggregates, partition.range(comm.rank()).begin); });
  GhostExchange<std::int64_t>(grid.layout, 1, all, grid.layout.own()).fetch(t.aggregate.data());
  GhostExchange<double>(grid.layout, t.values(), all, grid.layout.own()).fetch(t.value.data());
  CoarseColumns columns{t.first, t.count, {}};
  // Times 1 / lambda: the inverse roots of the polynomials of degree 1 and 2 that are smallest on (0, lambda]
  // in the norm of A, lambda/2 (1 - cos(2 pi k / (2 degree + 1))) (Brezina, Vanek & Vassilevski 2012).
  const std::vector<double> steps =
      deserves_second_step(grid, couplings.of_blocks) ? std::vector{1.1056, 2.8944} : std::vector{4.0 / 3};
  auto prolongator = comm::agree(comm, [&] {
    for (std::int32_t g = grid.layout.own(); g < all; ++g)
      if (t.aggregate[g] >= 0)
        for (int p = 0; p < t.pieces; ++p) columns.others.push_back(t.aggregate[g] + p);
    sort_unique(columns.others);
    return smooth<B, T>(grid, couplings.of_blocks, t, columns, steps.front() / options.largest);
  });
  if (steps.size() > 1)
    prolongator =
        smooth_again(grid, couplings.of_blocks, std::move(prolongator), columns, steps[1] / options.largest);
  auto result = galerkin(grid, std::move(prolongator), columns, partition);
  Grid<B>& coarse = result.coarse;
  coarse.near_null = std::move(t.coarse_near_null);
  coarse.modes = std::move(t.coarse_modes);
  coarse.pieces = coarse.group = grid.pieces;
  scale(result);
  return result;
}

template <int B>
Grid<B> gather(const Grid<B>& grid) {
  const comm::Comm& comm = grid.layout.comm;
  const BlockCsr<B>& a = grid.matrix;
  Array<std::int64_t> lengths;
  Array<std::int64_t> columns;
  comm::agree(comm, [&] {
    lengths.resize(a.rows);
    columns.resize(a.blocks());
    for (std::int64_t i = 0; i < a.rows; ++i) lengths[i] = a.row_start[i + 1] - a.row_start[i];
    for (std::int64_t k = 0; k < a.blocks(); ++k) columns[k] = grid.layout.global(a.column[k]);
  });
  const auto all_lengths = comm.allgatherv(std::span<const std::int64_t>(lengths));
  const auto all_columns = comm.allgatherv(std::span<const std::int64_t>(columns));
  const auto all_values = comm.allgatherv(std::span<const double>(a.value));
  const auto near_null = comm.allgatherv(std::span<const double>(grid.near_null));
  const auto modes = comm.allgatherv(std::span<const double>(grid.modes));
  const auto nodes = grid.layout.partition.rows();
  Grid<B> result{
      make_layout(comm::Comm::self(), sparse::RowPartition(std::vector<std::int64_t>{0, nodes}), {}),
      {},
      {},
      {}};
  return comm::agree(comm, [&] {
    BlockCsr<B>& whole = result.matrix;
    whole.rows = whole.columns = static_cast<std::int32_t>(nodes);
    whole.row_start.assign(nodes + 1, 0);
    std::partial_sum(all_lengths.values.begin(), all_lengths.values.end(), whole.row_start.begin() + 1);
    whole.column.resize(all_columns.values.size());
    std::ranges::transform(all_columns.values, whole.column.begin(),
                           [](std::int64_t column) { return static_cast<std::int32_t>(column); });
    whole.value.assign(all_values.values.begin(), all_values.values.end());
    sort_rows(whole);
    result.near_null.assign(near_null.values.begin(), near_null.values.end());
    result.modes.assign(modes.values.begin(), modes.values.end());
    result.pieces = grid.pieces;
    result.group = grid.group;
    return std::move(result);
  });
}

template std::optional<Coarsening<1, float>> coarsen(const Grid<1>&, const CoarsenOptions&);
template std::optional<Coarsening<2, float>> coarsen(const Grid<2>&, const CoarsenOptions&);
template std::optional<Coarsening<3, float>> coarsen(const Grid<3>&, const CoarsenOptions&);
template Grid<1> gather(const Grid<1>&);
template Grid<2> gather(const Grid<2>&);
template Grid<3> gather(const Grid<3>&);

}  // namespace ayatori::solvers::amg
