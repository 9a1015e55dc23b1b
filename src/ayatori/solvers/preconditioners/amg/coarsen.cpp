#include <algorithm>
#include <cmath>
#include <utility>

#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/amg/aggregate.hpp"
#include "ayatori/solvers/preconditioners/amg/grid.hpp"
#include "ayatori/solvers/preconditioners/amg/sort_rows.hpp"

namespace ayatori::solvers::amg {

namespace {

/// A filtered diagonal below this share of the unfiltered one would make the smoothing leap: weak couplings
/// are then dropped, not lumped.
constexpr double least_diagonal = 0.5;

template <int B>
double squared_norm(const double* block) {
  double sum = 0;
  for (int k = 0; k < B * B; ++k) sum += block[k] * block[k];
  return sum;
}

/// ||A_ij|| / sqrt(||A_ii|| ||A_jj||) of every entry, 0 where it is below the threshold. Diagonals being 1, the
/// norm of a diagonal block is about sqrt(B).
template <int B>
Array<float> strengths(const BlockCsr<B>& a, double threshold) {
  Array<float> strength(a.blocks());
  parallel_for(a.rows, [&](std::int64_t i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const double squared = squared_norm<B>(a.block(k)) / B;
      const bool strong = a.column[k] != i && squared > threshold * threshold;
      strength[k] = strong ? static_cast<float>(B == 1 ? std::abs(*a.block(k)) : std::sqrt(squared)) : 0.0F;
    }
  });
  return strength;
}

/// The tentative prolongator: node i belongs to one aggregate, with one value per unknown, and its columns
/// are orthonormal pieces of the near null space.
template <int B>
struct Tentative {
  std::int64_t first = 0;            ///< global number of this rank's first aggregate
  std::int32_t count = 0;            ///< this rank's aggregates
  Array<std::int64_t> aggregate;     ///< global, of all nodes of the layout; or none
  Array<double> value;               ///< of all nodes: [c * all + i]
  Array<double> coarse_near_null;    ///< [a * B + c], of own aggregates
};

template <int B>
Tentative<B> make_tentative(const Grid<B>& grid, const Aggregates& aggregates, std::int64_t first) {
  const std::int32_t own = grid.layout.own();
  const std::int32_t all = grid.layout.all();
  Tentative<B> t{first, aggregates.count, Array<std::int64_t>(all), Array<double>(std::size_t(all) * B),
                 Array<double>(std::size_t(aggregates.count) * B, 0.0)};
  for (std::int32_t i = 0; i < own; ++i) {
    const std::int32_t a = aggregates.of[i];
    if (a < 0) continue;
    for (int c = 0; c < B; ++c) {
      const double v = grid.near_null[std::int64_t{i} * B + c];
      t.coarse_near_null[std::int64_t{a} * B + c] += v * v;
    }
  }
  for (double& v : t.coarse_near_null) v = std::sqrt(v);
  parallel_for(own, [&](std::int64_t i) {
    const std::int32_t a = aggregates.of[i];
    t.aggregate[i] = a < 0 ? Aggregates::none : first + a;
    for (int c = 0; c < B; ++c) {
      const double norm = a < 0 ? 0 : t.coarse_near_null[std::int64_t{a} * B + c];
      t.value[std::int64_t{c} * all + i] = norm > 0 ? grid.near_null[i * B + c] / norm : 0;
    }
  });
  return t;
}

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

/// P = (I - omega D^-1 A_F) P_0, with A_F the matrix without weak couplings, which are lumped to the diagonal.
template <int B>
BlockCsr<B> smooth(const Grid<B>& grid, std::span<const float> strength, const Tentative<B>& t,
                   const CoarseColumns& columns, double omega) {
  const BlockCsr<B>& a = grid.matrix;
  const std::int64_t all = grid.layout.all();
  Array<std::int32_t> local(all);
  parallel_for(all, [&](std::int64_t j) {
    local[j] = t.aggregate[j] < 0 ? Aggregates::none : columns.local(t.aggregate[j]);
  });
  const auto longest = [&](std::int64_t i) { return a.row_start[i + 1] - a.row_start[i] + 1; };
  return build_rows<B>(a.rows, columns.size(), longest, [&](std::int64_t i, auto&& append) {
    if (local[i] < 0) return;
    double lumped[B] = {};
    double diagonal[B];
    double step[B];
    std::fill_n(diagonal, B, 1.0);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const double* block = a.block(k);
      if (a.column[k] == i) {
        for (int c = 0; c < B; ++c) diagonal[c] = block[c * B + c];
      } else if (!(strength[k] > 0)) {
        for (int c = 0; c < B; ++c) lumped[c] += block[c * B + c];
      }
    }
    for (int c = 0; c < B; ++c) {
      if (!(diagonal[c] + lumped[c] >= least_diagonal * diagonal[c])) lumped[c] = 0;
      const double d = diagonal[c] + lumped[c];
      step[c] = d > 0 ? omega / d : 0;
    }
    double* own = append(local[i]);
    for (int c = 0; c < B; ++c) own[c * B + c] += t.value[c * all + i] * (1 - step[c] * lumped[c]);
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) {
      const std::int32_t j = a.column[k];
      if ((j != i && !(strength[k] > 0)) || local[j] < 0) continue;
      const double* block = a.block(k);
      double* target = append(local[j]);
      for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c) target[r * B + c] -= step[r] * block[r * B + c] * t.value[c * all + j];
    }
  });
}

