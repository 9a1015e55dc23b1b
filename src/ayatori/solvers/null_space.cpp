#include "ayatori/solvers/null_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/pattern/components.hpp"
#include "ayatori/sparse/pattern/union_find.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

namespace ayatori::solvers {

namespace {

using sparse::Csr;
using sparse::SplitMatrix;
using sparse::UnionFind;

/// Share of the sum of absolute values: more than rounding leaves of any sum of entries.
constexpr double clearly = 1e-6;

/// A rank's rows: interior entries, then those in columns of ghosts.
class Rows {
 public:
  explicit Rows(const SplitMatrix& parts) : parts_(parts) {}

  /// Whether the sum of a row does not vanish.
  bool has_sum(std::int64_t i) const {
    double sum = 0;
    double sum_abs = 0;
    const auto add = [&](std::int32_t, double value) {
      sum += value;
      sum_abs += std::abs(value);
    };
    for_each_interior(i, add);
    for_each_halo(i, add);
    return !vanishes(sum, sum_abs);
  }

  template <class F>
  void for_each_interior(std::int64_t i, F&& f) const {
    for_each(parts_.interior, i, f);
  }
  template <class F>
  void for_each_halo(std::int64_t i, F&& f) const {
    const auto place = std::ranges::lower_bound(parts_.halo_rows, i);
    if (place != parts_.halo_rows.end() && *place == i)
      for_each(parts_.halo, place - parts_.halo_rows.begin(), f);
  }

 private:
  template <class F>
  static void for_each(const Csr& csr, std::int64_t row, F&& f) {
    for (std::int64_t k = csr.row_start[row]; k < csr.row_start[row + 1]; ++k)
      if (csr.value[k] != 0) f(csr.column[k], csr.value[k]);
  }

  const SplitMatrix& parts_;
};

/// Whether each row of this rank is seen to be connected with one that is anchored(i), by a sweep forwards
/// and one backwards: then no component is without such a row. anchored() is asked only of rows that have no
/// connection yet, a few in most matrices.
template <class Anchored>
bool all_are_anchored(const SplitMatrix& parts, Anchored&& anchored) {
  const Csr& a = parts.interior;
  FirstException exception;
  const double open = parallel_sum(a.rows, [&](Range range) {
    std::int64_t left = 0;
    exception.guard([&] {
      std::vector<std::uint8_t> connected(range.size(), 0);
      const auto is_beside = [&](std::int64_t i) {
        for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
          if (range.contains(a.column[k]) && connected[a.column[k] - range.begin] != 0 && a.value[k] != 0)
            return true;
        return false;
      };
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        connected[i - range.begin] = is_beside(i) || anchored(i) ? 1 : 0;
        left += 1 - connected[i - range.begin];
      }
      for (std::int64_t i = range.end - 1; i >= range.begin && left > 0; --i) {
        if (connected[i - range.begin] != 0 || !is_beside(i)) continue;
        connected[i - range.begin] = 1;
        --left;
      }
    });
    return static_cast<double>(left);
  });
  exception.rethrow();
  return open == 0;
}

/// Collective. Whether each own column has a sum that does not vanish.
Array<std::uint8_t> columns_with_sums(const comm::Comm& comm, const SplitMatrix& parts) {
  const std::int64_t own = parts.interior.rows;
  const std::int64_t all = own + static_cast<std::int64_t>(parts.plan.ghosts.size());
  auto sums = comm::agree(comm, [&] {
    Array<double> values(2 * all, 0.0);  // sums of the entries, then of their absolute values
    const auto add = [&](const Csr& csr, std::int64_t first) {
      for (std::size_t k = 0; k < csr.column.size(); ++k) {
        values[first + csr.column[k]] += csr.value[k];
        values[all + first + csr.column[k]] += std::abs(csr.value[k]);
      }
    };
    add(parts.interior, 0);
    add(parts.halo, own);
    return values;
  });
  sparse::GhostExchange<double>(comm, parts.plan, 2, all, own).add_back(sums.data());
  return comm::agree(comm, [&] {
    Array<std::uint8_t> found(own);
    parallel_for(own, [&](std::int64_t j) { found[j] = vanishes(sums[j], sums[all + j]) ? 0 : 1; });
    return found;
  });
}

/// Sums that keep a component from being one of a null space.
enum Spoilt : std::uint8_t { of_rows = 1, of_columns = 2, of_both = 3 };

/// The connected components of the matrix, spread over ranks.
class Components {
 public:
  /// Collective. `column_sums`: whether each own column has one, or empty: those of the rows.
  Components(const comm::Comm& comm, const SplitMatrix& parts, const Array<std::uint8_t>& column_sums)
      : comm_(comm), own_(parts.interior.rows), first_(parts.partition.range(comm.rank()).begin) {
    std::vector<Bridge> bridges;
    find_local(parts, column_sums, bridges);
    connect(bridges);
  }

