#include "ayatori/eigen/work.hpp"

#include <algorithm>

#include "ayatori/base/range.hpp"
#include "ayatori/eigen/dense/distributed_dense.hpp"
#include "ayatori/eigen/reduction/back_transform.hpp"
#include "ayatori/eigen/reduction/bulge_chasing.hpp"
#include "ayatori/eigen/tridiagonal/secular.hpp"

namespace ayatori::eigen {

namespace {

constexpr std::int64_t word = sizeof(std::int64_t);  // a count, or a status
constexpr std::int64_t leaf_size = 32;               // order of a leaf of divide and conquer

/// One rank of a grid, and what it is asked.
class Counter {
 public:
  Counter(std::int64_t n, GridShape shape, int rank, std::int64_t block, std::int64_t bytes_of_number)
      : n_(n),
        number_(bytes_of_number),
        shape_(shape),
        ranks_(shape.rows * shape.columns),
        rank_(rank),
        block_(std::min(block, n)),
        width_(std::max<std::int64_t>(1, std::min(block, n - 1))),
        rows_{n, shape.rows, rank / shape.columns},
        columns_{n, shape.columns, rank % shape.columns} {}

  PhaseWork reduction();
  PhaseWork tridiagonalization();
  PhaseWork two_stages();
  PhaseWork tridiagonal_solve(std::int64_t selected, bool vectors);
  PhaseWork redistribution(std::int64_t selected, int rank);
  PhaseWork back_transformation(std::int64_t selected);
  PhaseWork back_through_two_stages(std::int64_t selected);
  PhaseWork back_substitution(std::int64_t selected);

 private:
  void call(PhaseWork& work, std::string_view operation, Scope scope, std::int64_t bytes) const;
  void gather(PhaseWork& work, Range wanted, std::int64_t first_row) const;
  /// Leaves of divide and conquer: how many, and the order of the largest.
  struct Leaves {
    std::int64_t count;
    std::int64_t longest;
  };
  Leaves merges(PhaseWork& work, std::int64_t size) const;
  double share(double flops) const { return flops / ranks_; }
  double order() const { return static_cast<double>(n_); }