/// Rows of a matrix with their columns in global numbers.
template <int B>
TravellingRows pack_rows(const BlockCsr<B>& a, std::span<const std::int32_t> rows,
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

/// The prolongator's own rows, then those of the ghosts, with more columns.
template <int B>
BlockCsr<B> with_ghost_rows(const BlockCsr<B>& p, const TravellingRows& ghosts, const CoarseColumns& before,
                            const CoarseColumns& after) {
  const std::int64_t more = static_cast<std::int64_t>(ghosts.start.size()) - 1;
  BlockCsr<B> all{static_cast<std::int32_t>(p.rows + more), after.size(), {}, {}, {}};
  all.row_start.resize(all.rows + 1);
  std::ranges::copy(p.row_start, all.row_start.begin());
  for (std::int64_t g = 0; g < more; ++g) all.row_start[p.rows + g + 1] = p.blocks() + ghosts.start[g + 1];
  all.column.resize(all.row_start.back());
  all.value.resize(all.row_start.back() * B * B);
  parallel_for(p.blocks(), [&](std::int64_t k) {
    all.column[k] = p.column[k] < before.own ? p.column[k] : after.local(before.global(p.column[k]));
  });
  std::ranges::transform(ghosts.column, all.column.begin() + p.blocks(),
                         [&](std::int64_t c) { return after.local(c); });
  std::ranges::copy(p.value, all.value.begin());
  std::ranges::copy(ghosts.value, all.value.begin() + p.blocks() * B * B);
  return all;
}

/// Collective. P^T A P: this rank's rows, unscaled, and the layout of the coarse grid.
template <int B>
std::pair<Layout, BlockCsr<B>> galerkin(const Grid<B>& grid, const BlockCsr<B>& p,
                                        const CoarseColumns& columns,
                                        const sparse::RowPartition& partition) {
  constexpr int bb = B * B;
  const comm::Comm& comm = grid.layout.comm;
  const auto& plan = grid.layout.plan;
  const auto outgoing = comm::agree(comm, [&] { return pack_rows(p, plan.send_index, columns); });
  const TravellingRows ghost_rows =
      exchange_rows(comm, plan.send_to, outgoing, plan.receive_from, grid.layout.ghosts(), bb);

  CoarseColumns wider = columns;
  const BlockCsr<B> partial = comm::agree(comm, [&] {
    for (const std::int64_t c : ghost_rows.column)
      if (c < columns.first || c >= columns.first + columns.own) wider.others.push_back(c);
    sort_unique(wider.others);
    const BlockCsr<B> r = transpose(p);
    return multiply(r, multiply(grid.matrix, with_ghost_rows(p, ghost_rows, columns, wider)));
  });

  // What this rank has found of others' rows goes to their owners.
  const auto back = sparse::make_halo_plan(comm, partition, columns.others);
  const auto others = comm::agree(comm, [&] {
    std::vector<std::int32_t> rows(columns.others.size());
    std::iota(rows.begin(), rows.end(), columns.own);
    return pack_rows(partial, rows, wider);
  });
  const TravellingRows parts =
      exchange_rows(comm, back.receive_from, others, back.send_to,
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
    return std::pair(std::move(layout), std::move(a));
  });
}

