#include "ayatori/solvers/preconditioners/schwarz.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/preconditioners/extended_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"

namespace ayatori::solvers {

namespace {

constexpr int largest_overlap = 10;

/// Rows of this rank and around them, factored by one thread.
struct Block {
  Range own;                       ///< rows of the rank, of which it gives y
  Array<std::int32_t> rows;        ///< extended rows by ascending global number; empty: those of `own` alone
  Array<std::int32_t> own_places;  ///< where in `rows` those of `own` are
  Array<std::int32_t> shared;      ///< places of the others
  FactoredBlock factored;
  std::int64_t rejected_row = std::numeric_limits<std::int64_t>::max();  ///< global, from 1; see FactorReport
  mutable Array<double> in;  ///< vectors over `rows`, touched first by the thread
  mutable Array<double> out;
  mutable Array<double> work;
};

bool by_levels(const PreconditionerOptions& options) {
  return options.triangular == "levels";
}

class Schwarz final : public sparse::LinearOperator {
 public:
  /// Without overlap `extended` is null and the blocks are of `matrix`.
  Schwarz(std::string_view who, const sparse::Csr& matrix, std::int64_t first_row,
          std::unique_ptr<const ExtendedRows> extended, const FactorOptions& factoring,
          const PreconditionerOptions& options)
      : size_(extended ? extended->owned() : matrix.rows),
        extended_(std::move(extended)),
        is_symmetric_(factoring.kind == FactorOptions::Kind::ic),
        blocks_(by_levels(options)   ? 1
                : options.blocks > 0 ? options.blocks
                                     : threads_for(size_)) {
    if (extended_) {
      extended_x_.resize(extended_->size());
      if (is_symmetric_) weight_.resize(extended_->size());
    }
    const auto global = [&](std::int32_t row) {
      return extended_ ? extended_->global(row) : first_row + row;
    };
    FirstException exception;
    for_each_block([&](int b) {
      exception.guard([&] {
        const Range own = split_evenly(size_, static_cast<std::int64_t>(blocks_.size()), b);
        const auto begin = static_cast<std::int32_t>(own.begin);
        const auto end = static_cast<std::int32_t>(own.end);
        Block& block = blocks_[b];
        block.own = own;
        const sparse::Csr& whole = extended_ ? extended_->matrix() : matrix;
        const int layers = own.empty() ? 0 : options.overlap;
        auto rows = grown(whole, begin, end, layers, global);
        const auto name_row = [&](std::int32_t i) {
          return fmt::format("{}: row {}: ", who, global(rows[i]) + 1);
        };
        const bool is_whole = own.size() == whole.rows;
        block.factored = is_whole ? factor_block(whole, factoring, name_row)
                                  : factor_block(submatrix(whole, rows), factoring, name_row);
        const std::int32_t rejected = block.factored.report.rejected_row;
        if (rejected >= 0) block.rejected_row = global(rows[rejected]) + 1;
        set_up_work(block, std::move(rows));
      });
    });
    exception.rethrow();
    if (by_levels(options)) blocks_.front().factored.schedule.emplace(blocks_.front().factored.factors);
  }

  /// Collective. To be called once where blocks overlap.
  void count_multiplicity() {
    if (weight_.empty()) return;
    std::ranges::fill(weight_, 0.0);
    for (const Block& block : blocks_)
      for (const std::int32_t row : block.rows) weight_[row] += 1;
    extended_->add_to_owners(weight_);
    const Array<double> counted(weight_.begin(), weight_.begin() + size_);
    extended_->fetch(counted, weight_);
    for (double& weight : weight_) weight = 1 / std::sqrt(weight);
  }

  void apply(std::span<const double> x, std::span<double> y) const override {
    if (!extended_) {
      for_each_block([&](int b) {
        const Block& block = blocks_[b];
        const auto part = [&](auto v) { return v.subspan(block.own.begin, block.own.size()); };
        block.factored.solve(part(x), part(y), block.work);
      });
      return;
    }
    extended_->fetch(x, extended_x_);
    for_each_block([&](int b) { solve(blocks_[b], y); });
    if (is_symmetric_) add_shared(y);
  }
  std::int32_t local_size() const override { return size_; }

  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  template <class F>
  void for_each_block(F&& f) const {
    block_for(static_cast<int>(blocks_.size()), size_, f);
  }

