#include "ayatori/tuning/run/block_solve.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/solvers/block_method.hpp"
#include "ayatori/sparse/products/block_product.hpp"
#include "ayatori/tuning/run/scaled_system.hpp"
#include "ayatori/tuning/run/solve_state.hpp"

namespace ayatori::tuning {

namespace {

using solvers::ConstVector;
using solvers::Vector;

/// One right-hand side of a block.
struct Column {
  std::unique_ptr<ScaledSystem> system;
  Vector x;
  double target = 0;
  Residual residual;
};

class BlockSolve {
 public:
  BlockSolve(const comm::Comm& comm, std::span<const ConstVector> b, std::span<const Vector> x,
             const SolveOptions& options, const SolveHooks& hooks, const ReusableSetup& kept)
      : comm_(comm),
        options_(options),
        hooks_(hooks),
        kept_(kept),
        width_(static_cast<int>(b.size())),
        sum_(
            comm, [this] { return wants_stop(); }, hooks.clock) {
    comm::agree(comm, [&] {
      for (const ConstVector& one : b)
        if (!std::isfinite(solvers::local_max_abs(one)))
          throw InputError("the right-hand side holds a NaN or an infinity");
      own_.resize(b.front().size());
      before_.resize(b.front().size());
      block_.resize(b.front().size() * width_);
      correction_.resize(block_.size());
    });
    for (int c = 0; c < width_; ++c) add_column(b[c], x[c]);
  }

  /// Solves for corrections of all columns at once.
  void run() {
    std::vector<double> targets;
    for (const Column& column : columns_)
      targets.push_back(column.residual.norm > column.target ? column.target / column.residual.norm : 1);
    const Choice& choice = *kept_.choice;
    solvers::BlockMethodOptions method{.targets = targets};
    method.max_iterations = options_.max_iterations > 0
                                ? static_cast<int>(std::min<std::int64_t>(options_.max_iterations,
                                                                          std::numeric_limits<int>::max()))
                                : std::numeric_limits<int>::max();
    if (choice.restart > 0) {
      const int fits = find_longest_restart(comm_, kept_.matrix->parts()) / width_;
      method.restart = std::min(choice.restart, std::max(fits, 1));
    }
    const auto progress = [&](int iteration, double worst) {
      if (hooks_.progress) hooks_.progress(choice, iteration, worst * options_.rtol);
      return true;
    };
    const sparse::BlockProduct product(*kept_.matrix, width_);
    const auto preconditioner = comm::agree(comm_, [&] {
      return std::make_unique<solvers::BlockPreconditioner>(*kept_.preconditioner.built.op);
    });
    result_ = solvers::find_block_method(choice.method)
                  ->solve({product, *preconditioner, block_, width_, sum_}, correction_, method, progress);
    for (int c = 0; c < width_; ++c) correct(c);
  }

  SolveReport report(int c, const SolveReport& before) {
    Column& column = columns_[c];
    SolveReport report = before;
    column.system->to_original(column.x);
    solvers::copy(column.x, own_);
    column.system->to_scaled(own_);
    const Residual residual = column.system->residual(own_, before_);
    const double magnitude = report.facts.norm_infinity * solvers::norm(sum_, own_) + column.system->b_norm();
    describe_residual(*column.system, residual, report);
    report.backward_error = magnitude > 0 ? residual.all.value / magnitude : 0;
    report.condition_estimate = 0;
    report.status = status_of(*column.system, residual);
    report.iterations = result_.iterations;
    report.together = width_;
    report.choice = *kept_.choice;
    report.why = fmt::format("{} right-hand sides at once, by what won the one before", width_);
    report.trials = {{.choice = report.choice,
                      .why = report.why,
                      .outcome = std::string(name_of(result_.stop)),
                      .reason = result_.reason,
                      .iterations = result_.iterations,
                      .relative_residual = report.relative_residual,
                      .kept_set_up = true}};
    report.events.clear();
    report.script = {};
    report.seconds = {};
    report.reductions = sum_.count();
    return report;
  }

 private:
  bool wants_stop() const { return out_of_time() || (hooks_.wants_stop && hooks_.wants_stop()); }
  bool out_of_time() const {
    return options_.time_limit > 0 && watch_.seconds() > width_ * options_.time_limit;
  }