  std::int64_t n_;
  std::int64_t number_;  ///< bytes
  GridShape shape_;
  int ranks_;
  int rank_;
  std::int64_t block_;
  std::int64_t width_;  ///< width of the band of two stages
  Cyclic rows_;
  Cyclic columns_;
};

void Counter::call(PhaseWork& work, std::string_view operation, Scope scope, std::int64_t bytes) const {
  const int group = scope == Scope::all ? ranks_ : scope == Scope::along_row ? shape_.columns : shape_.rows;
  if (group == 1) return;
  for (Traffic& traffic : work.traffic) {
    if (traffic.operation != operation || traffic.scope != scope) continue;
    ++traffic.calls;
    traffic.bytes += bytes;
    return;
  }
  work.traffic.push_back({operation, scope, 1, bytes});
}

/// gather_columns()
void Counter::gather(PhaseWork& work, Range wanted, std::int64_t first_row) const {
  const std::int64_t piece = equal_piece(shape_, n_ - first_row, wanted.size());
  if (piece > 0) return call(work, "allgather", Scope::all, number_ * piece);
  const std::int64_t width = columns_.local_from(wanted.end) - columns_.local_from(wanted.begin);
  const std::int64_t height = rows_.count() - rows_.local_from(first_row);
  call(work, "allgatherv", Scope::all, number_ * width * height);
}

PhaseWork Counter::reduction() {
  PhaseWork work{"reduction"};
  // Shared evenly, and what every rank does with whole panels.
  work.product_flops =
      share(4.0 / 3 * order() * order() * order()) + 3.5 * order() * order() * static_cast<double>(block_);
  for (std::int64_t begin = 0; begin < n_; begin += block_) {
    const Range panel{begin, std::min(begin + block_, n_)};
    gather(work, panel, begin);
    gather(work, panel, begin);
    call(work, "allreduce", Scope::all, word);  // comm::agree()
    const std::int64_t rows = rows_.local_from(panel.end) - rows_.local_from(panel.begin);
    call(work, "allgatherv", Scope::along_column, number_ * rows * columns_.local_from(begin));
  }
  call(work, "allreduce", Scope::all, word);
  return work;
}

PhaseWork Counter::tridiagonalization() {
  PhaseWork work{"tridiagonalization"};
  const char* const to_columns = shape_.columns % shape_.rows == 0 ? "broadcast" : "allreduce";
  for (std::int64_t begin = 0; begin < n_ - 2; begin += block_) {
    const std::int64_t end = std::min(begin + block_, n_ - 2);
    for (std::int64_t j = begin; j < end; ++j) {
      const std::int64_t k = j - begin;
      const std::int64_t height = rows_.count() - rows_.local_from(j + 1);
      const std::int64_t width = columns_.count() - columns_.local_from(j + 1);
      if (columns_.owns(j)) {
        if (k > 0) call(work, "broadcast", Scope::along_column, number_ * k);
        call(work, "allreduce", Scope::along_column, number_ * 2);
      }
      call(work, "broadcast", Scope::along_row, number_ * (height + 1));
      call(work, to_columns, Scope::along_column, number_ * width);
      call(work, "allreduce", Scope::along_column, number_ * (width + 2 * k + 1));
      call(work, "allreduce", Scope::along_row, number_ * (height + 1));
      const auto rest = static_cast<double>(n_ - j - 1);
      // A's triangle once; V and W for two products with their transposes, and for two with them.
      work.streamed_bytes +=
          static_cast<double>(number_) * (share(rest * rest / 2) + 4.0 * static_cast<double>(k * height));
    }
    const std::int64_t width = columns_.count() - columns_.local_from(end);
    call(work, to_columns, Scope::along_column, number_ * width * (end - begin));
    const auto rest = static_cast<double>(n_ - end);
    work.product_flops += share(2.0 * static_cast<double>(end - begin) * rest * rest);
  }
  for (const std::int64_t length : {n_, std::max<std::int64_t>(n_ - 1, 0), std::max<std::int64_t>(n_ - 2, 0)})
    call(work, "allreduce", Scope::all, number_ * length);
  return work;
}

/// reduce_to_band(), chase()
PhaseWork Counter::two_stages() {
  PhaseWork work{"tridiagonalization"};
  std::int64_t begin = 0;
  for (; n_ - begin - width_ >= 2; begin += width_) {
    const std::int64_t first = begin + width_;
    const std::int64_t k = std::min(width_, n_ - first);
    const std::int64_t height = rows_.count() - rows_.local_from(first);
    const std::int64_t across = columns_.count() - columns_.local_from(first);
    gather(work, {begin, first}, begin);
    call(work, "allreduce", Scope::along_column, number_ * (across + k) * k);
    call(work, "allreduce", Scope::along_row, number_ * (height + k) * k);
    call(work, "allreduce", Scope::along_column, number_ * across * k);
    const auto rest = static_cast<double>(n_ - first);
    const auto reflectors = static_cast<double>(k);
    work.product_flops += share(4 * rest * rest * reflectors) + 2 * rest * reflectors * reflectors;
  }
  gather(work, {begin, n_}, begin);

  const ChaseLayout layout(n_, width_, ranks_);
  if (layout.sweeps() == 0) return work;
  // Work of one step: a block from the right, another from the left, and the diagonal one from both sides.
  const auto width = static_cast<double>(width_);
  work.cached_flops = 12 * width * width * static_cast<double>(layout.count_steps(0, {0, layout.sweeps()}));
  for (std::int64_t s = 0; s < layout.sweeps(); ++s) {
    if (rank_ + 1 < layout.active && !layout.steps_of(rank_ + 1, s).empty())
      call(work, "message", Scope::all, number_ * (width_ + 1));
    if (rank_ > 0 && !layout.steps_of(rank_, s).empty() && s + 1 < layout.sweeps())
      call(work, "message", Scope::all, number_ * 2 * width_);
  }
  call(work, "broadcast", Scope::all, number_ * n_);
  call(work, "broadcast", Scope::all, number_ * (n_ - 1));
  return work;
}

/// apply_chase(), back_transform()
PhaseWork Counter::back_through_two_stages(std::int64_t selected) {
  PhaseWork work{"back_transformation"};
  const auto vectors = static_cast<double>(selected);
  const ChaseLayout layout(n_, width_, ranks_);
  for (std::int64_t begin = 0; begin < layout.sweeps(); begin += width_) {
    const Range sweeps{begin, std::min(begin + width_, layout.sweeps())};
    call(work, "allgatherv", Scope::all, number_ * layout.count_steps(rank_, sweeps) * width_);
    // Parallelograms of height 2 width - 1.
    const auto count = static_cast<double>(sweeps.size());
    work.product_flops +=
        share(4 * count * static_cast<double>((2 * width_ - 1) * layout.steps(begin)) * vectors);
  }
  std::int64_t reflectors = 0;
  for (std::int64_t begin = 0; n_ - begin - width_ >= 2; begin += width_)
    reflectors += std::min(width_, n_ - begin - width_);
  for (std::int64_t begin = 0; begin < reflectors; begin += panels_together * width_) {
    const std::int64_t k = std::min(panels_together * width_, reflectors - begin);
    gather(work, {begin, begin + k}, begin + width_);
    work.product_flops += share(4 * static_cast<double>(k * (n_ - begin - width_)) * vectors);
  }
  return work;
}

Counter::Leaves Counter::merges(PhaseWork& work, std::int64_t size) const {
  if (size <= leaf_size) return {1, size};
  const std::int64_t upper = size / 2;
  const Leaves above = merges(work, upper);
  const Leaves below = merges(work, size - upper);
  const std::int64_t mine = (size + ranks_ - 1) / ranks_;
  call(work, "broadcast", Scope::all, number_ * upper);
  call(work, "broadcast", Scope::all, number_ * (size - upper));
  for (const std::int64_t length : {static_cast<std::int64_t>(sizeof(SecularRootOf<double>)), number_})
    call(work, "allgather", Scope::all, length * mine);
  return {above.count + below.count, std::max(above.longest, below.longest)};
}

PhaseWork Counter::tridiagonal_solve(std::int64_t selected, bool vectors) {
  PhaseWork work{"tridiagonal_solve"};
  if (!vectors) {
    call(work, "allreduce", Scope::all, word);
    call(work, "broadcast", Scope::all, number_ * n_);
    return work;
  }
  // n^3 in the last merge, of which only what is selected is made, and a quarter of it on each level before.
  work.product_flops =
      share(order() * order() * static_cast<double>(selected) + order() * order() * order() / 3);
  const Leaves leaves = merges(work, n_);
  const std::int64_t mine = (leaves.count + ranks_ - 1) / ranks_;
  call(work, "allgather", Scope::all, number_ * mine * leaves.longest * (leaves.longest + 1));
  return work;
}

PhaseWork Counter::redistribution(std::int64_t selected, int rank) {
  PhaseWork work{"redistribution"};
  const std::int64_t rows = Cyclic{n_, ranks_, rank}.count();
  work.streamed_bytes = 4.0 * static_cast<double>(number_ * rows * selected);  // packed and unpacked
  call(work, "alltoall", Scope::all, word * ranks_);
  call(work, "alltoallv", Scope::all, number_ * rows * selected);
  return work;
}

PhaseWork Counter::back_transformation(std::int64_t selected) {
  PhaseWork work{"back_transformation"};
  work.product_flops = share(2 * order() * order() * static_cast<double>(selected));
  const std::int64_t step = panels_together * block_;
  for (std::int64_t begin = 0; begin < n_ - 2; begin += step)
    gather(work, {begin, std::min(begin + step, n_ - 2)}, begin + 1);
  return work;
}

PhaseWork Counter::back_substitution(std::int64_t selected) {
  PhaseWork work{"back_substitution"};
  work.product_flops = share(order() * order() * static_cast<double>(selected));
  for (std::int64_t begin = 0; begin < n_; begin += block_)
    gather(work, {begin, std::min(begin + block_, n_)}, begin);
  return work;
}

}  // namespace

std::vector<PhaseWork> work_of(std::int64_t n, GridShape shape, int rank, const EigenOptions& options,
                               ProblemKind kind) {
  using Kind = Selection::Kind;
  const Selection& selection = options.selection;
  const bool counts = selection.kind == Kind::smallest || selection.kind == Kind::largest;
  const std::int64_t selected = counts ? selection.count : n;  // nobody knows how many are in a range
  const bool is_double = options.precision == Precision::float64;
  Counter counter(n, shape, rank, options.block, is_double ? sizeof(double) : sizeof(float));
  Counter in_doubles(n, shape, rank, options.block, sizeof(double));
  std::vector<PhaseWork> phases;
  if (kind == ProblemKind::generalized) phases.push_back(in_doubles.reduction());
  const bool two_stages = options.reduction == "two-stage";
  phases.push_back(two_stages ? counter.two_stages() : counter.tridiagonalization());
  phases.push_back(counter.tridiagonal_solve(selected, options.vectors));
  if (!options.vectors) return phases;
  phases.push_back(counter.redistribution(selected, rank));
  phases.push_back(two_stages ? counter.back_through_two_stages(selected)
                              : counter.back_transformation(selected));
  if (kind == ProblemKind::generalized) phases.push_back(in_doubles.back_substitution(selected));
  return phases;
}

}  // namespace ayatori::eigen