  void set_up_work(Block& block, Array<std::int32_t> rows) const {
    block.work.assign(rows.size(), 0.0);
    if (!extended_) return;
    block.in.assign(rows.size(), 0.0);
    block.out.assign(rows.size(), 0.0);
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(rows.size()); ++k)
      (block.own.contains(rows[k]) ? block.own_places : block.shared).push_back(k);
    block.rows = std::move(rows);
  }

  /// Own rows of y; the others of what a block has to say stay in block.out.
  void solve(const Block& block, std::span<double> y) const {
    const auto n = static_cast<std::int32_t>(block.rows.size());
    if (is_symmetric_) {
      for (std::int32_t k = 0; k < n; ++k) block.in[k] = weight_[block.rows[k]] * extended_x_[block.rows[k]];
    } else {
      for (std::int32_t k = 0; k < n; ++k) block.in[k] = extended_x_[block.rows[k]];
    }
    block.factored.solve(block.in, block.out, block.work);
    for (const std::int32_t k : block.own_places) y[block.rows[k]] = block.out[k];
  }

  /// Few rows are shared, and blocks share the same ones: one thread adds them.
  void add_shared(std::span<double> y) const {
    Array<double>& sum = extended_x_;
    parallel_for(static_cast<std::int64_t>(sum.size()),
                 [&](std::int64_t i) { sum[i] = i < size_ ? y[i] : 0; });
    for (const Block& block : blocks_)
      for (const std::int32_t k : block.shared) sum[block.rows[k]] += block.out[k];
    extended_->add_to_owners(sum);
    parallel_for(size_, [&](std::int64_t i) { y[i] = weight_[i] * sum[i]; });
  }