  /// Brings a system into its own scale; its residual, of norm 1, is a column of the block.
  void add_column(ConstVector b, Vector x) {
    const bool negate = kept_.examined->facts.looks_negative_definite();  // as is the matrix that is kept
    solvers::copy(b, own_);
    if (negate) solvers::scale(-1, own_);
    Column column{
        std::make_unique<ScaledSystem>(sum_, kept_.judged, own_, false, kept_.examined->facts, options_.rtol),
        x};
    column.target = column.system->target();
    column.system->to_scaled(x);
    if (column.system->b_norm() == 0) solvers::fill(x, 0);
    column.system->solve_boundary_rows(x);
    column.residual = column.system->residual(x, own_);
    if (!std::isfinite(column.residual.norm)) {
      solvers::fill(x, 0);
      column.system->solve_boundary_rows(x);
      column.residual = column.system->residual(x, own_);
    }
    const bool is_open = column.residual.norm > column.target;
    solvers::scale(is_open ? 1 / column.residual.norm : 0, own_);
    solvers::put_column(own_, width_, static_cast<int>(columns_.size()), block_);
    columns_.push_back(std::move(column));
  }

  /// x + its correction, unless that is worse.
  void correct(int c) {
    Column& column = columns_[c];
    const double norm = column.residual.norm;
    if (!(norm > column.target)) return;
    solvers::copy(column.x, before_);
    solvers::take_column(correction_, width_, c, own_);
    solvers::axpy(norm, own_, column.x);
    const Residual now = column.system->residual(column.x, own_);
    if (now.norm < norm) {
      column.residual = now;
    } else {
      solvers::copy(before_, column.x);
    }
  }

  Status status_of(const ScaledSystem& system, const Residual& residual) const {
    if (system.is_solved_by(residual))
      return system.meets_tolerance(residual) ? Status::converged : Status::least_squares;
    if (result_.stop != solvers::Stop::interrupted) return Status::not_converged;
    return comm_.any(out_of_time()) ? Status::time_limit : Status::interrupted;
  }

  const comm::Comm& comm_;
  const SolveOptions& options_;
  const SolveHooks& hooks_;
  const ReusableSetup& kept_;
  Stopwatch watch_;
  int width_;
  solvers::GlobalSum sum_;
  std::vector<Column> columns_;
  Array<double> own_;
  Array<double> before_;
  Array<double> block_;
  Array<double> correction_;
  solvers::MethodResult result_;
};

}  // namespace

int worthwhile_block(const comm::Comm& comm, const ReusableSetup& kept, int left, int most) {
  if (!kept.choice || !kept.matrix || !kept.examined || !kept.preconditioner.is_there()) return 1;
  if (left < 2 || most < 2 || solvers::find_block_method(kept.choice->method) == nullptr) return 1;
  const int widest = std::min(most, sparse::max_block_width);
  const int blocks = (left + widest - 1) / widest;
  const int width = (left + blocks - 1) / blocks;
  const double rows = kept.matrix->local_size();
  const bool is_native =
      dynamic_cast<const sparse::BlockOperator*>(kept.preconditioner.built.op.get()) != nullptr;
  const double apart = is_native ? 0 : 32 * rows * width;  // what taking a block apart moves
  std::array<double, 2> bytes{
      static_cast<double>(sparse::block_product_bytes(kept.matrix->parts(), width)) + apart,
      width * (static_cast<double>(kept.matrix->matrix_bytes()) + 24 * rows)};
  comm.allreduce(std::span<double>(bytes), comm::ReduceOp::sum);
  return bytes[0] < bytes[1] ? width : 1;
}

std::vector<SolveReport> solve_block(const comm::Comm& comm, std::span<const ConstVector> b,
                                     std::span<const Vector> x, const SolveOptions& options,
                                     const SolveHooks& hooks, const ReusableSetup& kept,
                                     const SolveReport& before) {
  const Stopwatch watch;
  BlockSolve block(comm, b, x, options, hooks, kept);
  block.run();
  std::vector<SolveReport> reports;
  for (std::size_t c = 0; c < b.size(); ++c) reports.push_back(block.report(static_cast<int>(c), before));
  const double share = comm.allreduce(watch.seconds(), comm::ReduceOp::sum) /
                       (static_cast<double>(comm.size()) * static_cast<double>(b.size()));
  for (SolveReport& report : reports) {
    report.seconds.total = report.seconds.solve = report.trials.front().solve_seconds = share;
    report.tuning_seconds = 0;
  }
  return reports;
}

}  // namespace ayatori::tuning