/// Collective. Scales the coarse matrix to a unit diagonal, and with it the prolongator's columns and the
/// near null space.
template <int B>
void scale(Coarsening<B>& level) {
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
        if (d == 0 && coarse.near_null[i * B + c] == 0) d = 1;  // an unknown that does not exist
        values[c * all + i] = d != 0 ? 1 / std::sqrt(std::abs(d)) : 1;
        coarse.near_null[i * B + c] /= values[c * all + i];
      }
    });
    return values;
  });
  GhostExchange<double>(coarse.layout, B, all, own).fetch(factor.data());
  const auto scale_columns = [&](BlockCsr<B>& a, bool rows_too) {
    parallel_for(a.rows, [&](std::int64_t i) {
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        for (int r = 0; r < B; ++r)
          for (int c = 0; c < B; ++c)
            a.block(k)[r * B + c] *=
                factor[c * all + a.column[k]] * (rows_too ? factor[r * all + i] : 1);
    });
  };
  scale_columns(coarse.matrix, true);
  scale_columns(level.prolongator, false);
}

}  // namespace

template <int B>
std::optional<Coarsening<B>> coarsen(const Grid<B>& grid, const CoarsenOptions& options) {
  const comm::Comm& comm = grid.layout.comm;
  const std::int32_t all = grid.layout.all();
  Array<float> strength;
  const Aggregates aggregates = comm::agree(comm, [&] {
    strength = strengths(grid.matrix, options.threshold);
    return aggregate({grid.matrix.rows, grid.matrix.row_start, grid.matrix.column, strength});
  });
  const auto partition = partition_by_sizes(comm, aggregates.count);
  const auto nodes = static_cast<double>(grid.layout.partition.rows());
  if (partition.rows() == 0 || static_cast<double>(partition.rows()) > options.most_nodes * nodes)
    return std::nullopt;

  auto t = comm::agree(comm, [&] {
    return make_tentative(grid, aggregates, partition.range(comm.rank()).begin);
  });
  GhostExchange<std::int64_t>(grid.layout, 1, all, grid.layout.own()).fetch(t.aggregate.data());
  GhostExchange<double>(grid.layout, B, all, grid.layout.own()).fetch(t.value.data());
  CoarseColumns columns{t.first, t.count, {}};
  BlockCsr<B> prolongator = comm::agree(comm, [&] {
    for (std::int32_t g = grid.layout.own(); g < all; ++g)
      if (t.aggregate[g] >= 0) columns.others.push_back(t.aggregate[g]);
    sort_unique(columns.others);
    return smooth(grid, strength, t, columns, 4.0 / 3 / options.largest);
  });
  auto [layout, matrix] = galerkin(grid, prolongator, columns, partition);
  Coarsening<B> result{std::move(prolongator),
                       {std::move(layout), std::move(matrix), std::move(t.coarse_near_null)}};
  comm::agree(comm, [&] {
    const CoarseColumns final{columns.first, columns.own, result.coarse.layout.plan.ghosts};
    BlockCsr<B>& p = result.prolongator;
    p.columns = final.size();
    parallel_for(p.blocks(), [&](std::int64_t k) {
      if (p.column[k] >= columns.own) p.column[k] = final.local(columns.global(p.column[k]));
    });
  });
  scale(result);
  return result;
}

template <int B>
Grid<B> gather(const Grid<B>& grid) {
  const comm::Comm& comm = grid.layout.comm;
  constexpr int bb = B * B;
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
  const auto nodes = grid.layout.partition.rows();
  Grid<B> result{make_layout(comm::Comm::self(), sparse::RowPartition(std::vector<std::int64_t>{0, nodes}), {}), {}, {}};
  return comm::agree(comm, [&] {
    BlockCsr<B>& whole = result.matrix;
    whole.rows = whole.columns = static_cast<std::int32_t>(nodes);
    whole.row_start.assign(nodes + 1, 0);
    std::partial_sum(all_lengths.values.begin(), all_lengths.values.end(), whole.row_start.begin() + 1);
    whole.column.assign(all_columns.values.begin(), all_columns.values.end());
    whole.value.assign(all_values.values.begin(), all_values.values.end());
    static_assert(bb == B * B);
    sort_rows(whole);
    result.near_null.assign(near_null.values.begin(), near_null.values.end());
    return std::move(result);
  });
}

template std::optional<Coarsening<1>> coarsen(const Grid<1>&, const CoarsenOptions&);
template std::optional<Coarsening<2>> coarsen(const Grid<2>&, const CoarsenOptions&);
template std::optional<Coarsening<3>> coarsen(const Grid<3>&, const CoarsenOptions&);
template Grid<1> gather(const Grid<1>&);
template Grid<2> gather(const Grid<2>&);
template Grid<3> gather(const Grid<3>&);

}  // namespace ayatori::solvers::amg