  std::int32_t size_;
  std::unique_ptr<const ExtendedRows> extended_;
  bool is_symmetric_;
  std::vector<Block> blocks_;
  mutable Array<double> extended_x_;
  Array<double> weight_;  ///< weights of extended rows, for ic
};

/// Collective. What the factorizations of all ranks have to say.
std::vector<std::string> notes_of(const comm::Comm& comm, const Schwarz& op) {
  enum Count { blocks, shifted, diagonal_only, matched, unmatched, reordered, inserted, zero_rows, counts };
  std::array<std::int64_t, counts> count{};
  std::int64_t rejected_row = std::numeric_limits<std::int64_t>::max();
  double shift = 0;
  for (const Block& block : op.blocks()) {
    const FactorReport& report = block.factored.report;
    count[blocks] += 1;
    count[shifted] += report.shift > 0 ? 1 : 0;
    count[diagonal_only] += report.diagonal_only ? 1 : 0;
    count[matched] += report.matched ? 1 : 0;
    count[unmatched] += report.unmatched;
    count[reordered] += report.reordered ? 1 : 0;
    count[inserted] += report.inserted_diagonals;
    count[zero_rows] += report.zero_rows;
    shift = std::max(shift, report.shift);
    rejected_row = std::min(rejected_row, block.rejected_row);
  }
  comm.allreduce(std::span<std::int64_t>(count), comm::ReduceOp::sum);
  rejected_row = comm.allreduce(rejected_row, comm::ReduceOp::min);
  shift = comm.allreduce(shift, comm::ReduceOp::max);

  std::vector<std::string> notes;
  const auto note = [&](Count which, const std::string& text) {
    if (count[which] > 0)
      notes.push_back(fmt::format("{} of {} blocks {}", count[which], count[blocks], text));
  };
  note(reordered, "reordered by reverse Cuthill-McKee");
  note(matched,
       fmt::format("permuted by a maximum-product matching (first bad pivot: row {})", rejected_row));
  note(shifted,
       fmt::format("shifted by up to {:g} of the diagonal (first bad pivot: row {})", shift, rejected_row));
  note(diagonal_only, "replaced by their diagonal, as no shift gave usable pivots");
  if (count[unmatched] > 0)
    notes.push_back(fmt::format("{} rows have no entry of their own in any matching: the blocks are singular",
                                count[unmatched]));
  if (count[inserted] > 0)
    notes.push_back(fmt::format("{} missing diagonal entries inserted", count[inserted]));
  if (count[zero_rows] > 0)
    notes.push_back(fmt::format("{} rows are zero within their block", count[zero_rows]));
  return notes;
}

/// Collective. Of the rank with most levels.
std::string note_of_levels(const comm::Comm& comm, const Schwarz& op) {
  const FactoredBlock& block = op.blocks().front().factored;
  const int threads = comm.allreduce(block.schedule->worthwhile_threads(max_threads()), comm::ReduceOp::min);
  const auto levels = comm.allreduce(std::int64_t{block.schedule->levels()}, comm::ReduceOp::max);
  return fmt::format("triangles of up to {} levels, solved by {} thread{}{}", levels, threads,
                     threads == 1 ? "" : "s",
                     threads < max_threads() ? ": levels have too few rows for more" : "");
}

void check_options(std::string_view who, const PreconditionerOptions& options) {
  if (options.blocks < 0) throw InputError(fmt::format("{}: blocks = {}, want >= 0", who, options.blocks));
  if (options.overlap < 0 || options.overlap > largest_overlap)
    throw InputError(fmt::format("{}: overlap = {}, want 0 to {}", who, options.overlap, largest_overlap));
  if (!is_triangular(options.triangular))
    throw InputError(
        fmt::format("{}: triangular = {}, want auto, blocks or levels", who, options.triangular));
  if (by_levels(options) && options.blocks > 1)
    throw InputError(
        fmt::format("{}: triangles are solved by levels in one block, not in {}", who, options.blocks));
  if (!(options.drop_tolerance >= 0 && options.drop_tolerance < 1))
    throw InputError(fmt::format("{}: drop tolerance = {}, want 0 to 1", who, options.drop_tolerance));
}

/// Collective. Factors that keep what is large are worth their price by saving most iterations, which cuts
/// between threads give back: 2 to 50 times as many on two threads, where those of ic and ilu mostly grow by
/// a half (docs/measured/preconditioners.md).
std::string_view best_triangular(const comm::Comm& comm, FactorOptions::Kind kind,
                                 const PreconditionerOptions& options) {
  if (kind != FactorOptions::Kind::ilut || options.blocks > 0) return "blocks";
  return comm.allreduce(max_threads(), comm::ReduceOp::max) > 1 ? "levels" : "blocks";
}

}  // namespace

BuiltPreconditioner make_schwarz(std::string_view who, FactorOptions::Kind kind, int default_fill,
                                 const sparse::DistributedMatrix& matrix, PreconditionerOptions options) {
  const comm::Comm& comm = matrix.comm();
  const FactorOptions factoring = comm::agree(comm, [&] {
    check_options(who, options);
    return FactorOptions{kind, options.fill < 0 ? default_fill : options.fill, options.drop_tolerance,
                         factor_ordering(options.ordering), options.gives_up};
  });
  if (options.triangular == "auto") options.triangular = best_triangular(comm, kind, options);
  std::unique_ptr<const ExtendedRows> extended;
  if (options.overlap > 0) extended = std::make_unique<const ExtendedRows>(matrix, options.overlap);
  auto op = comm::agree(comm, [&] {
    return std::make_unique<Schwarz>(who, matrix.interior(), matrix.partition().range(comm.rank()).begin,
                                     std::move(extended), factoring, options);
  });
  op->count_multiplicity();
  auto notes = notes_of(comm, *op);
  if (by_levels(options)) notes.push_back(note_of_levels(comm, *op));
  const bool singular = comm.any(std::ranges::any_of(op->blocks(), [](const Block& block) {
    return block.factored.report.unmatched > 0 || block.factored.report.zero_rows > 0;
  }));
  return {std::move(op), std::move(notes), singular};
}

}  // namespace ayatori::solvers