  /// Collective. Constants on each component whose sums of this kind all vanish.
  PiecewiseConstants unspoilt(Spoilt kind) const {
    std::int32_t shared = 0;
    std::int32_t sets = 0;
    const auto set_of = comm::agree(comm_, [&] {
      std::vector<std::int32_t> set_of_shared(shared_spoilt_.size(), -1);
      for (std::size_t c = 0; c < shared_spoilt_.size(); ++c)
        if ((shared_spoilt_[c] & kind) == 0) set_of_shared[c] = shared++;
      sets = shared;
      Array<std::int32_t> set(own_, -1);
      for (std::int32_t i = 0; i < own_; ++i) {
        const std::int32_t root = root_[i];
        if (shared_of_[root] >= 0) {
          set[i] = set_of_shared[shared_of_[root]];
        } else if ((spoilt_[root] & kind) == 0) {
          set[i] = i == root ? sets++ : set[root];  // roots come first
        }
      }
      return set;
    });
    return {comm_, set_of, shared, sets};
  }

 private:
  /// A local component, known by the global number of its root, that has an entry in a ghost of another.
  struct Bridge {
    std::int64_t mine, mine_spoilt, other, other_spoilt;
    auto operator<=>(const Bridge&) const = default;
  };

  void find_local(const SplitMatrix& parts, const Array<std::uint8_t>& column_sums,
                  std::vector<Bridge>& bridges) {
    const auto ghosts = static_cast<std::int64_t>(parts.plan.ghosts.size());
    Array<std::int64_t> label;  // root and spoilt sums of own rows, then of ghosts
    const Rows rows(parts);
    comm::agree(comm_, [&] {
      UnionFind sets(own_);
      for (std::int32_t i = 0; i < own_; ++i)
        rows.for_each_interior(i, [&](std::int32_t j, double) { sets.unite(i, j); });
      root_.resize(own_);
      spoilt_.assign(own_, 0);
      for (std::int32_t i = 0; i < own_; ++i) {
        root_[i] = sets.root(i);
        const bool row = rows.has_sum(i);
        const bool column = column_sums.empty() ? row : column_sums[i] != 0;
        spoilt_[root_[i]] |= static_cast<std::uint8_t>((row ? of_rows : 0) | (column ? of_columns : 0));
      }
      label.resize(2 * (own_ + ghosts));
      for (std::int32_t i = 0; i < own_; ++i) {
        label[i] = first_ + root_[i];
        label[own_ + ghosts + i] = spoilt_[root_[i]];
      }
    });
    sparse::GhostExchange<std::int64_t>(comm_, parts.plan, 2, own_ + ghosts, own_).fetch(label.data());
    comm::agree(comm_, [&] {
      const auto spoilt = label.begin() + own_ + ghosts;
      for (std::int32_t i = 0; i < own_; ++i)
        rows.for_each_halo(i, [&](std::int32_t g, double) {
          if ((spoilt[i] & spoilt[own_ + g]) == of_both) return;  // no null vectors on either side
          bridges.push_back({label[i], spoilt[i], label[own_ + g], spoilt[own_ + g]});
        });
      std::ranges::sort(bridges);
      bridges.erase(std::ranges::unique(bridges).begin(), bridges.end());
    });
  }

  /// Unites what bridges connect, on every rank the same.
  void connect(const std::vector<Bridge>& bridges) {
    const auto all = comm_.allgatherv(std::span<const Bridge>(bridges)).values;
    comm::agree(comm_, [&] {
      std::vector<std::int64_t> labels;
      for (const Bridge& bridge : all) labels.insert(labels.end(), {bridge.mine, bridge.other});
      std::ranges::sort(labels);
      labels.erase(std::ranges::unique(labels).begin(), labels.end());
      const auto place = [&](std::int64_t label) {
        return static_cast<std::int32_t>(std::ranges::lower_bound(labels, label) - labels.begin());
      };
      UnionFind sets(static_cast<std::int64_t>(labels.size()));
      for (const Bridge& bridge : all) sets.unite(place(bridge.mine), place(bridge.other));
      shared_spoilt_.assign(labels.size(), 0);  // only roots count
      for (const Bridge& bridge : all)
        shared_spoilt_[sets.root(place(bridge.mine))] |=
            static_cast<std::uint8_t>(bridge.mine_spoilt | bridge.other_spoilt);
      shared_of_.assign(own_, -1);
      for (std::int32_t c = 0; c < static_cast<std::int32_t>(labels.size()); ++c) {
        const std::int64_t local = labels[c] - first_;
        if (0 <= local && local < own_) shared_of_[local] = sets.root(c);
        if (sets.root(c) != c) shared_spoilt_[c] = of_both;
      }
    });
  }

  const comm::Comm& comm_;
  std::int32_t own_;
  std::int64_t first_;
  Array<std::int32_t> root_;                 ///< root of each own row, a row
  Array<std::uint8_t> spoilt_;               ///< spoilt sums of each root
  Array<std::int32_t> shared_of_;            ///< each root's number among shared components, or -1
  std::vector<std::uint8_t> shared_spoilt_;  ///< the same on all ranks
};

class WithoutNullVectors final : public sparse::LinearOperator, public SplitForm {
 public:
  WithoutNullVectors(std::unique_ptr<sparse::LinearOperator> inner, const SplitForm* split,
                     std::shared_ptr<const PiecewiseConstants> null_vectors)
      : inner_(std::move(inner)), split_(split), null_vectors_(std::move(null_vectors)) {}

  void apply(std::span<const double> x, std::span<double> y) const override {
    inner_->apply(x, y);
    null_vectors_->project_out(y);
  }
  /// What is projected out of z the matrix annihilates.
  void apply(std::span<const double> x, std::span<double> z, std::span<double> w,
             std::span<double> u) const override {
    split_->apply(x, z, w, u);
    null_vectors_->project_out(z);
  }
  void to_split(std::span<double> r) const override { split_->to_split(r); }
  void from_split(std::span<const double> seen, std::span<double> r) const override {
    split_->from_split(seen, r);
  }
  std::int32_t local_size() const override { return inner_->local_size(); }

 private:
  std::unique_ptr<sparse::LinearOperator> inner_;
  const SplitForm* split_;  ///< the same, or nullptr
  std::shared_ptr<const PiecewiseConstants> null_vectors_;
};

}  // namespace

PiecewiseConstants::PiecewiseConstants(comm::Comm comm, const Array<std::int32_t>& set_of,
                                       std::int32_t shared, std::int32_t sets)
    : comm_(std::move(comm)), shared_(shared) {
  comm::agree(comm_, [&] {
    start_.assign(sets + 1, 0);
    for (const std::int32_t s : set_of)
      if (s >= 0) ++start_[s + 1];
    size_.assign(start_.begin() + 1, start_.end());
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    member_.resize(start_.back());
    auto next = start_;
    for (std::size_t i = 0; i < set_of.size(); ++i)
      if (set_of[i] >= 0) member_[next[set_of[i]]++] = static_cast<std::int32_t>(i);
  });
  if (shared_ > 0) comm_.allreduce(std::span(size_).first(shared_), comm::ReduceOp::sum);
  std::array<std::int64_t, 2> counts{sets - shared, static_cast<std::int64_t>(member_.size())};
  comm_.allreduce(std::span<std::int64_t>(counts), comm::ReduceOp::sum);
  dimension_ = shared + counts[0];
  unknowns_ = counts[1];
}

void PiecewiseConstants::project_out(Vector x) const {
  std::vector<double> mean(sets());
  const auto count = [&](std::int32_t s) { return start_[s + 1] - start_[s]; };
  for (std::int32_t s = 0; s < sets(); ++s) {
    mean[s] = parallel_sum(count(s), [&](Range range) {
      double sum = 0;
      for (std::int64_t k = range.begin; k < range.end; ++k) sum += x[member_[start_[s] + k]];
      return sum;
    });
  }
  if (shared_ > 0) comm_.allreduce(std::span(mean).first(shared_), comm::ReduceOp::sum);
  for (std::int32_t s = 0; s < sets(); ++s) {
    const double m = mean[s] / size_[s];
    parallel_for(count(s), [&](std::int64_t k) { x[member_[start_[s] + k]] -= m; });
  }
}

NullSpaces find_null_spaces(const comm::Comm& comm, const sparse::SplitMatrix& parts, bool symmetric,
                            const RowSums& row_sums) {
  const auto nothing = comm::agree(comm, [] { return std::make_shared<const PiecewiseConstants>(); });
  const bool have_one_sign = row_sums.positive == 0 || row_sums.negative == 0;
  if (row_sums.vanishing == 0 && (symmetric || have_one_sign)) return {nothing, nothing};
  const bool sum_up = std::abs(row_sums.total) > clearly * row_sums.total_abs;
  if (!symmetric && sum_up && sparse::is_connected(comm, parts)) return {nothing, nothing};
  const Rows rows(parts);
  const bool rows_are_spoilt =
      row_sums.vanishing == 0 || comm::agree(comm, [&] {
        return all_are_anchored(parts, [&](std::int64_t i) { return rows.has_sum(i); });
      });
  Array<std::uint8_t> column_sums;
  bool columns_are_spoilt = true;
  if (!symmetric) {
    column_sums = columns_with_sums(comm, parts);
    columns_are_spoilt = comm::agree(
        comm, [&] { return all_are_anchored(parts, [&](std::int64_t j) { return column_sums[j] != 0; }); });
  }
  if (!comm.any(!rows_are_spoilt || !columns_are_spoilt)) return {nothing, nothing};

  const Components components(comm, parts, column_sums);
  const auto unspoilt = [&](Spoilt kind) {
    auto constants = components.unspoilt(kind);
    return comm::agree(comm,
                       [&] { return std::make_shared<const PiecewiseConstants>(std::move(constants)); });
  };
  const auto right = unspoilt(of_rows);
  return {right, symmetric ? right : unspoilt(of_columns)};
}

BuiltPreconditioner without_null_vectors(BuiltPreconditioner built,
                                         std::shared_ptr<const PiecewiseConstants> null_vectors) {
  if (null_vectors == nullptr || null_vectors->empty()) return built;
  auto op = std::make_unique<WithoutNullVectors>(std::move(built.op), built.split, std::move(null_vectors));
  if (built.split != nullptr) built.split = op.get();
  built.op = std::move(op);
  return built;
}

}  // namespace ayatori::solvers
